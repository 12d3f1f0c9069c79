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

/** Products of square matrices. */
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
  if (state === "lost") node = ops.neg(context, node);
  tensors.push(node);
  const graph = new Graph(context).forward(node);
  const fill = () => {
    for (const one of [a, b]) one.write(new Float32Array(size * size).fill(1 / size));
  };
  return { context, tensors, graph, fill };
}

/** The number of no operator: native code aborts. Only the raw layer can write it. */
const NONE = 9_999;

/** Loses the native thread that computes a node, the result of `ops.neg`. */
export async function lose(stage: Stage, node: Tensor | undefined, work: () => Promise<unknown>): Promise<void> {
  if (node === undefined) return;
  const { op_params: operator } = node.struct;
  const right = operator[0] as number;
  operator[0] = NONE;
  try {
    await stage.lose(work());
  } finally {
    operator[0] = right;
  }
}

/** A context: with memory of its own for its tensors, or without. */
export async function context(own: boolean): Promise<GgmlContext> {
  return await GgmlContext.create({ maxTensors: 128, ...(own ? { dataBytes: 1 << 20 } : {}) });
}
