/**
 * The tasks of ggml's native threads.
 *
 * @module
 */

import { computeGraph, computeRemote } from "./compute.ts";
import { inspectModule } from "./modules.ts";
import { closeRemote, openRemote } from "./rpc.ts";
import { computeScheduled } from "./schedule.ts";
import { evaluateTraining, initTraining, trainEpoch } from "./training.ts";

/** The tasks by name. */
export const ggmlTasks = {
  computeGraph,
  computeRemote,
  computeScheduled,
  inspectModule,
  initTraining,
  evaluateTraining,
  trainEpoch,
  openRemote,
  closeRemote,
} as const;

/** The type of {@linkcode ggmlTasks}. */
export type GgmlTasks = typeof ggmlTasks;
