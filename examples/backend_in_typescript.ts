// A graph shared out between the CPU's kernels and a backend written in TypeScript:
// deno run -A examples/backend_in_typescript.ts, or: bun examples/backend_in_typescript.ts
import { GgmlContext, Graph, JsDevice, ops, Registry, Scheduler } from "../lib/ggml/mod.ts";

// Computes the squares itself, and says which nodes it was given.
using device = await JsDevice.create({
  name: "TypeScript",
  supports: ({ op, type }) => op === "SQR" && type === "f32",
  compute({ name, op, data, sources: [a] }) {
    (data as Float32Array).set((a!.data as Float32Array).map((value) => value ** 2));
    console.log(`TypeScript computes ${op} (${name})`);
  },
});

const registry = await Registry.open();
using mine = device.device.open();
using cpu = registry.device("CPU").open({ threads: 1 });
using scheduler = new Scheduler([mine, cpu]);

using context = await GgmlContext.create();
const x = context.tensor("f32", [3, 2], "x").setInput();
const y = context.tensor("f32", [3, 2], "y").setInput();
const difference = ops.sub(context, x, y).setName("difference");
const squares = ops.sqr(context, difference).setName("squares");
const distances = ops.sqrt(context, ops.sumRows(context, squares)).setName("distances").setOutput();
using graph = new Graph(context).forward(distances);

scheduler.assign(squares, mine);
scheduler.allocate(graph);
for (const node of graph.nodes) console.log(`${node.name || node.op}: ${scheduler.backendOf(node)?.name}`);

x.write([0, 0, 0, 1, 2, 3]);
y.write([3, 4, 0, 1, 2, 15]);
scheduler.computeSync(graph);
console.log(`${scheduler.splitCount} parts, distances ${[...distances.read()].join(" and ")}`);
