import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import process from "node:process";
import test from "node:test";
import {
  GgmlError,
  GgufByteOrderError,
  GgufFormatError,
  GgufTruncatedError,
  GgufVersionError,
  InvalidArgumentError,
  ModelAccessError,
  ModelNotFoundError,
  NotGgufError,
} from "../../../lib/errors.ts";
import { type ByteSource, MemorySource } from "../../../lib/gguf/byte_source.ts";
import { WINDOW_SIZE } from "../../../lib/gguf/cursor.ts";
import { type GgufHeader, parseGgufHeader, readGgufHeader } from "../../../lib/gguf/header.ts";
import {
  boolValue,
  buildGguf,
  type BuildOptions,
  type BuiltTensor,
  type BuiltValue,
  f32Value,
  join,
  stringsValue,
  stringValue,
  u32,
  u32sValue,
  u32Value,
  u64,
  u64Value,
} from "./builder.ts";

const metadata = {
  "general.architecture": stringValue("llama"),
  "general.name": stringValue("Größe 🌍"),
  "a.count": u32Value(7),
  "a.large": u64Value(1n << 60n),
  "a.small": u64Value(9n),
  "a.part": f32Value(0.5),
  "a.yes": boolValue(true),
  "a.words": stringsValue(["one", "", "three"]),
  "a.numbers": u32sValue([1, 2, 3, 4]),
};
const tensors: BuiltTensor[] = [
  { name: "first", shape: [32, 2], type: 2, data: new Uint8Array(36).fill(1) },
  { name: "second", shape: [3], type: 0, data: new Uint8Array(12).fill(2) },
];
const parse = (bytes: Uint8Array): Promise<GgufHeader> => parseGgufHeader(new MemorySource(bytes, "test.gguf"));
const build = (
  values: Readonly<Record<string, BuiltValue>> | readonly (readonly [string, BuiltValue])[] = metadata,
  list: readonly BuiltTensor[] = tensors,
  options: BuildOptions = {},
): Promise<GgufHeader> => parse(buildGguf(values, list, options));

test("a sound header is read", async () => {
  const bytes = buildGguf(metadata, tensors);
  const header = await parse(bytes);
  assert.equal(header.version, 3);
  assert.equal(header.fileSize, bytes.length);
  assert.equal(header.alignment, 32);
  assert.equal(header.dataOffset, bytes.length - 64 - 12);
  assert.deepEqual(header.tensors, [
    { name: "first", shape: [32, 2], type: "q4_0", byteOffset: 0, byteLength: 36 },
    { name: "second", shape: [3], type: "f32", byteOffset: 64, byteLength: 12 },
  ]);
  assert.deepEqual([...header.metadata.keys()], Object.keys(metadata));
  assert.equal(header.metadata.get("general.name"), "Größe 🌍");
  assert.equal(header.metadata.get("a.count"), 7);
  assert.equal(header.metadata.get("a.large"), 1n << 60n);
  assert.equal(header.metadata.get("a.small"), 9);
  assert.equal(header.metadata.get("a.part"), 0.5);
  assert.equal(header.metadata.get("a.yes"), true);
  const words = header.metadata.get("a.words");
  assert.ok(typeof words === "object");
  assert.deepEqual({ type: words.elementType, length: words.length, bytes: words.byteLength }, {
    type: "string",
    length: 3,
    bytes: 24 + 8,
  });
  assert.equal(new TextDecoder().decode(bytes.subarray(words.byteOffset + 8, words.byteOffset + 11)), "one");
});

test("a file cut at any byte is refused, with its size and the size it needs", async () => {
  const bytes = buildGguf(metadata, tensors);
  for (let length = 0; length < bytes.length; length++) {
    const error = await parse(bytes.subarray(0, length)).then(() => undefined, (error: unknown) => error);
    assert.ok(error instanceof GgmlError, `cut at ${length}`);
    if (length === 0) assert.ok(error instanceof NotGgufError);
    else {
      assert.ok(
        error instanceof GgufTruncatedError || error instanceof GgufFormatError,
        `cut at ${length}: ${error.message}`,
      );
      if (error instanceof GgufTruncatedError) {
        assert.equal(error.value, length);
        const needed = Number(/at least (\d+)/.exec(error.expected ?? "")?.[1]);
        assert.ok(needed > length && needed <= bytes.length, `cut at ${length}: ${error.message}`);
      }
    }
  }
  await parse(bytes);
});

test("a changed byte in the header gives a header or a typed error, never anything else", async () => {
  const bytes = buildGguf(metadata, tensors);
  let refused = 0;
  for (let at = 0; at < bytes.length; at++) {
    for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
      const damaged = bytes.slice();
      damaged[at] = value;
      await parse(damaged).catch((error: unknown) => {
        assert.ok(error instanceof GgmlError, `byte ${at} set to ${value}: ${error}`);
        refused++;
      });
    }
  }
  assert.ok(refused > 500, String(refused));
});

test("what is no GGUF file is told by what it starts with", async () => {
  await assert.rejects(
    parse(new Uint8Array(0)),
    (error) => error instanceof NotGgufError && /empty/.test(error.message),
  );
  await assert.rejects(
    parse(new TextEncoder().encode("Hello, world")),
    (error) => error instanceof NotGgufError && /starts with "Hell"/.test(error.message),
  );
  await assert.rejects(
    parse(Uint8Array.of(0x80, 2, 0x7d, 0x71, 1)),
    (error) => error instanceof NotGgufError && /80 02 7d 71/.test(error.message),
  );
  await assert.rejects(parse(new TextEncoder().encode("GG")), GgufTruncatedError);
});

test("the version and the byte order are checked", async () => {
  for (const version of [0, 1, 4, 99]) {
    await assert.rejects(
      build(metadata, tensors, { version }),
      (error) => error instanceof GgufVersionError && error.value === version,
    );
  }
  for (const version of [0x0300_0000, 0x0200_0000]) {
    await assert.rejects(
      build(metadata, tensors, { version }),
      (error) => error instanceof GgufByteOrderError && /big-endian/.test(error.message),
    );
  }
  assert.equal((await build(metadata, tensors, { version: 2 })).version, 2);
});

test("absurd counts, lengths and offsets are refused", async () => {
  const huge = [5_000_000_000n, 1n << 48n, (1n << 64n) - 1n];
  for (const count of huge) {
    await assert.rejects(build(metadata, tensors, { tensorCount: count }), GgufFormatError);
    await assert.rejects(build(metadata, tensors, { pairCount: count }), GgufFormatError);
    await assert.rejects(build({ a: { type: 9, bytes: join(u32(4), u64(count)) } }, []), GgmlError);
    await assert.rejects(build({ a: { type: 9, bytes: join(u32(8), u64(count)) } }, []), GgmlError);
    await assert.rejects(build({ a: { type: 8, bytes: u64(count) } }, []), GgmlError);
    await assert.rejects(
      build({}, [{ name: "t", shape: [count, count], type: 0, data: new Uint8Array(4) }]),
      GgmlError,
    );
    await assert.rejects(
      build({}, [{ name: "t", shape: [1], type: 0, data: new Uint8Array(4), offset: count }]),
      GgufFormatError,
    );
  }
});

test("what can't be in a header is refused", async () => {
  const tensor = (
    change: Partial<BuiltTensor>,
  ): readonly BuiltTensor[] => [{ name: "t", shape: [32], type: 2, data: new Uint8Array(18), ...change }];
  const pair = ["a", u32Value(1)] as const;
  const cases: [what: string, header: Promise<GgufHeader>][] = [
    ["an empty key", build({ "": u32Value(1) }, [])],
    ["a key twice", build([pair, pair], [])],
    ["an unknown type of value", build({ a: { type: 13, bytes: u32(0) } }, [])],
    ["an array of arrays", build({ a: { type: 9, bytes: join(u32(9), u64(0)) } }, [])],
    ["an alignment of 0", build({ "general.alignment": u32Value(0) }, [])],
    ["an alignment of 3", build({ "general.alignment": u32Value(3) }, [])],
    ["an alignment that is text", build({ "general.alignment": stringValue("32") }, [])],
    ["a name twice", build({}, [...tensor({}), ...tensor({})])],
    ["a name of 64 bytes", build({}, tensor({ name: "n".repeat(64) }))],
    ["five dimensions", build({}, tensor({ shape: [32, 1, 1, 1, 1] }))],
    ["an unknown tensor type", build({}, tensor({ type: 43 }))],
    ["a removed tensor type", build({}, tensor({ type: 4 }))],
    ["rows that are no whole blocks", build({}, tensor({ shape: [33] }))],
  ];
  for (const [what, header] of cases) await assert.rejects(header, (error) => error instanceof GgufFormatError, what);
});

test("an alignment other than the usual is followed", async () => {
  const header = await build({ "general.alignment": u32Value(64) }, tensors, { alignment: 64 });
  assert.equal(header.alignment, 64);
  assert.equal(header.tensors[1]?.byteOffset, 64);
});

test("a large vocabulary is skipped in bounded memory", async () => {
  const words = stringsValue(Array.from({ length: 60_000 }, (_, index) => `word-${index}-${"x".repeat(index % 50)}`));
  const long = stringValue("y".repeat(WINDOW_SIZE + 1));
  const bytes = buildGguf({ before: u32Value(1), words, long, after: u32Value(2) }, tensors);
  assert.ok(bytes.length > 3 * WINDOW_SIZE);
  let largest = 0;
  const source: ByteSource = {
    size: bytes.length,
    name: "test.gguf",
    read(into, position) {
      largest = Math.max(largest, into.length);
      into.set(bytes.subarray(position, position + into.length));
      return Promise.resolve();
    },
  };
  const header = await parseGgufHeader(source);
  assert.ok(largest <= WINDOW_SIZE);
  assert.equal(header.metadata.get("after"), 2);
  const read = header.metadata.get("words");
  assert.ok(typeof read === "object");
  assert.equal(read.length, 60_000);
  assert.equal(read.byteLength, words.bytes.length - 12);
  const skipped = header.metadata.get("long");
  assert.ok(typeof skipped === "object");
  assert.equal(skipped.byteLength, WINDOW_SIZE + 9);
});

test("files: missing, folder, forbidden, real", async () => {
  const folder = await mkdtemp(joinPath(tmpdir(), "gguf-"));
  try {
    const path = joinPath(folder, "model.gguf");
    await assert.rejects(readGgufHeader(path), (error) => error instanceof ModelNotFoundError && error.value === path);
    await assert.rejects(
      readGgufHeader(folder),
      (error) => error instanceof ModelNotFoundError && /folder/.test(error.message),
    );
    await writeFile(path, buildGguf(metadata, tensors));
    assert.equal((await readGgufHeader(path)).tensors.length, 2);
    await assert.rejects(readGgufHeader(joinPath(path, "below")), ModelNotFoundError);
    await assert.rejects(readGgufHeader(Symbol("path") as unknown as string), InvalidArgumentError);
    if (process.platform !== "win32") {
      const pipe = joinPath(folder, "pipe.gguf");
      execFileSync("mkfifo", [pipe]);
      await assert.rejects(readGgufHeader(pipe), /not a regular file/);
    }
    if (process.getuid?.() !== 0) {
      await chmod(path, 0);
      await assert.rejects(readGgufHeader(path), ModelAccessError);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
