/**
 * The entry of the native threads: the tasks that run there. It is no module to import.
 *
 * @module
 */

import "./errors.ts";
import { serveTasks } from "../ffi/thread_worker.ts";
import { ggmlTasks } from "./ggml/thread/tasks.ts";
import { llamaTasks } from "./llama/thread/tasks.ts";
import "./whisper/errors.ts";
import { whisperTasks } from "./whisper/thread/tasks.ts";

serveTasks({ ...llamaTasks, ...ggmlTasks, ...whisperTasks });
