import assert from "node:assert/strict";
import { test } from "node:test";
import { Graph } from "../../lib/ggml/graph.ts";
import { GgmlContext } from "../../lib/ggml/context.ts";
import { Registry } from "../../lib/ggml/registry.ts";

const registry = await Registry.open();

test("an addition on the CPU backend, on the native thread and on the caller's", async () => {
  using cpu = registry.device("CPU").open({ threads: 1 });
  using context = await GgmlContext.create({ memory: 1 << 16 });
  const a = context.from([1, 2, 3]);
  const b = context.from([10, 20, 30]);
  const sum = context.build([a, b], (to) => context.native.lib.ggml_add(to, a.pointer, b.pointer));
  using graph = new Graph(context).forward(sum);
  await cpu.compute(graph);
  assert.deepEqual([...sum.read()], [11, 22, 33]);
  a.write([2, 3, 4]);
  cpu.computeSync(graph);
  assert.deepEqual([...sum.read()], [12, 23, 34]);
});
