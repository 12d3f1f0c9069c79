/** Graphs on a backend. */

import {
  allocateContext,
  type Backend,
  computeSync,
  GgmlContext,
  Graph,
  GraphAllocator,
  GraphCopy,
  LinearAllocator,
  ops,
  type Tensor,
} from "../../../../lib/ggml/mod.ts";
import type { Recipe, Stage } from "../../scene.ts";
import { context, cpu, lose, places, products } from "./parts.ts";

/** Computes a graph on a backend so that the scene comes into its state. */
async function work(
  stage: Stage,
  backend: Backend,
  graph: Graph | GraphCopy,
  last: Tensor | undefined,
): Promise<void> {
  if (stage.state === "in use") await stage.during(backend.compute(graph));
  if (stage.state === "lost") await lose(stage, last, () => backend.compute(graph));
}

/** Tensors in the context's own memory. */
const own: Recipe = {
  name: "own memory",
  states: ["fresh", "in use", "disposed"],
  async make(stage) {
    const { context: made, tensors, graph, fill } = products(
      await GgmlContext.create({ dataBytes: 1 << 22, maxTensors: 64 }),
      stage,
    );
    fill();
    const backend = cpu(stage);
    stage.keep(made, graph, ...tensors, ...places(backend));
    await work(stage, backend, graph, tensors.at(-1));
  },
};

/** Tensors in a buffer. */
const buffered: Recipe = {
  name: "buffer",
  states: ["fresh", "in use", "disposed", "lost"],
  async make(stage) {
    const { context: made, tensors, graph, fill } = products(await context(false), stage);
    const backend = cpu(stage);
    const buffer = allocateContext(made, backend.bufferType);
    fill();
    const [spare, room] = [backend.bufferType.alloc(4096), await context(false)];
    const linear = new LinearAllocator(spare);
    const loose = room.tensor("f32", [4]);
    stage.keep(made, graph, buffer, ...tensors, ...places(backend), spare, linear, room, loose);
    await work(stage, backend, graph, tensors.at(-1));
  },
};

/** A graph allocator's tensors. */
const allocated: Recipe = {
  name: "graph allocator",
  states: ["fresh", "in use", "disposed", "lost"],
  async make(stage) {
    const { context: made, tensors, graph, fill } = products(await context(false), stage);
    const backend = cpu(stage);
    const allocator = new GraphAllocator(backend.bufferType);
    allocator.alloc(graph);
    fill();
    const linear = new LinearAllocator(backend.bufferType.alloc(4096));
    stage.keep(allocator, made, graph, ...tensors, ...places(backend), linear, linear.buffer);
    await work(stage, backend, graph, tensors.at(-1));
  },
};

/** A copy of a graph for a backend, and a plan. */
const copied: Recipe = {
  name: "graph copy",
  states: ["fresh", "in use", "disposed", "lost"],
  async make(stage) {
    const { context: made, tensors, graph, fill } = products(await context(false), stage);
    const backend = cpu(stage);
    allocateContext(made, backend.bufferType);
    fill();
    const copy = new GraphCopy(backend, graph);
    stage.keep(copy, made, graph, ...tensors, ...copy.nodes, ...places(backend), backend.plan(graph));
    await work(stage, backend, copy, copy.nodes.at(-1));
  },
};

/** An operator in TypeScript, which makes calls while the graph that it is in is computed. */
const custom: Recipe = {
  name: "custom operator",
  states: ["in callback"],
  async make(stage) {
    const { below, act } = stage;
    const made = await GgmlContext.create({ dataBytes: 1 << 18, maxTensors: 64 });
    const [a, b] = [made.tensor("f32", [4]), made.tensor("f32", [4])];
    const asked = ops.mapCustom(made, [a], () => act());
    const sum = ops.add(made, asked, ops.sqr(made, b));
    const last = ops.mapCustom(made, [sum, b], () => act());
    const graph = new Graph(made).forward(last);
    const backend = cpu(stage);
    const other = products(await context(true), stage);
    const [linear, allocator] = [
      new LinearAllocator(backend.bufferType.alloc(4096)),
      new GraphAllocator(backend.bufferType),
    ];
    const plan = backend.plan(other.graph);
    stage.keep(made, a, b, asked, sum, last, graph, ...places(backend), linear, linear.buffer, allocator, plan);
    stage.keep(other.context, other.graph, new GraphCopy(backend, other.graph));
    if (below(4) > 0) computeSync(graph);
    else backend.computeSync(graph);
  },
};

/** The recipes. */
export const graphs: readonly Recipe[] = [own, buffered, allocated, copied, custom];
