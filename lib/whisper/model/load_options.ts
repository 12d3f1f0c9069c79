/**
 * The options of loading a Whisper model.
 *
 * @module
 */

import { modelPath } from "../../models/model_path.ts";
import { InvalidArgumentError } from "../../errors.ts";
import {
  type CheckedLoadOptions,
  checkLoadOptions,
  loadOptionNames,
  type LoadOptions,
} from "../../support/load_options.ts";
import { checkBoolean, checkInteger, checkOneOf, checkOptions, isInstance, refuse } from "../../support/check.ts";
import type { ModelInput } from "../thread/protocol.ts";
import { checkThreads } from "../transcribe/options.ts";

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
const FIRST_ALIGNMENT = 3;

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
export interface WhisperOptions extends LoadOptions {
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
}

/** Checked options of a load. */
export interface WhisperSettings extends CheckedLoadOptions {
  vadModel: ModelInput | undefined;
  threads: number;
  parallel: number;
  gpu: boolean;
  flashAttention: boolean;
  alignmentHeads: number;
}

const names = [
  "vadModel",
  "threads",
  "parallel",
  "gpu",
  "flashAttention",
  "alignment",
  ...loadOptionNames,
] as const;
/** Upstream's default. */
const MAX_THREADS = 4;

/** Checks the options of `loadWhisper`. Throws {@linkcode InvalidArgumentError}. */
export function checkWhisper(options: WhisperOptions | undefined): WhisperSettings {
  const given: WhisperOptions = checkOptions("loadWhisper", options, names);
  const { vadModel, threads, parallel = 1, gpu = true, alignment } = given;
  const { flashAttention = alignment === undefined } = given;
  const settings: WhisperSettings = {
    ...checkLoadOptions(given),
    vadModel: vadModel === undefined ? undefined : modelInput("vadModel", vadModel),
    threads: threads === undefined ? Math.min(MAX_THREADS, navigator.hardwareConcurrency) : checkThreads(threads),
    parallel: checkInteger("parallel", parallel, { min: 1, max: 64 }),
    gpu: checkBoolean("gpu", gpu),
    flashAttention: checkBoolean("flashAttention", flashAttention),
    alignmentHeads: alignment === undefined
      ? 0
      : alignments.indexOf(checkOneOf("alignment", alignment, alignments)) + FIRST_ALIGNMENT,
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
  if (typeof source === "string" || isInstance(source, URL)) return { path: modelPath(source, name) };
  return refuse(name, source, "a path, a file: URL, or the model's bytes");
}
