import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import {
  DisposedError,
  GgufFormatError,
  GgufTruncatedError,
  GgufWriteError,
  InvalidArgumentError,
  NotAllocatedError,
} from "../../../lib/errors.ts";
import { GgmlContext } from "../../../lib/ggml/tensor/context.ts";
import { GgufFile } from "../../../lib/gguf/file.ts";
import type { GgufInput } from "../../../lib/gguf/values.ts";
import { encodeGguf } from "../../../lib/gguf/writer.ts";
import { NativeGguf } from "../../../lib/ggml/native_gguf/native_gguf.ts";

const values: Record<string, GgufInput> = {
  u8: { type: "uint8", value: 255 },
  i8: { type: "int8", value: -128 },
  u16: { type: "uint16", value: 65535 },
  i16: { type: "int16", value: -32768 },
  u32: { type: "uint32", value: 4294967295 },
  i32: { type: "int32", value: -2147483648 },
  f32: { type: "float32", value: 0.5 },
  u64: { type: "uint64", value: 18446744073709551615n },
  i64: { type: "int64", value: -9223372036854775808n },
  f64: { type: "float64", value: 0.1 },
  yes: { type: "bool", value: true },
  text: { type: "string", value: "Größe 🌍" },
  words: { type: "array", elementType: "string", value: ["one", "", "🌍"] },
  none: { type: "array", elementType: "string", value: [] },
  bools: { type: "array", elementType: "bool", value: [true, false] },
  empty: { type: "array", elementType: "int32", value: Int32Array.of() },
  bytes: { type: "array", elementType: "uint8", value: Uint8Array.of(1, 2) },
  floats: { type: "array", elementType: "float32", value: Float32Array.of(1.5, -2) },
  longs: { type: "array", elementType: "int64", value: BigInt64Array.of(-5n) },
};
const file = encodeGguf({
  metadata: values,
  tensors: [
    { name: "numbers", type: "f32", shape: [3], data: Float32Array.of(1, 2, 3) },
    { name: "blocks", type: "q8_0", shape: [32, 2], data: new Uint8Array(68).fill(3) },
  ],
});

async function folder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), "native-gguf-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

test("every type is set and read by its own function", async () => {
  using gguf = await NativeGguf.empty();
  for (const [key, value] of Object.entries(values)) gguf.set(key, value);
  assert.deepEqual(gguf.keys, Object.keys(values));
  for (const [key, value] of Object.entries(values)) assert.deepEqual(gguf.get(key), value, key);
  gguf.set("text", "other").set("words", ["x"]);
  assert.deepEqual(gguf.get("text"), { type: "string", value: "other" });
  assert.equal(gguf.keys.length, Object.keys(values).length);
  assert.equal(gguf.get("nobody"), undefined);
  assert.deepEqual(gguf.bytes("f32"), new Uint8Array(Float32Array.of(0.5).buffer));
  assert.equal(gguf.bytes("text"), undefined);
  assert.equal(gguf.remove("u8"), true);
  assert.equal(gguf.remove("u8"), false);
  assert.equal(gguf.has("u8"), false);
  using other = await NativeGguf.empty();
  other.set("mine", true).setAll(gguf);
  assert.deepEqual(other.keys, ["mine", ...gguf.keys]);
  for (const key of gguf.keys) assert.deepEqual(other.get(key), gguf.get(key), key);
  assert.deepEqual(await NativeGguf.typeName("float32"), "f32");
});

test("a file of its path, its bytes, and by a function", async () => {
  await using at = await folder();
  const path = join(at.path, "a.gguf");
  await writeFile(path, file);
  let reads = 0;
  const reader = {
    size: file.length,
    read: (offset: number, length: number) => (reads++, file.subarray(offset, offset + length)),
  };
  for (const tensors of ["none", "shapes", "data"] as const) {
    for (
      const open of [
        () => NativeGguf.fromFile(path, { tensors }),
        () => NativeGguf.fromBytes(file, { tensors }),
        () => NativeGguf.fromReader(reader, { tensors }),
      ]
    ) {
      using gguf = await open();
      assert.equal(gguf.version, 3);
      assert.equal(gguf.alignment, 32);
      for (const [key, value] of Object.entries(values)) assert.deepEqual(gguf.get(key), value, key);
      assert.deepEqual(gguf.tensor("blocks"), {
        name: "blocks",
        type: "q8_0",
        shape: [32, 2, 1, 1],
        byteOffset: 32,
        byteLength: 68,
      });
      assert.equal(gguf.dataOffset, file.length - 32 - 96);
      assert.deepEqual(gguf.header(), file.subarray(0, gguf.dataOffset));
      if (tensors === "none") assert.equal(gguf.context, undefined);
      else assert.deepEqual(gguf.context?.get("numbers")?.shape, [3, 1, 1, 1]);
      if (tensors === "data") assert.deepEqual([...gguf.context?.get("numbers")?.read() ?? []], [1, 2, 3]);
    }
  }
  assert.ok(reads > 50, String(reads));
});

test("tensors of ggml are written and read again", async () => {
  await using at = await folder();
  const path = join(at.path, "b.gguf");
  using context = await GgmlContext.create({ dataBytes: 1 << 16 });
  const numbers = context.tensor("f32", [4, 2], "numbers").write([1, 2, 3, 4, 5, 6, 7, 8]);
  const halves = context.tensor("f16", [3], "halves").write([1, 2, 3]);
  using gguf = await NativeGguf.empty();
  gguf.set("general.name", "made here").addTensor(numbers).addTensor(halves);
  await gguf.write(path);
  {
    await using read = await GgufFile.open(path);
    assert.deepEqual(await read.readNumbers("numbers"), Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8));
    assert.deepEqual(await read.readNumbers("halves"), Float32Array.of(1, 2, 3));
    assert.equal(read.header.dataOffset, gguf.headerByteLength);
  }
  await gguf.setTensorType("numbers", "f16").setTensorData("numbers", Uint16Array.from({ length: 8 }, () => 0x3c00))
    .write(path);
  {
    await using read = await GgufFile.open(path);
    assert.deepEqual(await read.readNumbers("numbers"), new Float32Array(8).fill(1));
    assert.deepEqual(await read.readNumbers("halves"), Float32Array.of(1, 2, 3));
  }
  await gguf.write(path, { onlyHeader: true });
  assert.deepEqual(new Uint8Array(await readFile(path)), gguf.header());
  assert.deepEqual(await readdir(at.path), ["b.gguf"]);
});

test("what would abort in ggml is refused", async () => {
  await using at = await folder();
  const path = join(at.path, "c.gguf");
  using gguf = await NativeGguf.empty();
  const wrong: (() => unknown)[] = [
    () => gguf.set("", "x"),
    () => gguf.set("x", 5 as never),
    () => gguf.set("x", "a\0b"),
    () => gguf.set("x", ["a\0b"]),
    () => gguf.set("x", { type: "array", elementType: "array", value: [] }),
    () => gguf.set("general.alignment", { type: "uint32", value: 64 }),
    () => gguf.set("general.alignment", "x"),
    () => gguf.tensor("nobody"),
    () => gguf.setTensorType("nobody", "f32"),
    () => gguf.setTensorData("nobody", new Uint8Array(4)),
    () => gguf.addTensor(null as never),
    () => gguf.setAll({} as never),
  ];
  for (const one of wrong) assert.throws(one, InvalidArgumentError, String(one));
  using context = await GgmlContext.create({ dataBytes: 1 << 16 });
  const numbers = context.tensor("f32", [4], "numbers").write([1, 2, 3, 4]);
  gguf.addTensor(numbers);
  assert.throws(() => gguf.addTensor(numbers), InvalidArgumentError);
  assert.throws(() => gguf.addTensor(context.tensor("f32", [1])), InvalidArgumentError);
  assert.throws(() => gguf.setTensorType("numbers", "q4_0"));
  assert.throws(() => gguf.setTensorData("numbers", new Uint8Array(15)), InvalidArgumentError);
  gguf.setTensorType("numbers", "i32");
  await assert.rejects(gguf.write(path), NotAllocatedError);
  gguf.setTensorData("numbers", Int32Array.of(1, 2, 3, 4));
  await assert.rejects(gguf.write(join(at.path, "no", "c.gguf")), GgufWriteError);
  await gguf.write(path);
  using bare = await GgmlContext.create();
  gguf.addTensor(bare.tensor("f32", [1], "bare"));
  await assert.rejects(gguf.write(path), NotAllocatedError);
  using aligned = await NativeGguf.fromBytes(encodeGguf({ metadata: {}, alignment: 64 }));
  assert.throws(() => gguf.setAll(aligned), InvalidArgumentError);
  using read = await NativeGguf.fromBytes(file);
  await assert.rejects(read.write(path), InvalidArgumentError);
  await read.write(path, { onlyHeader: true });
});

test("tensors whose context went aren't written", async () => {
  using gguf = await NativeGguf.empty();
  {
    using context = await GgmlContext.create({ dataBytes: 1 << 16 });
    gguf.addTensor(context.tensor("f32", [4], "numbers").write([1, 2, 3, 4]));
  }
  await assert.rejects(gguf.write(join(tmpdir(), `${crypto.randomUUID()}.gguf`)), DisposedError);
});

test("bad files and bad readers", async () => {
  await assert.rejects(NativeGguf.fromBytes(file.subarray(0, 100)), GgufTruncatedError);
  await assert.rejects(NativeGguf.fromBytes(file.subarray(0, file.length - 20), { tensors: "data" }), GgufFormatError);
  await assert.rejects(NativeGguf.fromReader({ size: file.length, read: () => new Uint8Array(3) }), GgufFormatError);
  await assert.rejects(NativeGguf.fromReader({ size: file.length, read: () => "x" as never }), InvalidArgumentError);
  await assert.rejects(NativeGguf.fromReader({ size: 9 } as never), InvalidArgumentError);
  let reads = 0;
  const failing = {
    size: file.length,
    read(offset: number, length: number): Uint8Array {
      if (reads++ > 5) throw new RangeError("no more");
      return file.subarray(offset, offset + length);
    },
  };
  await assert.rejects(NativeGguf.fromReader(failing), RangeError);
  const gguf = await NativeGguf.fromBytes(file, { tensors: "data" });
  const tensor = gguf.context?.get("numbers");
  gguf[Symbol.dispose]();
  gguf[Symbol.dispose]();
  assert.throws(() => gguf.keys, DisposedError);
  assert.throws(() => tensor?.read(), DisposedError);
});
