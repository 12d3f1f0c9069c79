// A tensor program: attention of four queries over six keys, its graph as a table, and the gradient of a loss: deno run -A examples/tensors.ts, or:
// bun examples/tensors.ts
import { allocateContext, GgmlContext, Graph, ops, quantize, Registry, type Tensor } from "../lib/ggml/mod.ts";

const registry = await Registry.open();
using backend = registry.device("CPU").open({ threads: 1 });

// Tensors get memory when the whole program is known.
using context = await GgmlContext.create({ maxTensors: 200 });
const [size, queries, keys] = [32, 4, 6];
const x = context.tensor("f32", [size, queries], "x");
const weights = context.tensor("q8_0", [size, size], "weights");
const [k, v] = [context.tensor("f32", [size, keys], "k"), context.tensor("f32", [keys, size], "v")];

const q = ops.mulMat(context, weights, x).setName("q");
const scores = ops.softMax(context, ops.scale(context, ops.mulMat(context, k, q), 1 / Math.sqrt(size))).setName(
  "chances",
);
const result = ops.mulMat(context, v, scores).setName("result").setOutput();

using graph = new Graph(context).forward(result);
using _memory = allocateContext(context, backend);
const wave = (count: number, step: number): number[] => Array.from({ length: count }, (_, i) => Math.sin(i * step));
x.write(wave(size * queries, 0.7));
weights.writeBytes(await quantize("q8_0", Float32Array.from(wave(size * size, 0.3)), size));
k.write(wave(size * keys, 0.2));
v.write(wave(keys * size, 0.5));
await backend.compute(graph);

for (const { index, name, op, type, shape } of graph.table()) {
  if (index >= 0) console.log(`${name} = ${op} ${type} [${shape.slice(0, 2).join(", ")}]`);
}
// Not copied: the memory of the tensor itself.
const chances = scores.view() as Float32Array;
console.log(`chances of the first query: ${[...chances.subarray(0, keys)].map((one) => one.toFixed(2)).join(" ")}`);
console.log(`result: ${[...result.read()].slice(0, 3).map((one) => Number(one).toFixed(3)).join(" ")} …`);

// What doesn't fit is refused before ggml sees it.
try {
  ops.mulMat(context, weights, v);
} catch (error) {
  console.log(`refused: ${(error as Error).message}`);
}

// The slope of a loss, by ggml's backward pass.
using learning = await GgmlContext.create({ dataBytes: 1 << 16 });
const parameter: Tensor = learning.from([0.5, -1, 2]).setName("parameter").setParam();
const loss = ops.sum(learning, ops.sqr(learning, parameter)).setLoss();
using training = new Graph(learning, { gradients: true }).forward(loss).backward(learning).reset();
using cpu = registry.device("CPU").open({ threads: 1 });
await cpu.compute(training);
console.log(`loss ${loss.read()[0]}, gradient ${[...training.gradient(parameter)!.read()].join(" ")}`);
