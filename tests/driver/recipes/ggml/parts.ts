/** What the recipes for `./ggml` share. */

import { type Backend, GgmlContext, Graph, ops, Registry, type Tensor } from "../../../../lib/ggml/mod.ts";
import type { Stage } from "../../scene.ts";
import { pick } from "../../values.ts";

/** The registry. */
export const registry: Registry = await Registry.open();

const idle: Backend[] = [];

/** A backend of the CPU: one from before, whose thread runs already, or a new one where it will be disposed or lost. */
export function cpu({ state, below }: Pick<Stage, "state" | "below">): Backend {
  if (state === "disposed" || state === "lost") return registry.device("CPU").open({ threads: 1 });
  const at = below(2);
  const known = idle[at];
  if (known !== undefined && !known.disposed) return known;
  return idle[at] = registry.device("CPU").open({ threads: 1 });
}

/** The registry and what it leads to. */
export function places(backend: Backend): unknown[] {
  const { device } = backend;
  return [registry, device, device.registration, device.bufferType, backend];
}

/** A graph and the tensors in it. */
export interface Work {
  readonly context: GgmlContext;
  readonly tensors: readonly Tensor[];
  readonly graph: Graph;
  /** Fills the inputs, once they have memory. */
  fill(): void;
}

/**
 * Products of square matrices. Where a thread shall be lost, an index that the graph computes lies outside of its tensor, which no check can see before:
 * native code aborts.
 */
export function products(context: GgmlContext, { state, below }: Pick<Stage, "state" | "below">): Work {
  const size = state === "in use" ? pick(below, [8, 64, 128, 192]) : pick(below, [1, 2, 4, 8]);
  const [a, b] = [context.tensor("f32", [size, size], "a"), context.tensor("f32", [size, size], "b")];
  const tensors = [a, b];
  let node = ops.mulMat(context, a, b);
  for (let left = below(6); left > 0; left--) {
    tensors.push(node);
    node = below(3) === 0 ? ops.add(context, node, b) : ops.mulMat(context, node, b);
  }
  if (below(3) === 0) {
    const rows = context.tensor("i32", [2], "rows");
    tensors.push(rows);
    node = ops.getRows(context, node, rows);
  }
  const scores = state === "lost" ? context.tensor("f32", [5], "scores") : undefined;
  if (scores !== undefined) node = ops.getRows(context, context.tensor("f32", [2, 3]), ops.argmax(context, scores));
  tensors.push(node);
  const graph = new Graph(context).forward(node);
  const fill = () => {
    for (const one of [a, b]) one.write(new Float32Array(size * size).fill(1 / size));
    scores?.write([0, 1, 2, 3, 4]);
  };
  return { context, tensors, graph, fill };
}

/** A context: with memory of its own for its tensors, or without. */
export async function context(own: boolean): Promise<GgmlContext> {
  return await GgmlContext.create({ maxTensors: 128, ...(own ? { dataBytes: 1 << 20 } : {}) });
}
