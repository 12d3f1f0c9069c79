import { definePicture } from "../../../base/inspect.ts";
import type { Native } from "../../../ffi/mod.ts";
import { BackendError } from "../../errors.ts";
import type { Backend } from "./backend.ts";
import { brands } from "../brands.ts";
import { checkFunction, refuse } from "../../../base/check.ts";
import { Handle } from "../tensor/handle.ts";
import { assertNonNull } from "./non_null.ts";
import type { GraphReference } from "../tensor/references.ts";
import { statusError } from "./status.ts";

/** Does work with the plan's backend and graph, once they were checked, and returns what it gives. */
export type ComputePlan = <T>(work: () => T) => T;

let create: (backend: Backend, graph: GraphReference, run: ComputePlan) => GraphPlan;

/**
 * A graph that a backend has prepared to compute often. The CPU has plans; most others have none.
 *
 * C: `ggml_backend_graph_plan_t`.
 */
export class GraphPlan implements Disposable {
  readonly #native: Native;
  readonly #backend: Backend;
  readonly #run: ComputePlan;
  readonly #handle: Handle<"ggml_backend_graph_plan_t">;

  private constructor(backend: Backend, graph: GraphReference, run: ComputePlan) {
    brands.backend.check("backend", backend);
    checkFunction("run", run);
    if (!brands.graph.has(graph) && !brands.graphCopy.has(graph)) refuse("graph", graph, "a Graph");
    this.#native = backend.native;
    this.#backend = backend;
    this.#run = run;
    const { iface } = this.#native.structAt("ggml_backend", backend.unsafePointer);
    if (iface.graph_plan_create === null || iface.graph_plan_compute === null || iface.graph_plan_free === null) {
      throw new BackendError(`${backend.name} has no plans; use compute(graph)`, {
        value: backend.name,
        expected: "a backend with plans, such as CPU",
      });
    }
    const { lib } = this.#native;
    const { unsafePointer: owner } = backend;
    const pointer = run(() => lib.ggml_backend_graph_plan_create(owner, graph.unsafePointer));
    // The plan refers to the graph's own list of nodes.
    const releases = [graph.retain(), backend.retain()];
    this.#handle = new Handle({
      what: "the plan of a graph",
      pointer: assertNonNull(pointer, "a plan"),
      free: (one) => {
        lib.ggml_backend_graph_plan_free(owner, one);
        for (const release of releases) release();
      },
    });
  }

  /** Computes the graph on the calling thread, which it blocks. Throws as {@linkcode Backend.compute} rejects. C: `ggml_backend_graph_plan_compute`. */
  computeSync(): void {
    const { pointer } = this.#handle;
    const release = this.#handle.retain();
    try {
      const status = this.#run(() =>
        this.#native.lib.ggml_backend_graph_plan_compute(this.#backend.unsafePointer, pointer)
      );
      const error = statusError(status, `computing a plan on ${this.#backend.name}`);
      if (error !== undefined) throw error;
    } finally {
      release();
    }
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#handle.disposed;
  }

  /** Frees it; a second call does nothing. C: `ggml_backend_graph_plan_free`. */
  dispose(): void {
    this.#handle.dispose();
  }

  /** {@linkcode GraphPlan.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  static {
    create = (backend, graph, run) => new GraphPlan(backend, graph, run);
    definePicture(GraphPlan, "GraphPlan", (plan) => (plan.#handle.assertAlive(), `on ${plan.#backend.name}`));
  }
}

/** Returns a plan of a backend for a graph, which `run` checks before each use. */
export function createGraphPlan(backend: Backend, graph: GraphReference, run: ComputePlan): GraphPlan {
  return create(backend, graph, run);
}
