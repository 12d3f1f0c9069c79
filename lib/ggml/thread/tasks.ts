/**
 * The tasks of ggml's native threads.
 *
 * @module
 */

import { computeGraph } from "./compute.ts";
import { inspectModule } from "./modules.ts";
import { computeScheduled } from "./schedule.ts";

/** The tasks by name. */
export const ggmlTasks = {
  computeGraph,
  computeScheduled,
  inspectModule,
} as const;

/** The type of {@linkcode ggmlTasks}. */
export type GgmlTasks = typeof ggmlTasks;
