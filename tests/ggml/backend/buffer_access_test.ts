// Memory in which weights are rearranged takes whole weights of some types, and gives nothing back.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  allocateContext,
  BufferType,
  copyTensor,
  fillBytes,
  getBytes,
  getRows,
  GgmlContext,
  Graph,
  GraphCopy,
  ops,
  Registry,
  setBytes,
  setRows,
} from "../../../lib/ggml/mod.ts";

const registry = await Registry.open();
const device = registry.device("CPU");
const rearranging = device.extraBufferTypes.find(({ name }) => name === "CPU_REPACK");
const unsupported = { code: "UNSUPPORTED_OPERATION" };

test("what such memory can't do is refused", { skip: rearranging === undefined && "this CPU has none" }, async () => {
  using backend = device.open({ threads: 1 });
  using context = await GgmlContext.create({ maxTensors: 8 });
  using plain = await GgmlContext.create({ maxTensors: 8 });
  const [weights, numbers] = [context.tensor("q4_0", [64, 16]), context.tensor("f32", [4])];
  using _buffer = allocateContext(context, rearranging!);
  const [q4, f32, x] = [plain.tensor("q4_0", [64, 16]), plain.tensor("f32", [4]), plain.tensor("f32", [64, 1])];
  const product = ops.mulMat(plain, weights, x);
  using graph = new Graph(plain).forward(product);
  using _plain = allocateContext(plain, BufferType.cpu(context.native));
  const bytes = new Uint8Array(weights.byteLength);
  const refused: readonly (() => unknown)[] = [
    () => weights.read(),
    () => numbers.readBytes(),
    () => numbers.write([1, 2, 3, 4]),
    () => weights.zero(),
    () => fillBytes(weights, 1),
    () => getBytes(numbers, new Uint8Array(4)),
    () => setBytes(weights, bytes.subarray(1)),
    () => setRows(weights, bytes, { size: 2, count: 1, tensorStride: 2 }),
    () => getRows(weights, bytes, { size: 2, count: 1, tensorStride: 2 }),
    () => copyTensor(weights, q4),
    () => copyTensor(f32, numbers),
    () => backend.getAsync(weights, bytes),
    () => backend.setAsync(weights, bytes.subarray(1)),
    () => new GraphCopy(backend, graph),
  ];
  for (const call of refused) assert.throws(call, unsupported, call.toString());
  // Whole weights go in, and are computed with.
  weights.write(Array.from({ length: 64 * 16 }, (_, index) => index < 64 ? 1 : -1));
  copyTensor(q4.write(new Float32Array(64 * 16).fill(1)), weights);
  x.write(new Float32Array(64).fill(1));
  await backend.compute(graph);
  assert.deepEqual([...product.read()].map((value) => Math.round(Number(value))), new Array(16).fill(64));
});
