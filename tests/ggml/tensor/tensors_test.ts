import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { open } from "../../../ffi/mod.ts";
import {
  allocateContext,
  BufferType,
  compareLayouts,
  computeSync,
  dequantize,
  fromHalf,
  GgmlContext,
  Graph,
  GraphAllocator,
  LinearAllocator,
  ops,
  quantize,
  quantizeTypes,
  rowSize,
  type Tensor,
  tensorLayout,
  toHalf,
  type TypeName,
  typeNames,
  validateRows,
} from "../../../lib/ggml/mod.ts";
import { tensorTypes } from "../../../lib/gguf/tensor_types.ts";

const native = await open();
const cpu = BufferType.cpu(native);

/** Types whose tables take seconds to make; QUANTIZE_ALL=1 has them too. */
const slow: readonly TypeName[] = ["iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs", "iq3_s"];

function errorOf(run: () => unknown): { code: string; message: string } {
  try {
    run();
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error("nothing was thrown");
}

test("types are the library's", () => {
  for (const { id, name, blockSize, typeSize } of tensorTypes.values()) {
    assert.equal(native.readCString(native.lib.ggml_type_name(id as 0)), name);
    assert.equal(Number(native.lib.ggml_blck_size(id as 0)), blockSize);
    assert.equal(Number(native.lib.ggml_type_size(id as 0)), typeSize);
    assert.equal(
      rowSize(name as TypeName, blockSize * 3),
      Number(native.lib.ggml_row_size(id as 0, BigInt(blockSize * 3))),
    );
  }
});

test("every type can be written and read", () => {
  using context = new GgmlContext(native, { maxTensors: 64, dataBytes: 1 << 20 });
  for (const type of typeNames.filter((name) => !["q8_1", "q8_K"].includes(name) && !slow.includes(name))) {
    const tensor = context.tensor(type, [256, 2], type);
    const values = Array.from({ length: 512 }, (_, at) => Math.round(Math.sin(at) * 10));
    tensor.write(type === "i64" ? values.map(BigInt) : values);
    const found = Array.from(tensor.read(), Number);
    const most = Math.max(...found.map((value, at) => Math.abs(value - values[at]!)));
    assert.ok(
      most <= (tensorTypes.values().find((one) => one.name === type)!.blockSize > 1 ? 8 : 0),
      `${type}: ${most}`,
    );
  }
});

test("quantise and dequantise: every type that can be, with importance where it is needed", async () => {
  const values = Float32Array.from({ length: 512 }, (_, at) => Math.sin(at * 0.37));
  const importance = new Float32Array(256).fill(1);
  for (const type of quantizeTypes.filter((name) => process.env["QUANTIZE_ALL"] === "1" || !slow.includes(name))) {
    const bytes = await quantize(type, values, 256, { importance });
    assert.equal(bytes.length, 2 * rowSize(type, 256), type);
    assert.ok(await validateRows(type, bytes), type);
    const back = await dequantize(type, bytes);
    const error = Math.sqrt(back.reduce((sum, value, at) => sum + (value - values[at]!) ** 2, 0) / 512);
    assert.ok(error < 0.45, `${type}: ${error}`);
  }
  await assert.rejects(quantize("iq2_xxs", values, 256), { code: "INVALID_ARGUMENT", message: /needs importance/ });
  await assert.rejects(quantize("q4_0", values, 100), { code: "TENSOR_SHAPE" });
  await assert.rejects(quantize("q4_0", values, 96), { code: "INVALID_ARGUMENT", message: /whole rows/ });
  await assert.rejects(quantize("q8_K", values, 256), { code: "TENSOR_TYPE" });
  await assert.rejects(quantize("q4_0", new Float32Array([...values.slice(1), NaN]), 256), {
    code: "INVALID_ARGUMENT",
    message: /NaN/,
  });
  await assert.rejects(dequantize("i32", new Uint8Array(4)), { code: "TENSOR_TYPE" });
  await assert.rejects(dequantize("q4_0", new Uint8Array(17)), { code: "INVALID_ARGUMENT" });
});

test("16-bit floats", async () => {
  for (const type of ["f16", "bf16"] as const) {
    const back = await fromHalf(type, await toHalf(type, new Float32Array([0.5, -3, 1e4])));
    assert.ok(back.every((value, at) => Math.abs(value - [0.5, -3, 1e4][at]!) <= 50));
  }
  await assert.rejects(toHalf("f8" as "f16", new Float32Array(1)), { code: "INVALID_ARGUMENT" });
});

test("a full context, bad shapes and types", () => {
  using context = new GgmlContext(native, { maxTensors: 2 });
  context.tensor("f32", [1]);
  context.tensor("f32", [1]);
  assert.equal(errorOf(() => context.tensor("f32", [1])).code, "CONTEXT_FULL");
  using small = new GgmlContext(native, { dataBytes: 4096 });
  assert.equal(errorOf(() => small.tensor("f32", [1 << 24])).code, "CONTEXT_FULL");
  const a = small.tensor("f32", [30, 30]);
  assert.equal(errorOf(() => ops.outProd(small, ops.repeat(small, a, [900, 900]), a)).code, "CONTEXT_FULL");
  for (const shape of [[], [1, 1, 1, 1, 1], [-1], [0.5], [2 ** 31], "12", [NaN], [2 ** 30, 2 ** 30, 2 ** 30]]) {
    assert.match(errorOf(() => small.tensor("f32", shape as number[])).code, /INVALID_ARGUMENT|TENSOR_SHAPE/);
  }
  assert.equal(errorOf(() => small.tensor("f33" as "f32", [1])).code, "INVALID_ARGUMENT");
  assert.equal(errorOf(() => small.tensor("q4_0", [33])).code, "TENSOR_SHAPE");
  assert.equal(errorOf(() => new GgmlContext(native, { dataBytes: 2 ** 39 })).code, "ALLOCATION");
  assert.equal(errorOf(() => new GgmlContext(native, { size: 1 } as never)).code, "INVALID_ARGUMENT");
  assert.equal(errorOf(() => a.setName("ü".repeat(32))).code, "INVALID_ARGUMENT");
  assert.equal(errorOf(() => a.write([1])).code, "INVALID_ARGUMENT");
  assert.equal(errorOf(() => a.write("abc" as never)).code, "INVALID_ARGUMENT");
  assert.equal(errorOf(() => ops.sqr(small, a).setParam()).code, "GRAPH");
  assert.equal(errorOf(() => a.setLoss()).code, "TENSOR_SHAPE");
});

test("use after dispose and reset; views are detached", () => {
  const weights = new GgmlContext(native, { dataBytes: 4096 });
  using context = new GgmlContext(native, { dataBytes: 4096 });
  const a = weights.from([1, 2, 3]);
  const b = ops.sqr(context, a);
  using graph = new Graph(context).forward(b);
  const seen = a.view();
  assert.equal(seen.length, 3);
  weights.dispose();
  weights.dispose();
  assert.equal(seen.length, 0);
  for (
    const use of [
      () => a.read(),
      () => a.name,
      () => graph.nodes,
      () => computeSync(graph),
      () => ops.sqr(context, a),
      () => weights.tensor("f32", [1]),
    ]
  ) {
    assert.equal(errorOf(use).code, "DISPOSED");
  }
  context.reset();
  assert.equal(errorOf(() => b.shape && b.read()).code, "DISPOSED");
  assert.equal(context.usedBytes, 0);
  graph.dispose();
  assert.equal(errorOf(() => graph.length).code, "DISPOSED");
});

test("a 64 MiB tensor is read without a copy", () => {
  using context = new GgmlContext(native);
  const big = context.tensor("f32", [4096, 4096]);
  using buffer = allocateContext(context, cpu);
  const values = big.view() as Float32Array;
  assert.equal(values.byteLength, 64 * 2 ** 20);
  values[12345] = 42;
  assert.equal((big.view() as Float32Array)[12345], 42);
  assert.equal(native.addressOf(values), big.struct.data);
  buffer[Symbol.dispose]();
  assert.equal(values.length, 0);
});

test("layouts", () => {
  using context = new GgmlContext(native);
  const a = context.tensor("f32", [3, 4, 2]);
  const plain = tensorLayout(a);
  assert.deepEqual([plain.contiguous, plain.transposed, plain.matrix, plain.threeDimensional, plain.elementSize], [
    true,
    false,
    false,
    true,
    4,
  ]);
  assert.equal(tensorLayout(ops.transpose(context, a)).transposed, true);
  assert.deepEqual(compareLayouts(context.tensor("f32", [3, 2]), a), {
    sameShape: false,
    sameStrides: false,
    repeatable: true,
  });
});

test("graphs: table, DOT, room, names, copies, selection", () => {
  using context = new GgmlContext(native, { dataBytes: 1 << 16 });
  const a = context.from([1, 2, 3]).setName('a "name"');
  const [square, root] = [ops.sqr(context, a).setName("square"), ops.sqrt(context, a).setName("root")];
  using graph = new Graph(context, { size: 8 });
  assert.equal(graph.select([square, root], 1).name, "root");
  computeSync(graph);
  assert.deepEqual([...root.read()].map((one) => Number(one).toFixed(3)), ["1.000", "1.414", "1.732"]);
  assert.deepEqual(graph.table().map(({ index, name, sources }) => [index, name, sources]), [[-1, 'a "name"', []], [
    0,
    "square",
    [-1],
  ], [1, "root", [-1]]]);
  assert.match(graph.toDot(), /leaf0 \[label="a \\"name\\"\\nf32 \[3\]", fillcolor="lightgrey"\];/);
  assert.match(graph.toDot(), /leaf0 -> node1 \[label="0"\];/);
  assert.equal(graph.get("square")?.op, "SQR");
  assert.equal(graph.get("none"), undefined);
  using copy = graph.copy({ size: 20 });
  assert.equal(copy.length, 2);
  assert.equal(copy.size, 20);
  let long: Tensor = a;
  for (let at = 0; at < 9; at++) long = ops.sqr(context, long);
  assert.equal(errorOf(() => graph.forward(long)).code, "GRAPH");
  assert.equal(errorOf(() => graph.node(2)).code, "INVALID_ARGUMENT");
  assert.equal(graph.clear().length, 0);
  assert.equal(errorOf(() => graph.backward(context)).code, "GRAPH");
});

test("gradients that ggml would abort on are refused", () => {
  using context = new GgmlContext(native, { dataBytes: 1 << 20 });
  const x = context.tensor("f32", [4, 3]).write(Array.from({ length: 12 }, (_, at) => at)).setParam();
  const back = (loss: Tensor): void => {
    using graph = new Graph(context, { gradients: true }).forward(loss);
    graph.backward(context);
  };
  const sum = (tensor: Tensor): Tensor => ops.sum(context, tensor).setLoss();
  assert.match(errorOf(() => back(sum(ops.gelu(context, x)))).message, /GELU/);
  assert.match(errorOf(() => back(sum(ops.sqr(context, x, { inPlace: true })))).message, /in place/);
  assert.match(errorOf(() => back(sum(ops.norm(context, x)))).message, /NORM/);
  assert.match(errorOf(() => back(ops.sum(context, ops.sqr(context, x)))).message, /no loss/);
  assert.match(errorOf(() => back(sum(ops.sqr(context, context.tensor("f32", [2]))))).message, /no parameter/);
  const turned = ops.cont(context, ops.transpose(context, ops.sqr(context, x)));
  assert.match(errorOf(() => back(sum(turned))).message, /permuted/);
  back(sum(ops.sqr(context, x)));
});

test("accumulated gradients add up until the next reset", () => {
  using context = new GgmlContext(native, { dataBytes: 1 << 16 });
  const x = context.from([1, 2]).setParam();
  using graph = new Graph(context, { gradients: true }).forward(ops.sum(context, ops.sqr(context, x)).setLoss());
  graph.backward(context, { accumulate: true }).reset();
  computeSync(graph);
  assert.deepEqual([...graph.gradient(x)!.read()], [2, 4]);
  computeSync(graph);
  assert.deepEqual([...graph.accumulator(x)!.read()], [4, 8]);
  graph.reset();
  computeSync(graph);
  assert.deepEqual([...graph.accumulator(x)!.read()], [2, 4]);
});

test("graph allocator: growth, inputs, a second graph, several buffers", () => {
  using context = new GgmlContext(native);
  const x = context.tensor("f32", [4], "x").setInput();
  const y = ops.sqr(context, ops.sqr(context, x)).setOutput();
  using graph = new Graph(context).forward(y);
  const allocator = new GraphAllocator(cpu);
  const [wanted] = allocator.sizesFor(graph);
  assert.deepEqual(allocator.bufferSizes, [0]);
  const first = allocator.alloc(graph);
  assert.deepEqual([first.grew, first.inputs.map(({ name }) => name)], [true, ["x"]]);
  assert.deepEqual(allocator.bufferSizes, [wanted]);
  x.write([1, 2, 3, 4]);
  computeSync(graph);
  assert.deepEqual([...y.read()], [1, 16, 81, 256]);
  assert.deepEqual(allocator.alloc(graph), { grew: false, inputs: [] });
  assert.deepEqual([...y.read()], [1, 16, 81, 256]);
  const z = ops.mulMat(context, context.tensor("f32", [64, 64]), context.tensor("f32", [64, 64])).setOutput();
  using second = new Graph(context).forward(z);
  assert.deepEqual([allocator.alloc(second).grew, allocator.alloc(second).grew], [true, false]);
  assert.equal(errorOf(() => y.read()).code, "NOT_ALLOCATED");
  assert.equal(errorOf(() => computeSync(graph)).code, "NOT_ALLOCATED");
  assert.deepEqual([allocator.alloc(graph).grew, allocator.alloc(graph).grew], [false, false]);
  using two = new GraphAllocator(cpu, cpu);
  assert.equal(errorOf(() => two.alloc(second)).code, "GRAPH");
  assert.equal(errorOf(() => two.reserve(second, () => 2)).code, "INVALID_ARGUMENT");
  assert.equal(two.reserve(second, () => 1).alloc(second).inputs.length, 2);
  allocator.dispose();
  assert.equal(errorOf(() => x.read()).code, "NOT_ALLOCATED");
  assert.equal(errorOf(() => allocator.alloc(graph)).code, "DISPOSED");
  assert.equal(errorOf(() => new GraphAllocator()).code, "INVALID_ARGUMENT");
});

test("more memory than there is", () => {
  using context = new GgmlContext(native);
  const big = context.tensor("f32", [1 << 20, 1 << 20, 16]);
  using graph = new Graph(context).forward(ops.sqr(context, big).setOutput());
  using allocator = new GraphAllocator(cpu);
  assert.equal(errorOf(() => allocator.alloc(graph)).code, "ALLOCATION");
  assert.equal(errorOf(() => allocateContext(context, cpu)).code, "ALLOCATION");
  assert.equal(big.isAllocated, false);
  const small = context.tensor("f32", [4]).setInput();
  const fine = ops.sqr(context, small).setOutput();
  using next = new Graph(context).forward(fine);
  assert.equal(allocator.alloc(next).inputs.length, 1);
  small.write([1, 2, 3, 4]);
  computeSync(next);
  assert.deepEqual([...fine.read()], [1, 4, 9, 16]);
});

test("linear allocator and context at once", () => {
  using context = new GgmlContext(native);
  const [a, b] = [context.tensor("f32", [100]), context.tensor("f32", [100])];
  const part = ops.view(context, a, [10]);
  const buffer = cpu.alloc(600);
  const allocator = new LinearAllocator(buffer);
  assert.equal(allocator.alloc(a).usedBytes, 416);
  assert.equal(errorOf(() => allocator.alloc(b)).code, "ALLOCATION");
  assert.equal(errorOf(() => allocator.alloc(a)).code, "INVALID_ARGUMENT");
  assert.equal(errorOf(() => allocator.alloc(part)).code, "INVALID_ARGUMENT");
  buffer[Symbol.dispose]();
  assert.equal(a.isAllocated, false);
  using _all = allocateContext(context, cpu);
  assert.ok(part.isAllocated && b.isAllocated);
  assert.equal(errorOf(() => allocateContext(context, cpu)).code, "GRAPH");
  using own = new GgmlContext(native, { dataBytes: 4096 });
  assert.equal(errorOf(() => allocateContext(own, cpu)).code, "INVALID_ARGUMENT");
});

test("what a custom operator throws arrives; other backends refuse it", () => {
  using context = new GgmlContext(native, { dataBytes: 4096 });
  const a = context.from([1]);
  const bad = ops.mapCustom(context, [a], () => {
    throw new RangeError("mine");
  });
  using graph = new Graph(context).forward(bad);
  assert.throws(() => computeSync(graph), { name: "RangeError", message: "mine" });
  assert.equal(errorOf(() => ops.custom(context, [a], () => {}, {})).code, "INVALID_ARGUMENT");
  assert.equal(errorOf(() => ops.mapCustom(context, [], () => {})).code, "INVALID_ARGUMENT");
});

test("memory stays flat over 2,000 contexts, graphs and allocators that are disposed", () => {
  const round = (): void => {
    using context = new GgmlContext(native, { maxTensors: 64 });
    const y = ops.mulMat(context, context.tensor("f32", [64, 64]), context.tensor("f32", [64, 64])).setOutput();
    using graph = new Graph(context).forward(y);
    using allocator = new GraphAllocator(cpu);
    allocator.alloc(graph);
    y.view();
  };
  for (let at = 0; at < 500; at++) round();
  const before = process.memoryUsage().rss;
  for (let at = 0; at < 1500; at++) round();
  const grown = (process.memoryUsage().rss - before) / 2 ** 20;
  assert.ok(grown < 150, `grew by ${grown.toFixed(0)} MiB`);
});
