import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { type BackendPlace, withBackends } from "./compute.ts";

/** States of the gate: wait, continue, stop. */
export const gateStates = { wait: 0, go: 1, stop: 2 } as const;

/** Intervals at which a waiting thread checks for cancellation, and reports that it is alive. */
const POLL_MS = 50;
const ALIVE_MS = 5_000;

/** Which nodes are shown, and how the thread hears to go on. */
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
}

/** A node that was computed; without one a sign of life. */
export interface NodeMessage {
  /** The node. */
  readonly node?: Pointer<"ggml_tensor"> | undefined;
}

/** Computes a graph through a scheduler; returns the `ggml_status`. */
export function computeScheduled(input: ScheduleInput, context: TaskContext<NodeMessage>): number {
  const { scheduler, graph, places, watch } = input;
  const compute = (): number => context.lib.ggml_backend_sched_graph_compute(scheduler, graph);
  return withBackends(
    places,
    context,
    () => watch === undefined ? compute() : watched(scheduler, watch, context, compute),
  );
}

function watched(
  scheduler: Pointer<"ggml_backend_sched">,
  { nodes, gate }: Watch,
  { native, lib, cancelled, post }: TaskContext<NodeMessage>,
  compute: () => number,
): number {
  const wanted = new Set<bigint>(nodes);
  const word = new Int32Array(gate);
  let stopped = false;
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
  using callback = native.callback("ggml_backend_sched_eval_callback", (node, ask) => {
    if (node === null) return true;
    // Once stopped, each part of the graph is left at its first node.
    if (ask) return stopped || wanted.has(node);
    stopped ||= !show(node);
    return !stopped;
  });
  lib.ggml_backend_sched_set_eval_callback(scheduler, callback.pointer, null);
  try {
    return compute();
  } finally {
    lib.ggml_backend_sched_set_eval_callback(scheduler, null, null);
  }
}
