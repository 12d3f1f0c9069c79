import type { Native, Pointer } from "../../../ffi/mod.ts";
import type { ScheduledGraph, SourceSnapshot } from "../backend/scheduled_graph.ts";

/** A native scheduler and the graph that it has allocated: what the finalizer needs, too, to free a scheduler that nobody disposed. */
export class SchedulerState {
  /** The libraries. */
  readonly native: Native;
  /** The scheduler. */
  readonly pointer: Pointer<"ggml_backend_sched">;
  /** The graph that has memory. */
  allocation: ScheduledGraph | undefined;
  /** The operands of the graph that it has split, before it put copies in their place. */
  sources: SourceSnapshot | undefined;

  /** {@linkcode SchedulerState.forgetGraph}, as a function that refers to nothing else: the finalizer keeps it. */
  readonly onReset: () => void = () => this.forgetGraph();

  /** Takes over a scheduler that was made just now. */
  constructor(native: Native, pointer: Pointer<"ggml_backend_sched">) {
    this.native = native;
    this.pointer = pointer;
  }

  /** Throws GraphError while another backend computes the graph that has memory. */
  assertUnused(doing: string): void {
    this.allocation?.assertUnused(doing);
  }

  /** Forgets the graph, whose tensors lose their memory. */
  forgetGraph(): void {
    this.native.lib.ggml_backend_sched_synchronize(this.pointer);
    this.native.lib.ggml_backend_sched_reset(this.pointer);
    this.#endAllocation();
  }

  /** Frees the scheduler. */
  free(): void {
    this.#endAllocation();
    this.native.lib.ggml_backend_sched_free(this.pointer);
  }

  #endAllocation(): void {
    this.sources?.restore();
    this.sources = undefined;
    this.allocation?.end();
    this.allocation = undefined;
  }
}
