/**
 * The options of loading a model of any kind.
 *
 * @module
 */

import { openRules } from "../../ffi/library/locate.ts";
import {
  type LogLevel,
  type LogLine,
  type NativeAbortPolicy,
  type NativeThreadOptions,
  threadRules,
} from "../../ffi/thread/native_thread.ts";
import { type DownloadOptions, downloadSpec, type PullSettings } from "./download_options.ts";
import { callback, nested, options, type RulesOf, type Settings, signal } from "../../base/options.ts";

/** Options of loading a model of any kind. */
export interface LoadOptions {
  /** Called while the model is loaded with a number from 0 to 1. C: `progress_callback`. */
  onProgress?: ((part: number) => void) | undefined;
  /** Stops the load; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How a model at an address is downloaded: progress, headers, time limit. */
  download?: DownloadOptions | undefined;
  /**
   * The policy for an `abort()` of native code while it works for this model. `"contain"` (the default): the model is lost, its calls reject with
   * NativeAbortError, and the program continues; on Linux only, elsewhere the program ends. `"exit"`: the program ends.
   */
  nativeAbort?: NativeAbortPolicy | undefined;
  /**
   * Time in milliseconds after which a call without a sign of life (text, or use of the processor) rejects with NativeHangError and the model is lost; once
   * cancelled, a call has this time in all. 0 to 2,147,483,647, default 120,000; 0 turns it off. Works where aborts are contained.
   */
  watchdogMs?: number | undefined;
  /**
   * Called with each line of at least `logLevel` that native code logs while it works for this model, some hundredths of a second late. An exception that it
   * throws is an uncaught error of the program. On Linux only.
   */
  onLog?: ((line: LogLine) => void) | undefined;
  /** The least severe level that `onLog` gets. Default `"info"`. C: `ggml_log_level`. */
  logLevel?: LogLevel | undefined;
  /** The folder with the native libraries and their `manifest.json`. Default `$GGML_FFI_LIBRARY_PATH`, the platform's package, or the source tree's build. */
  libraryPath?: string | undefined;
}

/** {@linkcode LoadOptions}, declared: to be spread into the specification of whatever loads a model. */
export const loadRules = {
  onProgress: callback<(part: number) => void>(),
  signal: signal(),
  download: nested(downloadSpec),
  ...threadRules,
  ...openRules,
} as const satisfies RulesOf<LoadOptions>;

/** {@linkcode LoadOptions}, checked. */
export type CheckedLoadOptions = Settings<typeof loadRules>;

const spec = options("load", loadRules);

/** The names of {@linkcode LoadOptions}. */
export const loadOptionNames: readonly (keyof typeof loadRules)[] = spec.names;

/** Checks these options; others beside them are left to the caller. Throws {@linkcode InvalidArgumentError}. */
export function checkLoadOptions(given: LoadOptions): CheckedLoadOptions {
  return spec.check(Object.fromEntries(Object.entries(given).filter(([name]) => name in loadRules)));
}

/** Returns the options of a download among these. */
export function pullSettings({ download, signal }: CheckedLoadOptions): PullSettings {
  return { ...download ?? downloadSpec.check(undefined), signal };
}

/** Returns the options among these that a native thread is started with. */
export function threadOptions({ nativeAbort, watchdogMs, onLog, logLevel }: CheckedLoadOptions): NativeThreadOptions {
  return { nativeAbort, watchdogMs, onLog, logLevel };
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
