import { arrayOf, boolean, callback, integer, options, type RulesOf } from "../../../base/options.ts";
import { type WorkOptions, workRules } from "../backend/compute_thread.ts";
import type { BufferType } from "../backend/buffer_type.ts";
import { brands } from "../brands.ts";
import type { Tensor } from "../tensor/tensor.ts";

/** Options of a scheduler. */
export interface SchedulerOptions {
  /** The memory that each backend computes in, in their order; default: what each likes best. C: `bufts`. */
  bufferTypes?: readonly BufferType[] | undefined;
  /** Largest number of tensors of a graph, 1 to 1,048,576; default 2048. C: `graph_size`. */
  graphSize?: number | undefined;
  /** Keeps several copies of inputs, so that the next computation may begin before the last one is done. Default false. C: `parallel`. */
  parallel?: boolean | undefined;
  /** Lets backends take large operations whose weights lie with the last one. Default true. C: `op_offload`. */
  opOffload?: boolean | undefined;
}

/** Options of `Scheduler.evaluate`. */
export interface EvaluateOptions extends WorkOptions {
  /** Selects the nodes to show; default all. Each is computed on its own, which takes longer. */
  filter?: ((node: Tensor) => boolean) | undefined;
}

/** The options of a scheduler. */
export const schedulerSpec = options(
  "Scheduler",
  {
    bufferTypes: arrayOf((name, type) => brands.bufferType.check(name, type)),
    graphSize: integer({ min: 1, max: 1 << 20, default: 2048 }),
    parallel: boolean({ default: false }),
    opOffload: boolean({ default: true }),
  } satisfies RulesOf<SchedulerOptions>,
);

/** The options of `Scheduler.compute`. */
export const computeSpec = options("compute", workRules);

/** The options of `Scheduler.evaluate`. */
export const evaluateSpec = options(
  "evaluate",
  {
    ...workRules,
    filter: callback({ default: (_node: Tensor): boolean => true }),
  } satisfies RulesOf<EvaluateOptions>,
);
