/** Objects of `./ggml` in states that random calls alone would seldom reach. */

import {
  allocateContext,
  type Backend,
  computeSync,
  GgmlContext,
  Graph,
  GraphAllocator,
  JsDevice,
  ops,
  Registry,
  Scheduler,
} from "../../../lib/ggml/mod.ts";
import type { Recipe } from "../machine.ts";
import { pick } from "../values.ts";

let registry: Registry | undefined;

async function cpu(threads = 1): Promise<Backend> {
  registry ??= await Registry.open();
  return registry.device("CPU").open({ threads });
}

/** A context whose tensors have memory, with a graph that can be computed at once. */
const withData: Recipe = async ({ below }, keep) => {
  const context = await GgmlContext.create({ dataBytes: 1 << 18 });
  const shape = pick(below, [[4], [3, 2], [4, 4], [2, 3, 2]]);
  const [a, b] = [context.tensor("f32", shape), context.tensor("f32", shape)];
  for (const one of [a, b]) one.write(new Float32Array(shape.reduce((product, size) => product * size)).fill(2));
  const sum = ops.add(context, a, b);
  const graph = new Graph(context).forward(sum);
  keep(context, a, b, sum, graph);
};

/** A context without memory, whose graph an allocator or a scheduler can take. */
const withoutData: Recipe = async ({ below }, keep) => {
  const context = await GgmlContext.create();
  const [a, b] = [context.tensor("f32", [4, 4]), context.tensor("f32", [4, 4])];
  const product = below(2) === 0 ? ops.mulMat(context, a, b) : ops.mul(context, a, b);
  const graph = new Graph(context).forward(product);
  keep(context, a, b, product, graph, await cpu());
};

/** A graph in a scheduler. */
const scheduled: Recipe = async (_, keep) => {
  const context = await GgmlContext.create();
  const a = context.tensor("f32", [4]);
  const graph = new Graph(context).forward(ops.sqr(context, a));
  const backend = await cpu();
  const scheduler = new Scheduler([backend]);
  scheduler.allocate(graph);
  keep(context, a, graph, backend, scheduler);
};

/** A context whose tensors lie in a buffer. */
const buffered: Recipe = async (_, keep) => {
  const context = await GgmlContext.create();
  const a = context.tensor("f32", [4, 2]);
  const backend = await cpu();
  keep(context, a, backend, allocateContext(context, backend.bufferType), new GraphAllocator(backend.bufferType));
};

/** An operator in TypeScript whose function does random things, computed at once. */
const custom: Recipe = async (source, keep) => {
  const context = await GgmlContext.create({ dataBytes: 1 << 18 });
  const a = context.tensor("f32", [4]);
  const call = source.callback({ kind: "undefined" }) as () => void;
  const graph = new Graph(context).forward(ops.mapCustom(context, [a], () => call()));
  keep(context, a, graph);
  computeSync(graph);
};

/** A device in TypeScript. */
const device: Recipe = async (source, keep) => {
  const call = source.callback({ kind: "undefined" }) as () => void;
  const mine = await JsDevice.create({ name: `js${source.below(1000)}`, supports: () => true, compute: () => call() });
  const [backend, second] = [mine.device.open(), await cpu()];
  const context = await GgmlContext.create();
  const graph = new Graph(context).forward(ops.sqr(context, context.tensor("f32", [4])));
  const scheduler = new Scheduler([backend, second]);
  keep(mine, backend, second, context, graph, scheduler);
  scheduler.computeSync(graph);
};

/** A computation that is under way while other calls are made. */
const underWay: Recipe = async ({ below }, keep) => {
  const context = await GgmlContext.create({ dataBytes: 1 << 22 });
  const size = 64 + below(64);
  const [a, b] = [context.tensor("f32", [size, size]), context.tensor("f32", [size, size])];
  for (const one of [a, b]) one.write(new Float32Array(size * size).fill(1));
  let node = ops.mulMat(context, a, b);
  for (let left = 4; left > 0; left--) node = ops.mulMat(context, node, b);
  const graph = new Graph(context).forward(node);
  const backend = await cpu(2);
  keep(context, a, b, graph, backend);
  void backend.compute(graph).catch(() => {});
};

/** The recipes, which a random driver mixes with calls. */
export const recipes: readonly Recipe[] = [withData, withoutData, scheduled, buffered, custom, device, underWay];
