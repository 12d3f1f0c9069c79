/**
 * What loading a model of any kind takes.
 *
 * @module
 */

import type { LogLine, NativeAbortPolicy } from "../../ffi/thread/native_thread.ts";
import { checkFunction, checkInteger, checkOneOf, checkSignal, checkText } from "./check.ts";

/** How a model of any kind is loaded. */
export interface LoadOptions {
  /** Called while the model is loaded with a number from 0 to 1. C: `progress_callback`. */
  onProgress?: ((part: number) => void) | undefined;
  /** Stops the load; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * What happens when native code calls `abort()` while it works for this model. `"contain"` (the default): the model is lost, its calls reject with
   * NativeAbortError, and the program goes on; on Linux only, elsewhere the program ends. `"exit"`: the program ends.
   */
  nativeAbort?: NativeAbortPolicy | undefined;
  /**
   * How many milliseconds native code may work for this model without a sign of life: text, or use of the processor; and, once it is cancelled, in all.
   * The call then rejects with NativeHangError, and the model is lost. 0 to 2,147,483,647, default 120,000; 0 is for ever. Works where aborts are contained.
   */
  watchdogMs?: number | undefined;
  /**
   * Gets the lines that native code logs while it works for this model, from `logLevel` on, some hundredths of a second late. What it throws is an
   * uncaught error of the program. On Linux only.
   */
  onLog?: ((line: LogLine) => void) | undefined;
  /** The least level for `onLog`: 1 debug, 2 information (the default), 3 warning, 4 error. C: `ggml_log_level`. */
  logLevel?: number | undefined;
  /** The folder with the native libraries and their `manifest.json`. Default `$GGML_FFI_LIBRARY_PATH`, the platform's package, or the source tree's build. */
  libraryPath?: string | undefined;
}

/** {@linkcode LoadOptions}, checked. */
export interface CheckedLoadOptions {
  /** See {@linkcode LoadOptions.onProgress}. */
  onProgress: ((part: number) => void) | undefined;
  /** See {@linkcode LoadOptions.signal}. */
  signal: AbortSignal | undefined;
  /** See {@linkcode LoadOptions.nativeAbort}. */
  nativeAbort: NativeAbortPolicy;
  /** See {@linkcode LoadOptions.watchdogMs}. */
  watchdogMs: number | undefined;
  /** See {@linkcode LoadOptions.onLog}. */
  onLog: ((line: LogLine) => void) | undefined;
  /** See {@linkcode LoadOptions.logLevel}. */
  logLevel: number | undefined;
  /** See {@linkcode LoadOptions.libraryPath}. */
  libraryPath: string | undefined;
}

/** The names of {@linkcode LoadOptions}. */
export const loadOptionNames = [
  "onProgress",
  "signal",
  "nativeAbort",
  "watchdogMs",
  "onLog",
  "logLevel",
  "libraryPath",
] as const;

const LARGEST = 0x7fff_ffff;

/** Checks these options; others beside them are left to the caller. Throws {@linkcode InvalidArgumentError}. */
export function checkLoadOptions(given: LoadOptions): CheckedLoadOptions {
  const { onProgress, signal, nativeAbort = "contain", watchdogMs, onLog, logLevel, libraryPath } = given;
  return {
    onProgress: onProgress === undefined ? undefined : checkFunction("onProgress", onProgress),
    signal: signal === undefined ? undefined : checkSignal("signal", signal),
    nativeAbort: checkOneOf("nativeAbort", nativeAbort, ["contain", "exit"]),
    watchdogMs: watchdogMs === undefined ? undefined : checkInteger("watchdogMs", watchdogMs, { min: 0, max: LARGEST }),
    onLog: onLog === undefined ? undefined : checkFunction("onLog", onLog),
    logLevel: logLevel === undefined ? undefined : checkInteger("logLevel", logLevel, { min: 1, max: 4 }),
    libraryPath: libraryPath === undefined ? undefined : checkText("libraryPath", libraryPath),
  };
}

/** The caller's signal and `onProgress`, where an error of `onProgress` aborts too: what was loaded all the same is freed then. */
export function watchedLoad(
  { signal, onProgress }: CheckedLoadOptions,
): { signal: AbortSignal; onMessage: (part: number) => void } {
  const thrown = new AbortController();
  const either = signal === undefined ? thrown.signal : AbortSignal.any([signal, thrown.signal]);
  const onMessage = (part: number): void => {
    if (either.aborted) return;
    try {
      onProgress?.(part);
    } catch (error) {
      thrown.abort(error);
    }
  };
  return { signal: either, onMessage };
}
