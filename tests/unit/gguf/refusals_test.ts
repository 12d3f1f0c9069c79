import assert from "node:assert/strict";
import test from "node:test";
import { GgmlError } from "../../../lib/errors.ts";
import { MemorySource } from "../../../lib/gguf/byte_source.ts";
import { parseGgufHeader } from "../../../lib/gguf/header.ts";
import { buildGguf, type BuiltTensor, join, stringValue, u32, u32Value, u64, u64Value } from "./builder.ts";

const tensor = (more: Partial<BuiltTensor>): BuiltTensor => ({
  name: "t",
  shape: [3],
  type: 0,
  data: new Uint8Array(12),
  ...more,
});
const encoded = (text: string): Uint8Array => new TextEncoder().encode(text);
const sound = buildGguf({ a: u32Value(1) }, [tensor({})]);
const badLength = (length: number | bigint) => ({ type: 8, bytes: join(u64(length), encoded("abc")) });

/** Each damage of a header, and the words of its error. */
const damages: readonly (readonly [bytes: Uint8Array, words: string])[] = [
  [new Uint8Array(), "test.gguf is empty"],
  [encoded("<!DOCTYPE html><html></html>"), "test.gguf is not a GGUF file but "],
  [encoded("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"), 'it starts with "ABCD", not with "GGUF"'],
  [
    encoded("GG"),
    "is cut off: the magic at byte 2 needs 2 bytes, so the file must have at least 4 bytes, but it has 2",
  ],
  [sound.subarray(0, 6), "is cut off: the version at byte 4 needs 4 bytes"],
  [sound.subarray(0, 20), "is cut off: the counts of tensors and keys at byte 8 needs 16 bytes"],
  [buildGguf({}, [], { version: 1 }), "is GGUF version 1; versions 2 and 3 can be read"],
  [buildGguf({}, [], { version: 0x03000000 }), "is a big-endian GGUF file"],
  [buildGguf({}, [], { pairCount: 1n << 60n }), "it announces 1152921504606846976 metadata keys"],
  [buildGguf({}, [], { tensorCount: 200n }), "is cut off: a list of 200 tensors at byte 16 needs 4800 bytes"],
  [buildGguf({ a: badLength(1n << 60n) }, []), "a is said to have 1152921504606846976 bytes"],
  [buildGguf({ a: badLength(1000) }, []), "is cut off: a at byte "],
  [buildGguf({ "": u32Value(1) }, []), "metadata key 0 is empty"],
  [buildGguf([["a", u32Value(1)], ["a", u32Value(1)]], []), 'the metadata key "a" comes twice'],
  [buildGguf({ a: { type: 77, bytes: u32(1) } }, []), "the value of a has type 77"],
  [buildGguf({ a: { type: 9, bytes: join(u32(9), u64(0)) } }, []), "a is an array of arrays"],
  [buildGguf({ a: { type: 9, bytes: join(u32(4), u64(99)) } }, []), "is cut off: a at byte "],
  [buildGguf({ "general.alignment": u64Value(32n) }, []), "general.alignment has the type uint64"],
  [buildGguf({ "general.alignment": stringValue("32") }, []), "general.alignment has the type string"],
  [buildGguf({ "general.alignment": u32Value(33) }, []), "general.alignment is 33"],
  [buildGguf({}, [tensor({}), tensor({ offset: 32n })]), 'the tensor "t" comes twice'],
  [buildGguf({}, [tensor({ name: "n".repeat(200) })]), "the name of tensor 0 is too long"],
  [buildGguf({}, [tensor({ shape: [1, 1, 1, 1, 1] })]), "the tensor t has 5 dimensions"],
  [buildGguf({}, [tensor({ shape: [1n << 60n] })]), "a dimension of tensor t is 1152921504606846976"],
  [buildGguf({}, [tensor({ type: 999 })]), "the tensor t has type 999, which is unknown or was removed"],
  [buildGguf({}, [tensor({ type: 2, shape: [33] })]), "the tensor t of type q4_0 has rows of 33"],
  [buildGguf({}, [tensor({ offset: 64n })]), "the data of tensor t is said to start at 64"],
  [buildGguf({}, [tensor({ shape: [1n << 40n, 1n << 40n] })]), "the tensor t would take "],
  [sound.subarray(0, sound.length - 1), "is cut off: the data of tensor t ends at byte "],
];

test("each damage of a header is refused by its own words", async () => {
  await parseGgufHeader(new MemorySource(sound, "test.gguf"));
  for (const [bytes, words] of damages) {
    await assert.rejects(parseGgufHeader(new MemorySource(bytes, "test.gguf")), (error) => {
      assert.ok(error instanceof GgmlError, words);
      assert.ok(error.message.includes(words), `${error.message}: ${words}`);
      return true;
    });
  }
});
