import { allocatePool } from "../tensor/allocate.ts";
import { boolean, integer, options, type RulesOf } from "../../../base/options.ts";
import { definePicture } from "../../../base/inspect.ts";
import type { Native, Pointer } from "../../../ffi/mod.ts";
import { graphLeaves } from "../../../ffi/mod.ts";
import { UnsupportedOperationError } from "../../errors.ts";
import { checkInteger, checkText, isArray, refuse } from "../../../base/check.ts";
import type { GgmlContext } from "../tensor/context.ts";
import { brands } from "../brands.ts";
import { addGradients } from "./backward.ts";
import { type GraphRow, graphTable, graphToDot } from "./export.ts";
import { countReached, shallowSteps } from "./walk.ts";
import { GraphCore, type GraphParts } from "./graph_core.ts";
import type { GraphReference } from "../tensor/references.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { GraphError } from "../tensor/errors.ts";
import { dataOf } from "../tensor/view.ts";

/** Options of {@linkcode Graph}. */
export interface GraphOptions {
  /** Capacity in nodes, and in leaves. 1 to 16,777,216, default 2,048. C: `ggml_new_graph_custom`'s `size`. */
  size?: number | undefined;
  /** Whether gradients can be added. Default false. C: `ggml_new_graph_custom`'s `grads`. */
  gradients?: boolean | undefined;
}

/** Options of {@linkcode Graph.backward}. */
export interface BackwardOptions {
  /** Gradients of several computations add up until the next {@linkcode Graph.reset}. Default false. C: `grad_accs`. */
  accumulate?: boolean | undefined;
}

/** C: `GGML_DEFAULT_GRAPH_SIZE`. */
const DEFAULT_SIZE = 2048;
const MAX_SIZE = 1 << 24;

const graphSpec = options(
  "Graph",
  {
    size: integer({ min: 1, max: MAX_SIZE, default: DEFAULT_SIZE }),
    gradients: boolean({ default: false }),
  } satisfies RulesOf<GraphOptions>,
);

const copySpec = options(
  "copy",
  {
    size: integer({ min: 1, max: MAX_SIZE }),
    gradients: boolean(),
  } satisfies RulesOf<GraphOptions>,
);

const backwardSpec = options(
  "backward",
  {
    accumulate: boolean({ default: false }),
  } satisfies RulesOf<BackwardOptions>,
);

/**
 * Operators in the order in which they are computed, with all that they need. Its memory is its own; the tensors stay their contexts'.
 * C: `struct ggml_cgraph`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { GgmlContext, Graph, ops } from "../mod.ts";
 *
 * using context = await GgmlContext.create({ dataBytes: 1 << 16 });
 * const x = context.from([1, 2, 3, 4]);
 * using graph = new Graph(context).forward(ops.sum(context, ops.sqr(context, x)));
 * assert.deepEqual(graph.nodes.map(({ op }) => op), ["SQR", "SUM"]);
 * ```
 */
export class Graph implements GraphReference, Disposable {
  /** The context whose tensors it computes. */
  readonly context: GgmlContext;
  /** Whether gradients can be added. */
  readonly gradients: boolean;
  readonly #core: GraphCore;

  /** Creates an empty graph. Throws InvalidArgumentError for a bad option, AllocationError when there isn't enough memory, DisposedError. */
  constructor(context: GgmlContext, options?: GraphOptions) {
    const { size, gradients } = graphSpec.check(options);
    brands.context.check("context", context).assertAlive();
    this.context = context;
    this.gradients = gradients;
    const made = makeGraph(context.native, size, gradients);
    this.#core = new GraphCore(context, made);
    brands.graph.add(this, this.#core);
  }

  /** The libraries that it came from. */
  get native(): Native {
    return this.context.native;
  }

  /** Its address, for the raw layer. Throws DisposedError once it or a context that it uses was disposed or reset. */
  get unsafePointer(): Pointer<"ggml_cgraph"> {
    this.#core.assertAlive();
    return this.#core.handle.pointer;
  }

  /**
   * Retains the graph, its context and its tensors for a computation until the returned function is called. Meanwhile the graph can't be changed and its
   * contexts can't be reset: GraphError says so.
   */
  retain(): () => void {
    return this.#core.retain();
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#core.handle.disposed;
  }

  /** Throws DisposedError once it or a context that it uses was disposed or reset. */
  assertAlive(): void {
    this.#core.assertAlive();
  }

  /** Capacity in nodes, and in leaves. C: `ggml_graph_size`. */
  get size(): number {
    return this.native.lib.ggml_graph_size(this.unsafePointer);
  }

  /** Number of nodes. C: `ggml_graph_n_nodes`. */
  get length(): number {
    return this.native.lib.ggml_graph_n_nodes(this.unsafePointer);
  }

  /** Its nodes in the order in which they are computed. C: `ggml_graph_nodes`. */
  get nodes(): Tensor[] {
    return Array.from({ length: this.length }, (_, index) => this.node(index));
  }

  /** The tensors that it needs and doesn't compute, in ggml's order. */
  get leaves(): Tensor[] {
    const found = graphLeaves(this.native, this.unsafePointer);
    if (found === undefined) {
      throw new UnsupportedOperationError(
        "the libraries lay graphs out in another way than the release that this one is for",
        {
          expected: "libraries of the same release",
        },
      );
    }
    return found.map((pointer) => brands.context.of(this.context).wrap(pointer));
  }

  /** All of its tensors: leaves, nodes, and what they are views of. */
  tensors(): Tensor[] {
    const found = new Map<bigint, Tensor>();
    const add = (tensor: Tensor | undefined): void => {
      if (tensor !== undefined && !found.has(tensor.unsafePointer)) found.set(tensor.unsafePointer, tensor);
    };
    this.leaves.forEach(add);
    for (const node of this.nodes) {
      node.sources.forEach(add);
      add(node.viewOf);
      add(node);
    }
    return [...found.values()];
  }

  /** One node; negative numbers count from the end. Throws InvalidArgumentError when there is none. C: `ggml_graph_node`. */
  node(index: number): Tensor {
    const { length } = this;
    if (length === 0) {
      throw new GraphError("the graph has no nodes yet", { value: index, expected: "a graph with nodes" });
    }
    checkInteger("the node's number", index, { min: -length, max: length - 1 });
    return brands.context.of(this.context).wrap(this.native.lib.ggml_graph_node(this.unsafePointer, index));
  }

  /** A node or leaf by its name; `undefined` when there is none. C: `ggml_graph_get_tensor`. */
  get(name: string): Tensor | undefined {
    const found = this.native.lib.ggml_graph_get_tensor(this.unsafePointer, checkText("the name", name));
    return found === null ? undefined : brands.context.of(this.context).wrap(found);
  }

  /**
   * Adds results, with all that they need and the graph hasn't yet.
   *
   * Throws GraphError when it has no capacity for them or is in use by a computation. C: `ggml_build_forward_expand`.
   */
  forward(...results: readonly Tensor[]): this {
    this.#core.assertUnlocked("add to");
    for (const result of results) {
      this.#take(result);
      this.#add(result, "ggml_build_forward_expand");
    }
    return this;
  }

  /** Adds a result with all that it needs without marking it as to be computed. Throws as {@linkcode Graph.forward} does. C: `ggml_build_forward_order`. */
  order(result: Tensor): this {
    this.#core.assertUnlocked("add to");
    this.#take(result);
    this.#add(result, "ggml_build_forward_order");
    return this;
  }

  /**
   * Adds several results, of which one is computed: the graph's form stays the same whichever it is. Gives that one.
   *
   * Throws GraphError when it has no capacity, InvalidArgumentError for a bad index. C: `ggml_build_forward_select`.
   */
  select(results: readonly Tensor[], index: number): Tensor {
    this.#core.assertUnlocked("add to");
    if (!isArray(results) || results.length === 0) refuse("the results", results, "an array of tensors");
    checkInteger("the index", index, { min: 0, max: results.length - 1 });
    for (const result of results) this.#take(result);
    this.#assertRoom(results);
    results.forEach((result, at) => {
      this.#addSteps(result, at === index ? "ggml_build_forward_expand" : "ggml_build_forward_order");
    });
    const pointers = BigUint64Array.from(results, ({ unsafePointer }) => unsafePointer);
    this.#core.version++;
    return brands.context.of(this.context).wrap(
      this.native.lib.ggml_build_forward_select(
        this.unsafePointer,
        this.native.addressOf(pointers),
        results.length,
        index,
      ),
    );
  }

  /**
   * Adds the gradients of the parameters with respect to the loss; the new tensors go into the context that is given. Before each computation
   * {@linkcode Graph.reset} sets the loss's own gradient to 1. With `accumulate` the gradients of several computations add up until the next reset.
   *
   * Throws GraphError when there is no parameter or no loss, an operator has no backward pass, the graph was made without gradients or has no capacity;
   * ContextFullError, DisposedError. C: `ggml_build_backward_expand`.
   *
   * ```ts
   * import assert from "node:assert/strict";
   * import { computeSync, GgmlContext, Graph, ops } from "../mod.ts";
   *
   * using context = await GgmlContext.create({ dataBytes: 1 << 16 });
   * const x = context.from([1, 2, 3]).setParam();
   * const loss = ops.sum(context, ops.sqr(context, x)).setLoss();
   * using graph = new Graph(context, { gradients: true }).forward(loss).backward(context);
   * graph.reset();
   * computeSync(graph);
   * assert.deepEqual([...graph.gradient(x)!.read()], [2, 4, 6]);
   * ```
   */
  backward(context: GgmlContext, options?: BackwardOptions): this {
    const { accumulate } = backwardSpec.check(options);
    brands.context.check("context", context).assertAlive();
    this.#core.assertUnlocked("add to");
    addGradients(this, context, accumulate);
    this.#core.version++;
    return this;
  }

  /** The gradient of a tensor; `undefined` when it has none. C: `ggml_graph_get_grad`. */
  gradient(tensor: Tensor): Tensor | undefined {
    const found = this.native.lib.ggml_graph_get_grad(
      this.unsafePointer,
      brands.tensor.check("tensor", tensor).unsafePointer,
    );
    return found === null ? undefined : brands.context.of(this.context).wrap(found);
  }

  /** The tensor in which gradients of several computations add up; `undefined` when there is none. C: `ggml_graph_get_grad_acc`. */
  accumulator(tensor: Tensor): Tensor | undefined {
    const found = this.native.lib.ggml_graph_get_grad_acc(
      this.unsafePointer,
      brands.tensor.check("tensor", tensor).unsafePointer,
    );
    return found === null ? undefined : brands.context.of(this.context).wrap(found);
  }

  /**
   * Sets the gradient of the loss to 1, other accumulated gradients and the momenta of AdamW to 0. Throws GraphError for a graph without gradients,
   * NotAllocatedError when one of them has no memory. C: `ggml_graph_reset`.
   */
  reset(): this {
    this.#core.assertUnlocked("reset");
    if (!this.gradients) throw new GraphError("the graph was made without gradients", { expected: "gradients: true" });
    for (const node of this.nodes) {
      const accumulator = this.accumulator(node);
      if (accumulator !== undefined) dataOf(accumulator);
      if (node.op === "OPT_STEP_ADAMW") node.sources.slice(2, 4).forEach((momentum) => momentum && dataOf(momentum));
    }
    this.native.lib.ggml_graph_reset(this.unsafePointer);
    return this;
  }

  /**
   * Another graph of the same nodes, with room for more when `size` says so. Throws InvalidArgumentError when it has less room, DisposedError.
   * C: `ggml_graph_cpy`.
   */
  copy(options?: GraphOptions): Graph {
    const { size = this.size, gradients = this.gradients } = copySpec.check(options);
    checkInteger("size", size, { min: this.size, max: MAX_SIZE });
    const copy = new Graph(this.context, { size, gradients: gradients || this.gradients });
    this.native.lib.ggml_graph_cpy(this.unsafePointer, copy.unsafePointer);
    return copy;
  }

  /** Its leaves and nodes as plain data: a table for `console.table`. */
  table(): GraphRow[] {
    return graphTable(this);
  }

  /** It in the DOT language of Graphviz. */
  toDot(): string {
    return graphToDot(this);
  }

  /** Removes all of its nodes, also when they went with a reset of its context. Throws GraphError while it is computed. C: `ggml_graph_clear`. */
  clear(): this {
    this.context.assertAlive();
    this.#core.handle.assertAlive();
    this.#core.assertUnlocked("clear");
    this.native.lib.ggml_graph_clear(this.#core.handle.pointer);
    this.#core.lifetime = undefined;
    this.#core.version++;
    return this;
  }

  /** Frees it; the tensors stay. A second call does nothing. */
  dispose(): void {
    this.#core.handle.dispose();
  }

  /** {@linkcode Graph.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  #add(result: Tensor, how: "ggml_build_forward_expand" | "ggml_build_forward_order"): void {
    this.#addSteps(result, how);
    this.native.lib[how](this.unsafePointer, result.unsafePointer);
    this.#core.version++;
  }

  /** Adds what a result needs from far away: ggml calls itself for each operand, and would run out of its stack. */
  #addSteps({ unsafePointer }: Tensor, how: "ggml_build_forward_expand" | "ggml_build_forward_order"): void {
    for (const step of shallowSteps(this.native, unsafePointer)) this.native.lib[how](this.unsafePointer, step);
  }

  #take(result: Tensor): void {
    brands.tensor.check("a result", result).assertAlive();
    brands.context.of(this.context).use(result.context);
    this.#assertRoom([result]);
    this.#core.lifetime ??= brands.context.of(this.context).lifetime;
  }

  #assertRoom(results: readonly Tensor[]): void {
    const { size } = this;
    const { nodes, leaves } = countReached(this.native, [...this.nodes, ...results]);
    if (nodes <= size && leaves <= size) return;
    throw new GraphError(
      `the graph has room for ${size} nodes and leaves, and needs ${Math.max(nodes, leaves)}; give it a larger size`,
      {
        value: size,
        expected: `size: ${Math.max(nodes, leaves)}`,
      },
    );
  }

  static {
    definePicture(
      Graph,
      "Graph",
      (graph) => `${graph.length} nodes, ${graph.leaves.length} leaves, at most ${graph.size}`,
    );
  }
}

/** A graph in a context of its own, just large enough. */
function makeGraph(native: Native, size: number, gradients: boolean): GraphParts {
  const { lib } = native;
  const bytes = Number(lib.ggml_graph_overhead_custom(BigInt(size), gradients));
  const pool = allocatePool(native, bytes, "a graph");
  const params = native.struct("ggml_init_params");
  params.mem_size = BigInt(bytes);
  params.mem_buffer = pool.address;
  params.no_alloc = true;
  const context = lib.ggml_init(params);
  let freed = false;
  const free = (): void => {
    if (freed) return;
    freed = true;
    lib.ggml_free(context);
    pool.release();
  };
  return { pointer: lib.ggml_new_graph_custom(context, BigInt(size), gradients), free };
}
