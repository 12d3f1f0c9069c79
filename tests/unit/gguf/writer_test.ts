import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { DisposedError, GgufWriteError, InvalidArgumentError } from "../../../lib/errors.ts";
import { GgufFile } from "../../../lib/gguf/file.ts";
import type { GgufInput } from "../../../lib/gguf/values.ts";
import { encodeGguf, type GgufTensorInput, writeGguf } from "../../../lib/gguf/writer.ts";

const metadata: Record<string, GgufInput> = {
  "general.architecture": "test",
  "t.u8": { type: "uint8", value: 255 },
  "t.i8": { type: "int8", value: -128 },
  "t.u16": { type: "uint16", value: 65535 },
  "t.i16": { type: "int16", value: -32768 },
  "t.u32": { type: "uint32", value: 4294967295 },
  "t.i32": { type: "int32", value: -2147483648 },
  "t.f32": { type: "float32", value: 0.5 },
  "t.f64": { type: "float64", value: 0.1 },
  "t.u64": { type: "uint64", value: 18446744073709551615n },
  "t.i64": { type: "int64", value: -9223372036854775808n },
  "t.yes": true,
  "t.no": false,
  "t.text": "Größe 🌍\0 with NUL",
  "t.words": ["", "one", "🌍"],
  "t.bools": { type: "array", elementType: "bool", value: [true, false] },
  "t.none": { type: "array", elementType: "int32", value: Int32Array.of() },
  "t.a.u8": Uint8Array.of(1, 2),
  "t.a.i8": Int8Array.of(-1),
  "t.a.u16": Uint16Array.of(1, 65535),
  "t.a.i16": Int16Array.of(-1),
  "t.a.u32": Uint32Array.of(7),
  "t.a.i32": Int32Array.of(-7, 8, 9),
  "t.a.f32": Float32Array.of(1.5, NaN),
  "t.a.u64": BigUint64Array.of(1n << 63n),
  "t.a.i64": BigInt64Array.of(-5n),
  "t.a.f64": Float64Array.of(0.1),
};
const tensors: GgufTensorInput[] = [
  { name: "numbers", type: "f32", shape: [3, 2], data: Float32Array.of(1, 2, 3, 4, 5, 6) },
  { name: "halves", type: "f16", shape: [2], data: Uint16Array.of(0x3c00, 0xc000) },
  { name: "brains", type: "bf16", shape: [2], data: Uint16Array.of(0x3f80, 0xc000) },
  { name: "blocks", type: "q8_0", shape: [32], data: new Uint8Array(34).fill(7) },
  { name: "large", type: "i64", shape: [1], data: BigInt64Array.of(-3n) },
  { name: "nothing", type: "i8", shape: [0], data: new Int8Array(0) },
];

async function folder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), "gguf-writer-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

test("what is written is read again: every type, arrays too", async () => {
  await using file = await GgufFile.open(encodeGguf({ metadata, tensors }));
  assert.deepEqual([...file.metadata.keys()], Object.keys(metadata));
  for (const [key, given] of Object.entries(metadata)) {
    const read = await file.value(key);
    const value = typeof given === "object" && "value" in given ? given.value : given;
    if (typeof given === "object" && "type" in given) assert.equal(read?.type, given.type, key);
    const narrow = read?.type === "int64" || read?.type === "uint64" ? BigInt(read.value) : read?.value;
    assert.deepEqual(narrow, value, key);
  }
  assert.equal(file.type("t.u16"), "uint16");
  assert.equal(file.type("t.nobody"), undefined);
  assert.equal(await file.value("t.nobody"), undefined);
});

test("tensors: bytes, parts, chunks and numbers", async () => {
  await using file = await GgufFile.open(encodeGguf({ metadata, tensors }));
  assert.deepEqual(
    file.tensors.map(({ name, type, shape }) => ({ name, type, shape })),
    tensors.map(({ name, type, shape }) => ({ name, type, shape })),
  );
  assert.deepEqual(await file.readNumbers("numbers"), Float32Array.of(1, 2, 3, 4, 5, 6));
  assert.deepEqual(await file.readNumbers("halves"), Float32Array.of(1, -2));
  assert.deepEqual(await file.readNumbers("brains"), Float32Array.of(1, -2));
  assert.deepEqual(await file.readNumbers("large"), BigInt64Array.of(-3n));
  assert.equal((await file.readNumbers("nothing")).length, 0);
  assert.deepEqual(await file.readTensor("blocks"), new Uint8Array(34).fill(7));
  const part = await file.readTensor("numbers", { byteOffset: 4, byteLength: 8 });
  assert.deepEqual(new Float32Array(part.buffer), Float32Array.of(2, 3));
  await assert.rejects(file.readNumbers("blocks"), InvalidArgumentError);
  await assert.rejects(file.readTensor("nobody"), InvalidArgumentError);
  await assert.rejects(file.readTensor("numbers", { byteOffset: 4, byteLength: 21 }), InvalidArgumentError);
});

test("every offset is aligned, for any alignment", async () => {
  for (const alignment of [1, 8, 32, 4096]) {
    const bytes = encodeGguf({ metadata, tensors, alignment });
    await using file = await GgufFile.open(bytes);
    assert.equal(file.header.alignment, alignment);
    for (const { byteOffset } of file.tensors) assert.equal((file.header.dataOffset + byteOffset) % alignment, 0);
    assert.deepEqual(await file.readNumbers("numbers"), Float32Array.of(1, 2, 3, 4, 5, 6));
    assert.equal(bytes.length % alignment, 0);
  }
});

test("arrays of arrays are written and read, at most eight deep", async () => {
  const nested: GgufInput = {
    type: "array",
    elementType: "array",
    value: [
      { type: "array", elementType: "int32", value: Int32Array.of(1, 2) },
      { type: "array", elementType: "string", value: ["x"] },
    ],
  };
  await using file = await GgufFile.open(encodeGguf({ metadata: { nested } }));
  assert.deepEqual(await file.value("nested"), nested);
  let deep: GgufInput = { type: "array", elementType: "int8", value: Int8Array.of(1) };
  for (let depth = 1; depth < 8; depth++) deep = { type: "array", elementType: "array", value: [deep] };
  await using deepest = await GgufFile.open(encodeGguf({ metadata: { deep } }));
  assert.deepEqual(await deepest.value("deep"), deep);
  const deeper: GgufInput = { type: "array", elementType: "array", value: [deep] };
  assert.throws(() => encodeGguf({ metadata: { deeper } }), InvalidArgumentError);
});

test("what can't be in a file is refused, by name", () => {
  const bad: [GgufInput, RegExp][] = [
    [5 as never, /t\.bad is 5; give its type too/],
    [5n as never, /type too/],
    [null as never, /t\.bad is null/],
    [{ type: "uint8", value: 256 }, /256; give a whole number from 0 to 255/],
    [{ type: "uint8", value: -1 }, /-1/],
    [{ type: "int64", value: 0.5 }, /0\.5/],
    [{ type: "uint64", value: 1n << 64n }, /18446744073709551616n/],
    [{ type: "float32", value: "1" as never }, /"1"/],
    [{ type: "float" as never, value: 1 }, /"float"/],
    [{ type: "string", value: 1 as never }, /1/],
    [{ type: "array", elementType: "int32", value: Uint8Array.of(1) }, /Int32Array/],
    [{ type: "array", elementType: "int7" as never, value: [] }, /int7/],
    [["ok", 5 as never], /t\.bad\[1\] is 5/],
    ["half \ud800", /surrogate/],
    [new Uint8ClampedArray(2) as never, /clamped/],
  ];
  for (const [value, words] of bad) {
    assert.throws(() => encodeGguf({ metadata: { "t.bad": value } }), (error) => {
      assert.ok(error instanceof InvalidArgumentError, String(error));
      assert.match(error.message, words);
      return true;
    });
  }
  const tensor = { name: "t", type: "f32", shape: [2], data: Float32Array.of(1, 2) };
  const wrong: [Partial<GgufTensorInput>, RegExp][] = [
    [{ name: "" }, /""/],
    [{ name: "x".repeat(64) }, /63 bytes/],
    [{ name: "a\0b" }, /NUL/],
    [{ type: "q9" }, /q9/],
    [{ type: "q4_0" }, /multiple of 32/],
    [{ shape: [1, 1, 1, 1, 2] }, /at most 4/],
    [{ shape: [-2] }, /whole numbers/],
    [{ shape: [2.5] }, /whole numbers/],
    [{ shape: [2 ** 40, 2 ** 40] }, /addressed/],
    [{ data: Float32Array.of(1) }, /is 4; expected 8 bytes/],
    [{ data: "text" as never }, /typed array/],
    [{ data: () => [new Uint8Array(9)] }, /more than 8 bytes/],
    [{ data: () => [new Uint8Array(7)] }, /only 7 bytes/],
    [{ data: () => ["x" as never] }, /chunk/],
    [{ data: () => undefined as never }, /chunks of bytes/],
  ];
  for (const [change, words] of wrong) {
    assert.throws(() => encodeGguf({ tensors: [{ ...tensor, ...change }] }), (error) => {
      assert.ok(error instanceof InvalidArgumentError, String(error));
      assert.match(error.message, words);
      return true;
    });
  }
  assert.throws(() => encodeGguf({ tensors: [tensor, tensor] }), /two tensors/);
  assert.throws(() => encodeGguf({ alignment: 24 }), /power of two/);
  assert.throws(() => encodeGguf({ metadata: { "": "x" } }), /empty/);
  assert.throws(() => encodeGguf({ metadata: [["a", "x"], ["a", "y"]] }), /twice/);
  assert.throws(() => encodeGguf({ metdata: {} } as never), /did you mean metadata/);
});

test("a file is written whole or not at all", async () => {
  await using temporary = await folder();
  const path = join(temporary.path, "a.gguf");
  const parts: number[] = [];
  await writeGguf(path, { metadata, tensors }, { onProgress: (part) => parts.push(part) });
  assert.deepEqual(new Uint8Array(await readFile(path)), encodeGguf({ metadata, tensors }));
  assert.equal(parts.at(-1), 1);
  assert.deepEqual(await readdir(temporary.path), ["a.gguf"]);

  const before = await readFile(path);
  const failing = (): Iterable<Uint8Array> => ({
    *[Symbol.iterator]() {
      yield new Uint8Array(4);
      throw new RangeError("no more");
    },
  });
  const one = (data: GgufTensorInput["data"]) => ({ tensors: [{ name: "t", type: "f32", shape: [2], data }] });
  await assert.rejects(writeGguf(path, one(failing)), RangeError);
  await assert.rejects(writeGguf(path, one(() => [new Uint8Array(4)])), InvalidArgumentError);
  await assert.rejects(writeGguf(path, one(new Uint8Array(8)), { overwrite: false }), GgufWriteError);
  await assert.rejects(writeGguf(join(temporary.path, "no", "b.gguf"), {}), GgufWriteError);
  await assert.rejects(writeGguf(new URL("https://example.com/a.gguf"), {}), InvalidArgumentError);
  const stop = new AbortController();
  const stopping = async function* () {
    yield new Uint8Array(4);
    stop.abort(new Error("enough"));
    yield new Uint8Array(4);
  };
  await assert.rejects(
    writeGguf(join(temporary.path, "c.gguf"), one(stopping), { signal: stop.signal, overwrite: false }),
    /enough/,
  );
  assert.deepEqual(await readdir(temporary.path), ["a.gguf"]);
  assert.deepEqual(await readFile(path), before);
});

test("a file of its path, its URL and its bytes; closed after dispose", async () => {
  await using temporary = await folder();
  const path = join(temporary.path, "größe 1.gguf");
  await writeFile(path, encodeGguf({ metadata, tensors }));
  for (
    const source of [
      path,
      new URL(`file://${encodeURI(path)}`),
      await readFile(path),
      (await readFile(path)).buffer as ArrayBuffer,
    ]
  ) {
    await using file = await GgufFile.open(source);
    assert.equal(file.metadata.get("general.architecture"), "test");
  }
  const file = await GgufFile.open(path);
  await file[Symbol.asyncDispose]();
  await file[Symbol.asyncDispose]();
  await assert.rejects(file.readTensor("numbers"), DisposedError);
  for (const bad of [5, null, {}, "ftp://x/y", new URL("ftp://x/y"), ""]) {
    await assert.rejects(GgufFile.open(bad as never));
  }
});

test("more keys than ggml gets through in a sane time are refused", async () => {
  const keys = (count: number) => Array.from({ length: count }, (_, index) => [`k${index}`, true] as const);
  await using most = await GgufFile.open(encodeGguf({ metadata: keys(16_384) }));
  assert.equal(most.metadata.size, 16_384);
  await assert.rejects(GgufFile.open(encodeGguf({ metadata: keys(16_385) })), /it has 16385 metadata keys/);
});
