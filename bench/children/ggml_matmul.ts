/** Products of matrices through the graph API, as `bench/ggml_matmul.c` makes them: THREADS SIZE. */
import process from "node:process";
import { createInterface } from "node:readline";
import { allocateContext, type Backend, GgmlContext, Graph, ops, Registry, type Tensor } from "../../lib/ggml/mod.ts";

interface Product {
  readonly graph: Graph;
  readonly result: Tensor;
}

const [threads, size] = process.argv.slice(2).map(Number) as [number, number];
const registry = await Registry.open();
const backend = registry.device("CPU").open({ threads });

function make(on: Backend, type: "f32" | "q4_0"): Product {
  const context = new GgmlContext(on.native, { maxTensors: 16 });
  const a = context.tensor(type, [size, size]);
  const b = context.tensor("f32", [size, size]);
  const result = ops.mulMat(context, a, b);
  const graph = new Graph(context).forward(result);
  allocateContext(context, on);
  const values = Float32Array.from(
    { length: size * size },
    (_, i) => Math.fround(Math.fround((i * 37) % 101) / 101) - 0.5,
  );
  a.write(values);
  b.write(values);
  return { graph, result };
}

const products = { f32: make(backend, "f32"), q4_0: make(backend, "q4_0") };
console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const { graph, result } = products[line as "f32"];
  const start = performance.now();
  await backend.compute(graph);
  const ms = performance.now() - start;
  const looked = performance.now();
  const values = result.view() as Float32Array;
  const viewMs = performance.now() - looked;
  let sum = 0;
  for (let at = 0; at < size; at++) sum += values[at] ?? 0;
  console.log(JSON.stringify({ ms, sum, viewMs, bytes: values.byteLength }));
}
