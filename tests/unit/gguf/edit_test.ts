import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { type GgmlError, GgufFormatError, InvalidArgumentError, ModelNotFoundError } from "../../../lib/errors.ts";
import { GgufFile } from "../../../lib/gguf/file.ts";
import { editGguf } from "../../../lib/gguf/edit.ts";
import { mergeGguf, splitGguf } from "../../../lib/gguf/split.ts";
import { ggufSplitPath, ggufSplitPrefix } from "../../../lib/gguf/split_files.ts";
import { type GgufTensorInput, writeGguf } from "../../../lib/gguf/writer.ts";

const metadata = {
  "general.architecture": "test",
  "general.name": "a name of some length",
  "t.words": ["one", "two"],
  "t.count": { type: "uint32", value: 7 },
} as const;

function numbers(index: number): Float32Array {
  return Float32Array.from({ length: 10 + index }, (_, at) => index * 1000 + at);
}

const tensors: GgufTensorInput[] = Array.from({ length: 7 }, (_, index) => ({
  name: `t${index}`,
  type: "f32",
  shape: [10 + index],
  data: numbers(index),
}));

async function files(): Promise<AsyncDisposable & { folder: string; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), "gguf-edit-"));
  const path = join(folder, "model.gguf");
  await writeGguf(path, { metadata, tensors });
  return { folder, path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

async function checkTensors(
  path: string,
  expected: readonly string[] = tensors.map(({ name }) => name),
): Promise<void> {
  await using file = await GgufFile.open(path);
  assert.deepEqual(file.tensors.map(({ name }) => name), expected);
  for (const { name } of file.tensors) {
    assert.deepEqual(await file.readNumbers(name), numbers(Number(name.slice(1))), name);
  }
}

async function value(path: string, key: string): Promise<unknown> {
  await using file = await GgufFile.open(path);
  return (await file.value(key))?.value;
}

test("metadata that fits is changed in the file itself, the tensors' data stays where it is", async () => {
  await using at = await files();
  const before = await stat(at.path);
  const edits = [
    { set: { "general.name": "short" } },
    { set: { "general.name": "a name of some length" } },
    { remove: ["t.words", "t.count"] },
    { set: { "t.words": ["one", "two"], "t.count": { type: "uint32", value: 8 } } },
  ] as const;
  for (const edit of edits) assert.deepEqual(await editGguf(at.path, edit, {}), { inPlace: true });
  const after = await stat(at.path);
  assert.equal(after.ino, before.ino);
  assert.equal(after.size, before.size);
  assert.equal(await value(at.path, "t.count"), 8);
  assert.deepEqual(await value(at.path, "t.words"), ["one", "two"]);
  await checkTensors(at.path);
});

test("metadata of any length: in place or anew, always the same tensors", async () => {
  await using at = await files();
  let inPlaces = 0;
  for (let length = 120; length >= 0; length -= 3) {
    const { inPlace } = await editGguf(at.path, { set: { "general.name": "n".repeat(length) } });
    if (inPlace) inPlaces++;
    assert.equal(await value(at.path, "general.name"), "n".repeat(length));
  }
  assert.ok(inPlaces >= 39, String(inPlaces));
  assert.deepEqual(await value(at.path, "t.words"), ["one", "two"]);
  await checkTensors(at.path);
});

test("what doesn't fit is written anew, or refused, or put into another file", async () => {
  await using at = await files();
  const long = { set: { "general.name": "x".repeat(500) } };
  const before = await readFile(at.path);
  await assert.rejects(editGguf(at.path, { ...long, inPlace: "require" }), InvalidArgumentError);
  const other = join(at.folder, "other.gguf");
  assert.deepEqual(await editGguf(at.path, { set: { "general.name": "s" }, output: other }), { inPlace: false });
  assert.deepEqual(await readFile(at.path), before);
  assert.equal(await value(other, "general.name"), "s");
  assert.deepEqual(await editGguf(at.path, { ...long, reserve: 1000 }), { inPlace: false });
  assert.deepEqual(await editGguf(at.path, { set: { "general.name": "x".repeat(1400) }, inPlace: "require" }), {
    inPlace: true,
  });
  assert.deepEqual(await editGguf(at.path, { set: { "general.name": "x" }, inPlace: "never" }), { inPlace: false });
  await checkTensors(at.path);
  assert.deepEqual((await readdir(at.folder)).sort(), ["model.gguf", "other.gguf"]);
});

test("tensors are added, removed and replaced", async () => {
  await using at = await files();
  await editGguf(at.path, {
    removeTensors: ["t0", "t3"],
    addTensors: [{ name: "t9", type: "f32", shape: [19], data: numbers(9) }, {
      name: "t3",
      type: "f32",
      shape: [13],
      data: numbers(3),
    }],
    set: { "general.alignment": { type: "uint32", value: 64 } },
  });
  await checkTensors(at.path, ["t1", "t2", "t4", "t5", "t6", "t9", "t3"]);
  assert.equal(await value(at.path, "general.alignment"), 64);
  assert.equal(await value(at.path, "t.count"), 7);
  await editGguf(at.path, { remove: ["general.alignment"] });
  await checkTensors(at.path, ["t1", "t2", "t4", "t5", "t6", "t9", "t3"]);
});

test("a bad edit is refused and changes nothing", async () => {
  await using at = await files();
  const before = await readFile(at.path);
  const bad = [
    { remove: ["nobody"] },
    { removeTensors: ["nobody"] },
    { remove: "general.name" },
    { set: { "general.name": 5 } },
    { set: { "general.name": "x" }, remove: ["general.name"] },
    { set: { "general.alignment": { type: "uint32", value: 3 } } },
    { addTensors: [tensors[0]] },
    { inPlace: "maybe" },
    { sett: {} },
  ];
  for (const edit of bad) await assert.rejects(editGguf(at.path, edit as never), InvalidArgumentError);
  await assert.rejects(editGguf(join(at.folder, "no.gguf"), {}), ModelNotFoundError);
  assert.deepEqual(await readFile(at.path), before);
  assert.deepEqual(await readdir(at.folder), ["model.gguf"]);
});

test("a model is split and merged again", async () => {
  await using at = await files();
  const prefix = join(at.folder, "part");
  for (
    const [options, count] of [[{ maxTensors: 3 }, 3], [{ maxBytes: 130 }, 4], [{ emptyFirst: true }, 2], [{
      maxTensors: 1,
      emptyFirst: true,
    }, 8]] as const
  ) {
    const paths = await splitGguf(at.path, prefix, options);
    assert.equal(paths.length, count);
    assert.equal(paths[0], `${prefix}-00001-of-0000${count}.gguf`);
    assert.equal(await value(paths.at(-1) as string, "split.no"), count - 1);
    assert.equal(await value(paths[0] as string, "split.tensors.count"), 7);
    const merged = join(at.folder, "merged.gguf");
    await mergeGguf(paths[0] as string, merged);
    assert.deepEqual(await readFile(merged), await readFile(at.path));
    await mergeGguf(paths, merged);
    assert.deepEqual(await readFile(merged), await readFile(at.path));
    await Promise.all([merged, ...paths].map((path) => rm(path)));
  }
});

test("files that don't belong together aren't merged", async () => {
  await using at = await files();
  const [first, second, third] = await splitGguf(at.path, join(at.folder, "part"), { maxTensors: 3 }) as [
    string,
    string,
    string,
  ];
  const merged = join(at.folder, "merged.gguf");
  const bad: [string | string[], new (...args: never[]) => GgmlError][] = [
    [second, GgufFormatError],
    [at.path, GgufFormatError],
    [[first, second], InvalidArgumentError],
    [[first, third, second], GgufFormatError],
    [[first, second, at.path], GgufFormatError],
    [[], InvalidArgumentError],
    [null as never, InvalidArgumentError],
  ];
  for (const [source, kind] of bad) await assert.rejects(mergeGguf(source, merged), kind, String(source));
  await assert.rejects(mergeGguf(first, second), InvalidArgumentError);
  await assert.rejects(splitGguf(first, join(at.folder, "again")), InvalidArgumentError);
  await editGguf(third, { removeTensors: ["t6"] });
  await assert.rejects(mergeGguf(first, merged), /announces 7 tensors; the files have 6/);
  await rm(third);
  await assert.rejects(mergeGguf(first, merged), ModelNotFoundError);
  assert.ok(!(await readdir(at.folder)).includes("merged.gguf"));
});

test("a split that is stopped leaves no file", async () => {
  await using at = await files();
  const stop = new AbortController();
  const onProgress = (part: number): void => {
    if (part > 0.5) stop.abort(new Error("enough"));
  };
  const running = splitGguf(at.path, join(at.folder, "part"), { maxTensors: 1, onProgress, signal: stop.signal });
  await assert.rejects(running, /enough/);
  assert.deepEqual(await readdir(at.folder), ["model.gguf"]);
});

test("the names of split files", () => {
  assert.equal(ggufSplitPath("a/b", 41, 100), "a/b-00042-of-00100.gguf");
  assert.equal(ggufSplitPrefix("a/b-00042-of-00100.gguf", 41, 100), "a/b");
  assert.equal(ggufSplitPrefix("a/b-00042-of-00100.gguf", 40, 100), undefined);
  assert.equal(ggufSplitPrefix("-00001-of-00001.gguf", 0, 1), undefined);
  assert.throws(() => ggufSplitPath("a", 3, 3), InvalidArgumentError);
});
