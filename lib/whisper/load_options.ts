/**
 * The options of loading a Whisper model.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import type { LogLine, OnAbort } from "../../ffi/thread.ts";
import { InvalidArgumentError } from "../errors.ts";
import {
  checkBoolean,
  checkFunction,
  checkInteger,
  checkOneOf,
  checkOptions,
  checkSignal,
  checkText,
  isInstance,
  show,
} from "../options.ts";
import type { ModelInput } from "./thread/protocol.ts";
import { checkThreads } from "./transcribe_options.ts";

/** Where a model comes from: a path, a `file:` URL, or its bytes. */
export type WhisperSource = string | URL | Uint8Array | ArrayBuffer;

/** The kinds of models whose heads for alignment whisper.cpp knows, in the order of `enum whisper_alignment_heads_preset`. */
const alignments: readonly Alignment[] = [
  "tiny.en",
  "tiny",
  "base.en",
  "base",
  "small.en",
  "small",
  "medium.en",
  "medium",
  "large-v1",
  "large-v2",
  "large-v3",
  "large-v3-turbo",
];

/** `WHISPER_AHEADS_TINY_EN`: what comes before has no names. */
const firstAlignment = 3;

/** The kinds of models whose heads for alignment whisper.cpp knows. */
export type Alignment =
  | "tiny.en"
  | "tiny"
  | "base.en"
  | "base"
  | "small.en"
  | "small"
  | "medium.en"
  | "medium"
  | "large-v1"
  | "large-v2"
  | "large-v3"
  | "large-v3-turbo";

/** How a model is loaded. */
export interface WhisperOptions {
  /** A Silero model for voice activity, in whisper.cpp's format: a path, a `file:` URL, or bytes. Default the one that set-up brought, if any. */
  vadModel?: WhisperSource | undefined;
  /** How many threads compute, at most. 1 to 4096, default one for each core, at most 4; never more than cores. C: `n_threads`. */
  threads?: number | undefined;
  /** How many transcriptions run at once, 1 to 64, default 1. Each takes memory of its own; the model is there once. Others wait. */
  parallel?: number | undefined;
  /** Use a GPU if there is one. Default true. C: `use_gpu`. */
  gpu?: boolean | undefined;
  /** Attention in one step: faster, less memory. Default true; not together with `alignment`. C: `flash_attn`. */
  flashAttention?: boolean | undefined;
  /** The kind of model, to find out when each token is said by the heads that follow the audio: tokens then get `dtw`. C: `dtw_aheads_preset`. */
  alignment?: Alignment | undefined;
  /** Called while the model is loaded with a number from 0 to 1. */
  onProgress?: ((part: number) => void) | undefined;
  /** Stops the load; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * What happens when native code calls `abort()` while it works for this model. `"contain"` (the default): the model is lost, its calls reject with
   * NativeAbortError, and the program goes on; on Linux only, elsewhere the program ends. `"exit"`: the program ends.
   */
  onAbort?: OnAbort | undefined;
  /**
   * How many milliseconds native code may work without a sign of life: text, or use of the processor; and, once it is cancelled, in all. The call then rejects
   * with NativeHangError, and the model is lost. 0 to 2,147,483,647, default 120,000; 0 is for ever. Works where aborts are contained.
   */
  watchdogMs?: number | undefined;
  /** Gets the lines that whisper.cpp logs, from `logLevel` on, some hundredths of a second late. On Linux only. */
  onLog?: ((line: LogLine) => void) | undefined;
  /** The least level for `onLog`: 1 debug, 2 information (the default), 3 warning, 4 error. C: `ggml_log_level`. */
  logLevel?: number | undefined;
  /** The folder with the native libraries and their `manifest.json`. Default `$GGML_FFI_LIBRARY_PATH`, the platform's package, or the source tree's build. */
  libraryPath?: string | undefined;
}

/** Checked options of a load. */
export interface WhisperSettings {
  vadModel: ModelInput | undefined;
  threads: number;
  parallel: number;
  gpu: boolean;
  flashAttention: boolean;
  alignmentHeads: number;
  onProgress: ((part: number) => void) | undefined;
  signal: AbortSignal | undefined;
  onAbort: OnAbort;
  watchdogMs: number | undefined;
  onLog: ((line: LogLine) => void) | undefined;
  logLevel: number | undefined;
  libraryPath: string | undefined;
}

const names = [
  "vadModel",
  "threads",
  "parallel",
  "gpu",
  "flashAttention",
  "alignment",
  "onProgress",
  "signal",
  "onAbort",
  "watchdogMs",
  "onLog",
  "logLevel",
  "libraryPath",
] as const;
const largest = 0x7fff_ffff;
/** Upstream's default. */
const mostThreads = 4;

/** Checks the options of `loadWhisper`. Throws {@linkcode InvalidArgumentError}. */
export function checkWhisper(options: WhisperOptions | undefined): WhisperSettings {
  const given: WhisperOptions = checkOptions("loadWhisper", options, names);
  const { vadModel, threads, parallel = 1, gpu = true, alignment, onProgress, signal, onAbort = "contain" } = given;
  const { flashAttention = alignment === undefined, watchdogMs, onLog, logLevel, libraryPath } = given;
  const settings: WhisperSettings = {
    vadModel: vadModel === undefined ? undefined : modelInput("vadModel", vadModel),
    threads: threads === undefined ? Math.min(mostThreads, navigator.hardwareConcurrency) : checkThreads(threads),
    parallel: checkInteger("parallel", parallel, { min: 1, max: 64 }),
    gpu: checkBoolean("gpu", gpu),
    flashAttention: checkBoolean("flashAttention", flashAttention),
    alignmentHeads: alignment === undefined
      ? 0
      : alignments.indexOf(checkOneOf("alignment", alignment, alignments)) + firstAlignment,
    onProgress: onProgress === undefined ? undefined : checkFunction("onProgress", onProgress),
    signal: signal === undefined ? undefined : checkSignal("signal", signal),
    onAbort: checkOneOf("onAbort", onAbort, ["contain", "exit"]),
    watchdogMs: watchdogMs === undefined ? undefined : checkInteger("watchdogMs", watchdogMs, { min: 0, max: largest }),
    onLog: onLog === undefined ? undefined : checkFunction("onLog", onLog),
    logLevel: logLevel === undefined ? undefined : checkInteger("logLevel", logLevel, { min: 1, max: 4 }),
    libraryPath: libraryPath === undefined ? undefined : checkText("libraryPath", libraryPath),
  };
  if (settings.flashAttention && settings.alignmentHeads !== 0) {
    throw new InvalidArgumentError("alignment can't be had with flashAttention; leave that out, or give false", {
      value: true,
      expected: "flashAttention: false",
    });
  }
  return settings;
}

/** Where a model comes from, checked; bytes are copied. Throws {@linkcode InvalidArgumentError}. */
export function modelInput(name: string, source: WhisperSource): ModelInput {
  if (isInstance(source, Uint8Array)) return { bytes: new Uint8Array(source) };
  if (isInstance(source, ArrayBuffer)) return { bytes: new Uint8Array(source.slice(0)) };
  if (isInstance(source, URL)) return { path: pathOfUrl(name, source.href) };
  if (typeof source !== "string") {
    throw new InvalidArgumentError(`${name} is ${show(source)}; give a path, a file: URL, or the model's bytes`, {
      value: source,
      expected: "a path, a file: URL, or bytes",
    });
  }
  const path = checkText(name, source);
  if (path === "" || path.includes("\0")) {
    throw new InvalidArgumentError(`${name} is ${show(path)}; give the path of a model in whisper.cpp's format`, {
      value: path,
      expected: "a path",
    });
  }
  return {
    path: /^([a-z][a-z0-9+.-]+:\/\/|file:|(hf|huggingface|data|blob):)/i.test(path) ? pathOfUrl(name, path) : path,
  };
}

function pathOfUrl(name: string, address: string): string {
  try {
    const url = new URL(address);
    if (url.protocol === "file:") return fileURLToPath(url);
  } catch (cause) {
    throw new InvalidArgumentError(`${name} is ${show(address)}, no file: URL of a file on this machine; give a path`, {
      value: address,
      expected: "a file: URL such as file:///models/ggml-tiny.en.bin",
      cause,
    });
  }
  throw new InvalidArgumentError(
    `${name} is ${show(address)}, and models at addresses can't be loaded yet; download the file and give its path`,
    { value: address, expected: "a path, or a file: URL" },
  );
}
