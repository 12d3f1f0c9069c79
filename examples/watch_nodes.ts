// A small tensor program on a native thread, each node shown while the computation waits for it:
// deno run -A examples/watch_nodes.ts, or: bun examples/watch_nodes.ts
import { GgmlContext, Graph, ops, Registry, Scheduler } from "../lib/ggml/mod.ts";

const registry = await Registry.open();
for (const { name, kind, capabilities } of registry.devices.map((device) => device.properties)) {
  console.log(`device ${name} (${kind}), events: ${capabilities.events}`);
}
using backend = registry.best().open({ threads: 1 });
using cpu = registry.device("CPU").open({ threads: 1 });
using scheduler = new Scheduler(backend.device.kind === "cpu" ? [cpu] : [backend, cpu]);

using context = await GgmlContext.create();
const weights = context.tensor("f32", [2, 3], "weights").setInput();
const input = context.tensor("f32", [2, 1], "input").setInput();
const scores = ops.mulMat(context, weights, input).setName("scores");
const chances = ops.softMax(context, scores).setName("chances").setOutput();
using graph = new Graph(context).forward(chances);

scheduler.allocate(graph);
weights.write([1, 0, 0, 1, 1, 1]);
input.write([2, 1]);
for await (const node of scheduler.evaluate(graph)) {
  console.log(`${node.name} = ${[...node.read()].map((value) => Number(value).toFixed(3)).join(", ")}`);
}
