import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { type NodeCheck, type ShownNodes, withNodeCallback } from "../scheduler/node_callback.ts";
import { type BackendPlace, withBackends } from "./compute.ts";

/** States of the gate: wait, continue, stop. */
export const gateStates = { wait: 0, go: 1, stop: 2 } as const;

/** Intervals at which a waiting thread checks for cancellation, and reports that it is alive. */
const POLL_MS = 50;
const ALIVE_MS = 5_000;

/** The nodes to show, and the signal to continue. */
export interface Watch {
  /** The nodes. */
  readonly nodes: readonly Pointer<"ggml_tensor">[];
  /** One word: a value of {@linkcode gateStates}. */
  readonly gate: SharedArrayBuffer;
}

/** Input of `computeScheduled`. */
export interface ScheduleInput {
  /** The scheduler. */
  readonly scheduler: Pointer<"ggml_backend_sched">;
  /** The graph that it has allocated. */
  readonly graph: Pointer<"ggml_cgraph">;
  /** Its backends. */
  readonly places: readonly BackendPlace[];
  /** Nodes that the caller wants to see as they are computed. */
  readonly watch?: Watch | undefined;
  /** Indices that are checked once the node before them was computed. */
  readonly checks: readonly NodeCheck[];
}

/** A node that was computed; without one a sign of life. */
export interface NodeMessage {
  /** The node. */
  readonly node?: Pointer<"ggml_tensor"> | undefined;
}

/** Computes a graph through a scheduler; returns the `ggml_status`. */
export function computeScheduled(input: ScheduleInput, context: TaskContext<NodeMessage>): number {
  const { scheduler, graph, places, watch, checks } = input;
  const { lib, native } = context;
  const compute = (): number => lib.ggml_backend_sched_graph_compute(scheduler, graph);
  const shown = watch === undefined ? undefined : shownNodes(watch, context);
  return withBackends(places, context, () => withNodeCallback(native, scheduler, { checks, shown }, compute));
}

/** The nodes that the caller wants to see, and what shows one and waits; `false` stops the computation. */
function shownNodes({ nodes, gate }: Watch, { cancelled, post }: TaskContext<NodeMessage>): ShownNodes {
  const word = new Int32Array(gate);
  const show = (node: Pointer<"ggml_tensor">): boolean => {
    Atomics.store(word, 0, gateStates.wait);
    post({ node });
    let shown = performance.now();
    while (Atomics.wait(word, 0, gateStates.wait, POLL_MS) === "timed-out") {
      if (cancelled()) return false;
      if (performance.now() - shown < ALIVE_MS) continue;
      post({});
      shown = performance.now();
    }
    return Atomics.load(word, 0) === gateStates.go;
  };
  return { nodes: new Set(nodes), show };
}
