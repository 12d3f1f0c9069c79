import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { computeParts, type GraphPart } from "../indices/parts.ts";

/** Addresses and settings to compute with a backend. Plain data. */
export interface BackendPlace {
  /** The backend. */
  readonly backend: Pointer<"ggml_backend">;
  /** Number of threads that it asks for; 1 for one without threads. */
  readonly threads: number;
  /** Its own function that sets them. C: `ggml_backend_set_n_threads_t`. */
  readonly setThreads: Pointer | undefined;
  /** Its own function that takes what stops it. C: `ggml_backend_set_abort_callback_t`. */
  readonly setAbort: Pointer | undefined;
}

/** Input of `computeGraph`. */
export interface ComputeInput {
  /** The backend that computes. */
  readonly place: BackendPlace;
  /** The graph's parts. */
  readonly parts: readonly GraphPart[];
}

/** Computes a graph; returns the `ggml_status`. */
export function computeGraph({ place, parts }: ComputeInput, context: TaskContext): number {
  const { native, lib } = context;
  return withBackends(
    [place],
    context,
    () => computeParts(native, parts, (graph) => lib.ggml_backend_graph_compute(place.backend, graph)),
  );
}

/** Input of `computeRemote`. */
export interface RemoteComputeInput {
  /** The backend, which computes on another machine. */
  readonly backend: Pointer<"ggml_backend">;
  /** The graph's parts. */
  readonly parts: readonly GraphPart[];
}

/** Computes a graph on another machine; returns the `ggml_status`. */
export function computeRemote({ backend, parts }: RemoteComputeInput, { native, lib }: TaskContext): number {
  return computeParts(native, parts, (graph) => lib.ggml_backend_graph_compute(backend, graph));
}

/** Does work while backends have their share of the cores, and hear when the request is cancelled. */
export function withBackends(places: readonly BackendPlace[], context: TaskContext, work: () => number): number {
  const { native, cores, cancel, cancelled, throwIfCancelled } = context;
  const granted = cores.acquire(Math.max(...places.map(({ threads }) => threads)), cancelled);
  throwIfCancelled();
  const abort = (callback: Pointer | null, data: Pointer | null): void => {
    for (const { backend, setAbort } of places) {
      if (setAbort === undefined) continue;
      native.functionAt(setAbort, { parameters: ["pointer", "pointer", "pointer"], result: "void" })(
        backend,
        callback,
        data,
      );
    }
  };
  for (const { backend, threads, setThreads } of places) {
    if (setThreads === undefined) continue;
    native.functionAt(setThreads, { parameters: ["pointer", "i32"], result: "void" })(
      backend,
      Math.min(threads, granted),
    );
  }
  abort(cancel.callback, cancel.data);
  try {
    const status = work();
    if (status !== 0) throwIfCancelled();
    return status;
  } finally {
    abort(null, null);
    cores.release();
  }
}
