import type { Native } from "../../../ffi/mod.ts";
import { BackendError } from "../../errors.ts";
import type { Backend } from "./backend.ts";
import { Handle } from "../tensor/handle.ts";
import { assertNonNull } from "./non_null.ts";
import type { GraphReference } from "../tensor/references.ts";
import { statusError } from "./status.ts";

/**
 * A graph that a backend has prepared to compute often. The CPU has plans; most others have none.
 *
 * C: `ggml_backend_graph_plan_t`.
 */
export class GraphPlan implements Disposable {
  readonly #native: Native;
  readonly #backend: Backend;
  readonly #check: () => (() => void)[];
  readonly #handle: Handle<"ggml_backend_graph_plan_t">;

  /**
   * Made by {@linkcode Backend.plan}.
   *
   * @internal
   */
  constructor(backend: Backend, graph: GraphReference, check: () => (() => void)[]) {
    this.#native = backend.native;
    this.#backend = backend;
    this.#check = check;
    const { iface } = this.#native.structAt("ggml_backend", backend.unsafePointer);
    if (iface.graph_plan_create === null || iface.graph_plan_compute === null || iface.graph_plan_free === null) {
      throw new BackendError(`${backend.name} has no plans; use compute(graph)`, {
        value: backend.name,
        expected: "a backend with plans, such as CPU",
      });
    }
    const { lib } = this.#native;
    const { unsafePointer: owner } = backend;
    const holds = check();
    const pointer = lib.ggml_backend_graph_plan_create(owner, graph.unsafePointer);
    this.#handle = new Handle({
      what: "the plan of a graph",
      pointer: assertNonNull(pointer, "a plan"),
      free: (one) => {
        lib.ggml_backend_graph_plan_free(owner, one);
        for (const release of holds) release();
      },
    });
  }

  /** Computes the graph on the calling thread, which it blocks. Throws as {@linkcode Backend.compute} rejects. C: `ggml_backend_graph_plan_compute`. */
  computeSync(): void {
    const plan = this.#handle.pointer;
    const holds = this.#check();
    try {
      const status = this.#native.lib.ggml_backend_graph_plan_compute(this.#backend.unsafePointer, plan);
      const error = statusError(status, `computing a plan on ${this.#backend.name}`);
      if (error !== undefined) throw error;
    } finally {
      for (const release of holds) release();
    }
  }

  /** Frees it. C: `ggml_backend_graph_plan_free`. */
  [Symbol.dispose](): void {
    this.#handle[Symbol.dispose]();
  }
}
