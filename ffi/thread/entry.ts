/**
 * The entry of the native threads that only call C functions. Not a module to import.
 *
 * @module
 */

import { serveTasks } from "./worker_server.ts";

serveTasks({});
