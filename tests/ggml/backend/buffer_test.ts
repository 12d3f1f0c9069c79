import assert from "node:assert/strict";
import { test } from "node:test";
import { GgmlContext } from "../../../lib/ggml/tensor/context.ts";
import { BufferType } from "../../../lib/ggml/backend/buffer_type.ts";
import { Graph } from "../../../lib/ggml/graph/graph.ts";
import { LinearAllocator } from "../../../lib/ggml/allocator/linear_allocator.ts";
import * as ops from "../../../lib/ggml/ops/mod.ts";
import { copyTensor, fillBytes, getBytes, getRows, setBytes, setRows } from "../../../lib/ggml/backend/tensor_copy.ts";
import { allocateIn, openReference } from "../reference.ts";

const { registry, device, live } = await openReference();
const cpu = registry.device("CPU");
/** Other test files of the same process may have some too. */
const before = live();

test("what a buffer type says, and buffers of it", () => {
  const type = cpu.bufferType;
  assert.equal(type.name, "CPU");
  assert.equal(type.isHost, true);
  assert.ok(type.equals(BufferType.cpu(registry.native)));
  assert.ok(Number.isInteger(Math.log2(type.alignment)));
  assert.equal(type.maxSize, Infinity);
  using buffer = type.alloc(1000);
  assert.equal(buffer.size, 1000);
  assert.equal(buffer.alignment, type.alignment);
  assert.ok(buffer.type.equals(type));
  assert.equal(buffer.usage, "any");
  buffer.usage = "weights";
  assert.equal(buffer.usage, "weights");
  assert.throws(() => buffer.usage = "other" as "any", { code: "INVALID_ARGUMENT", value: "other" });
  buffer.clear(7);
  assert.ok(buffer.bytes().every((byte) => byte === 7));
  assert.throws(() => buffer.clear(256), { code: "INVALID_ARGUMENT", value: 256 });
  using empty = type.alloc(0);
  assert.equal(empty.size, 0);
  assert.equal(empty.bytes().length, 0);
  empty.clear();
});

test("sizes that are no sizes, and more memory than there is", () => {
  for (const size of [-1, 1.5, NaN, Infinity, "9" as never, 9n as never]) {
    assert.throws(() => cpu.bufferType.alloc(size), { code: "INVALID_ARGUMENT" });
  }
  for (const type of [cpu.bufferType, device.bufferType]) {
    assert.throws(() => type.alloc(Number.MAX_SAFE_INTEGER), { code: "ALLOCATION", value: Number.MAX_SAFE_INTEGER });
    assert.throws(() => type.alloc(2 ** 46), { code: "ALLOCATION" });
  }
});

test("after its end a buffer is refused, and its tensors have no memory", async () => {
  using context = await GgmlContext.create();
  const tensor = context.tensor("f32", [4], "t");
  const buffer = cpu.bufferType.alloc(256);
  new LinearAllocator(buffer).alloc(tensor);
  tensor.write([1, 2, 3, 4]);
  buffer[Symbol.dispose]();
  buffer[Symbol.dispose]();
  assert.throws(() => buffer.size, { code: "DISPOSED" });
  assert.throws(() => buffer.clear(), { code: "DISPOSED" });
  assert.throws(() => tensor.read(), { code: "NOT_ALLOCATED" });
  using graph = new Graph(context).forward(ops.sqr(context, tensor));
  using backend = cpu.open({ threads: 1 });
  assert.throws(() => backend.computeSync(graph), { code: "NOT_ALLOCATED" });
  await assert.rejects(backend.compute(graph), { code: "NOT_ALLOCATED" });
});

test("memory of JavaScript as a buffer, without a copy", async () => {
  const bytes = cpu.alignedBytes(64);
  using buffer = cpu.bufferFromBytes(bytes);
  using context = await GgmlContext.create();
  const tensor = context.tensor("f32", [4]);
  new LinearAllocator(buffer).alloc(tensor);
  tensor.write([1, 2, 3, 4]);
  assert.deepEqual([...new Float32Array(bytes.buffer, bytes.byteOffset, 4)], [1, 2, 3, 4]);
  new Float32Array(bytes.buffer, bytes.byteOffset, 4)[2] = 9;
  assert.deepEqual([...tensor.read()], [1, 2, 9, 4]);
});

test("an array at a bad address, and a device that takes none", () => {
  const bytes = cpu.alignedBytes(64);
  assert.throws(() => cpu.bufferFromBytes(bytes.subarray(1)), { code: "INVALID_ARGUMENT", message: /multiple of/ });
  assert.throws(() => cpu.bufferFromBytes(new Uint8Array(0)), { code: "INVALID_ARGUMENT" });
  assert.throws(() => cpu.bufferFromBytes("text" as never), { code: "INVALID_ARGUMENT" });
  assert.throws(() => cpu.bufferFromBytes(new Uint8Array(new SharedArrayBuffer(64)) as never), {
    code: "INVALID_ARGUMENT",
  });
  assert.throws(() => device.bufferFromBytes(bytes), { code: "BACKEND", message: /alloc/ });
  for (const size of [0, -1, 2 ** 40]) assert.throws(() => cpu.alignedBytes(size), { code: "INVALID_ARGUMENT" });
});

for (const { name, bufferType } of [cpu, device]) {
  test(`bytes of tensors in memory of ${name}: whole, in part, by rows, set, copied`, async () => {
    using context = await GgmlContext.create();
    const a = context.tensor("f32", [4, 3], "a");
    const b = context.tensor("f32", [4, 3], "b");
    using _ = allocateIn(context, bufferType);
    fillBytes(a, 0);
    setBytes(a, Float32Array.of(1, 2), 4);
    const part = new Float32Array(3);
    getBytes(a, part);
    assert.deepEqual([...part], [0, 1, 2]);
    setRows(a, Float32Array.of(7, 8, 9), { size: 4, count: 3, tensorStride: 16 });
    assert.deepEqual([...a.read()], [7, 1, 2, 0, 8, 0, 0, 0, 9, 0, 0, 0]);
    const column = new Float32Array(6);
    getRows(a, column, { size: 4, count: 3, tensorStride: 16, dataStride: 8 });
    assert.deepEqual([...column], [7, 0, 8, 0, 9, 0]);
    copyTensor(a, b);
    assert.deepEqual([...b.read()], [...a.read()]);
    fillBytes(b, 255, 0, 4);
    assert.ok(Number.isNaN(b.read()[0]));
  });
}

test("ranges outside of a tensor, and other layouts, are refused", async () => {
  using context = await GgmlContext.create();
  const a = context.tensor("f32", [4, 3], "a");
  const b = context.tensor("f32", [3, 4], "b");
  const late = (): void => setBytes(a, new Float32Array(1));
  assert.throws(late, { code: "NOT_ALLOCATED", message: /"a"/ });
  using _ = allocateIn(context, cpu.bufferType);
  assert.throws(() => setBytes(a, new Float32Array(13)), { code: "INVALID_ARGUMENT", value: 52 });
  assert.throws(() => setBytes(a, new Float32Array(1), 46), { code: "INVALID_ARGUMENT" });
  assert.throws(() => getBytes(a, new Float32Array(1), -4), { code: "INVALID_ARGUMENT", value: -4 });
  assert.throws(() => setBytes(a, [1] as never), { code: "INVALID_ARGUMENT" });
  assert.throws(() => fillBytes(a, 0, 0, 49), { code: "INVALID_ARGUMENT", value: 49 });
  assert.throws(() => setRows(a, new Float32Array(3), { size: 4, count: 4, tensorStride: 16 }), {
    code: "INVALID_ARGUMENT",
  });
  assert.throws(() => setRows(a, new Float32Array(2), { size: 4, count: 3, tensorStride: 16 }), {
    code: "INVALID_ARGUMENT",
    message: /array/,
  });
  assert.throws(() => copyTensor(a, b), { code: "INVALID_ARGUMENT", message: /4 × 3/ });
});

test("asynchronous copies are done after synchronize, also from one backend to another", async () => {
  using one = cpu.open({ threads: 1 });
  using other = device.open();
  using host = await GgmlContext.create();
  using far = await GgmlContext.create();
  const a = host.tensor("f32", [4, 2]);
  const b = far.tensor("f32", [4, 2]);
  using _a = allocateIn(host, one.bufferType);
  using _b = allocateIn(far, other.bufferType);
  one.setAsync(a, Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8));
  one.copyAsync(a, b, other);
  one.synchronize();
  other.synchronize();
  const found = new Float32Array(8);
  other.getAsync(b, found);
  other.synchronize();
  assert.deepEqual([...found], [1, 2, 3, 4, 5, 6, 7, 8]);
  other.setRowsAsync(b, Float32Array.of(0, 0), { size: 4, count: 2, tensorStride: 16 });
  other.synchronize();
  const rows = new Float32Array(4);
  other.getRowsAsync(b, rows, { size: 8, count: 2, tensorStride: 16 });
  other.synchronize();
  assert.deepEqual([...rows], [0, 2, 0, 6]);
  assert.throws(() => other.getAsync(b, found, 4), { code: "INVALID_ARGUMENT" });
});

test("events: our own backend has them, the CPU has none", () => {
  using backend = device.open();
  using one = cpu.open({ threads: 1 });
  const event = device.event();
  event.record(backend);
  event.wait(backend);
  event.synchronize();
  assert.throws(() => event.record(one), { code: "BACKEND", message: /CPU has no events/ });
  assert.throws(() => event.wait(one), { code: "BACKEND" });
  event[Symbol.dispose]();
  assert.throws(() => event.synchronize(), { code: "DISPOSED" });
  assert.throws(() => cpu.event(), { code: "BACKEND", message: /no events/ });
});

test("nothing of our backend is left", () => assert.deepEqual(live(), before));
