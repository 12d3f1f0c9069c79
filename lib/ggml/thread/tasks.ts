/**
 * The tasks of ggml's native threads.
 *
 * @module
 */

import { computeGraph } from "./compute.ts";

/** The tasks by name. */
export const ggmlTasks = {
  computeGraph,
} as const;

/** The type of {@linkcode ggmlTasks}. */
export type GgmlTasks = typeof ggmlTasks;
