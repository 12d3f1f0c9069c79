import assert from "node:assert/strict";
import { closeSync, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { InvalidArgumentError, ModelAccessError } from "../../../lib/errors.ts";
import { editGguf } from "../../../lib/gguf/edit.ts";
import { GgufFile } from "../../../lib/gguf/file.ts";
import { DescriptorFile } from "../../../lib/gguf/open_sources.ts";
import { splitGguf } from "../../../lib/gguf/split.ts";
import { encodeEntry } from "../../../lib/gguf/values.ts";
import { encodeGguf, type GgufTensorInput, writeGguf } from "../../../lib/gguf/writer.ts";

const tensor: GgufTensorInput = { name: "t", type: "f32", shape: [2], data: Float32Array.of(1, 2) };
const deep = (levels: number): unknown =>
  levels === 0
    ? { type: "array", elementType: "uint8", value: [1] }
    : { type: "array", elementType: "array", value: [deep(levels - 1)] };
const endless = {
  [Symbol.iterator](): never {
    throw new Error("no more");
  },
};

const asynchronous = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

/** What can't be in a file, and the words of the error. */
const contents: readonly (readonly [content: unknown, words: RegExp])[] = [
  [{ metadata: 5 }, /metadata is 5/],
  [{ metadata: endless }, /metadata can't be iterated/],
  [{ metadata: [["a"], 5] }, /a pair of metadata is 5/],
  [{ metadata: [["a", "x"], ["a", "y"]] }, /the metadata key a is .*given twice/],
  [{ metadata: { "": "x" } }, /a metadata key is empty/],
  [{ metadata: { a: 5 } }, /the metadata value of a is 5; give its type too/],
  [{ metadata: { a: new Uint8ClampedArray(1) } }, /give a typed array of numbers that isn't clamped/],
  [{ metadata: { a: new Date() } }, /give a string, a boolean, an array of strings/],
  [{ metadata: { a: deep(9) } }, /give arrays at most 8 deep/],
  [
    { metadata: { a: { type: "array", elementType: "array", value: ["x", "y"] } } },
    /the metadata value of a\[0\] is "x"; give an array/,
  ],
  [{ metadata: { a: { type: "uint8", value: 256 } } }, /give a whole number from 0 to 255 for the type uint8/],
  [{ metadata: { a: { type: "float32", value: "1" } } }, /give a number for the type float32/],
  [{ tensors: 5 }, /is 5; .*an array of \{ name, type, shape, data \}/],
  [{ tensors: [5] }, /a tensor is 5; give \{ name, type, shape, data \}/],
  [{ tensors: [tensor, tensor] }, /two tensors have the name "t"/],
  [{ tensors: [{ ...tensor, data: [1, 2] }] }, /the data of tensor t is .*a typed array/],
  [{ tensors: [{ ...tensor, data: Float32Array.of(1) }] }, /the data of tensor t is 4; .*8 bytes/],
  [{ tensors: [{ ...tensor, data: () => asynchronous }] }, /the data of tensor t is "asynchronous"/],
  [{ tensors: [{ ...tensor, data: () => 5 }] }, /what the data of tensor t gave is 5/],
];

test("what can't be written is refused by its own words", () => {
  for (const [content, words] of contents) {
    assert.throws(() => encodeGguf(content as never), (error) => {
      assert.ok(error instanceof InvalidArgumentError, String(error));
      assert.match(error.message, words);
      return true;
    });
  }
});

test("an alignment has one type", () => {
  const entry = { type: "uint64", value: 32 };
  assert.throws(() => encodeEntry("general.alignment", entry), /general\.alignment is "uint64"; give a value of type/);
});

test("edits, splits and sources that are none are refused by their own words", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gguf-refusals-"));
  try {
    const path = join(folder, "model.gguf");
    await writeGguf(path, { metadata: { a: "x" }, tensors: [tensor] });
    await assert.rejects(editGguf(path, { set: new Map() as never }), /set is .*an object with a value for each key/);
    await assert.rejects(editGguf(path, { set: { a: "y" }, remove: ["a"] }), /the key "a" is both set and removed/);
    await assert.rejects(editGguf(path, { remove: ["b"] }), /remove names "b", which isn't in the file/);
    const part = join(folder, "part.gguf");
    await writeGguf(part, { metadata: { "split.count": { type: "uint16", value: 2 } }, tensors: [tensor] });
    await assert.rejects(splitGguf(part, join(folder, "x")), /one of 2 files of a split model; merge them first/);
    for (const source of [5, "https://", new URL("ftp://host/x")]) {
      await assert.rejects(GgufFile.open(source as never), /is no GGUF file to open; give a path, an http:/);
    }
    await using file = await GgufFile.open(path);
    await assert.rejects(file.readEntry("b"), /there is no metadata key "b"/);
    assert.throws(() => file.tensor("b"), InvalidArgumentError);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("an open file that isn't one, or becomes shorter, is refused", {
  skip: process.platform === "win32",
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "gguf-descriptor-"));
  const path = join(folder, "a");
  writeFileSync(path, "0123456789");
  const [file, directory] = [openSync(path, "r"), openSync(folder, "r")];
  const refused = (words: RegExp) => (error: unknown): boolean =>
    error instanceof ModelAccessError && words.test(error.message);
  try {
    assert.throws(() => new DescriptorFile(directory, 0), refused(/isn't a regular file/));
    assert.throws(() => new DescriptorFile(file, 11), refused(/descriptor \d+ from byte 11 has 10 bytes/));
    assert.throws(() => new DescriptorFile(99_999, 0), refused(/can't be read/));
    const source = new DescriptorFile(file, 2);
    const bytes = new Uint8Array(8);
    await source.read(bytes, 0);
    assert.equal(new TextDecoder().decode(bytes), "23456789");
    truncateSync(path, 5);
    await assert.rejects(source.read(bytes, 0), refused(/became shorter while it was read/));
  } finally {
    closeSync(file);
    closeSync(directory);
    rmSync(folder, { recursive: true });
  }
});
