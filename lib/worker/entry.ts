/**
 * The entry of the native threads: the tasks that run there. Not a module to import.
 *
 * @module
 */

import "../errors.ts";
import { lazyTasks, serveTasks } from "../../ffi/thread/worker_server.ts";
import type { GgmlTasks } from "../ggml/thread/tasks.ts";
import { llamaTasks } from "../llama/thread/tasks.ts";
import type { SchemaTasks } from "./schema_tasks.ts";
import type { WhisperTasks } from "../whisper/thread/tasks.ts";

const ggmlTasks = lazyTasks<GgmlTasks>({
  computeGraph: true,
  computeRemote: true,
  computeScheduled: true,
  inspectModule: true,
  initTraining: true,
  evaluateTraining: true,
  trainEpoch: true,
  openRemote: true,
  closeRemote: true,
}, async () => (await import("../ggml/thread/tasks.ts")).ggmlTasks);

const whisperTasks = lazyTasks<WhisperTasks>({
  loadWhisper: true,
  unloadWhisper: true,
  transcribe: true,
  detectSpeech: true,
  detectLanguage: true,
  openVadStream: true,
  processVad: true,
  closeVadStream: true,
}, async () => (await import("../whisper/thread/tasks.ts")).whisperTasks);

const schemaTasks = lazyTasks<SchemaTasks>({
  convertSchema: true,
  checkGrammar: true,
  validateValue: true,
}, async () => (await import("./schema_tasks.ts")).schemaTasks);

serveTasks({ ...llamaTasks, ...ggmlTasks, ...whisperTasks, ...schemaTasks });
