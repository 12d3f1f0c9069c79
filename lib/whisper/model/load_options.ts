/**
 * The options of loading a Whisper model.
 *
 * @module
 */

import type { PullSettings } from "../../support/download_options.ts";
import { localSource } from "../../models/resolve.ts";
import { type CheckedSource, checkSource } from "../../models/source.ts";
import { InvalidArgumentError } from "../../errors.ts";
import type { Device } from "../../ggml/backend/device.ts";
import { type LoadOptions, loadRules } from "../../support/load_options.ts";
import { refuse } from "../../../base/check.ts";
import { boolean, custom, integer, oneOf, options, type RulesOf, type Settings } from "../../../base/options.ts";
import type { ModelInput } from "../thread/protocol.ts";
import { atMostCores } from "../transcribe/audio_options.ts";

/** Source of a model: a path, a `file:` URL, or its bytes. */
export type WhisperSource = string | URL | Uint8Array | ArrayBuffer;

/** The models whose alignment heads whisper.cpp knows, in the order of `enum whisper_alignment_heads_preset`. */
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

/** The models whose alignment heads whisper.cpp knows. */
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

/** Options of `loadWhisper`. */
export interface WhisperOptions extends LoadOptions {
  /** Silero model for voice activity detection, in whisper.cpp's format: a path, a `file:` URL, or bytes. Default the one in the cache, if any. */
  vadModel?: WhisperSource | undefined;
  /** Maximum number of compute threads, 1 to 4096. Default one per core, at most 4; never more than cores. C: `n_threads`. */
  threads?: number | undefined;
  /** Maximum number of concurrent transcriptions, 1 to 64. Each needs memory for its state; the weights are loaded once. Others wait. Default 1. */
  parallel?: number | undefined;
  /**
   * The device that computes, an array of one: a GPU, or the processor alone. Default the first GPU, if there is one. whisper.cpp computes on no other kind
   * and on no more than one. C: `use_gpu`, `gpu_device`.
   */
  devices?: readonly Device[] | undefined;
  /** Uses flash attention: faster, less memory. Default true, but false with `alignment`, which excludes it. C: `flash_attn`. */
  flashAttention?: boolean | undefined;
  /** Kind of the model, to align tokens by its attention heads: tokens then get `dtw`. C: `dtw_aheads_preset`. */
  alignment?: Alignment | undefined;
}

/** Upstream's default. */
const DEFAULT_THREADS = 4;

/** The specification of {@linkcode WhisperOptions}. `devices` isn't checked here: that needs the libraries. */
const whisperSpec = options(
  "loadWhisper",
  {
    ...loadRules,
    vadModel: custom<ModelInput, object>(
      "a path, a file: URL, or bytes",
      (name, value) => modelInput(name, value as WhisperSource),
    ),
    threads: integer({ min: 1, max: 4096, default: DEFAULT_THREADS }),
    parallel: integer({ min: 1, max: 64, default: 1 }),
    devices: custom<readonly Device[], object>("an array of one device", (_name, value) => value as readonly Device[]),
    flashAttention: boolean(),
    alignment: oneOf(alignments),
  } satisfies RulesOf<WhisperOptions>,
);

/** Checked options of a load. */
export type WhisperSettings = Settings<typeof whisperSpec> & {
  readonly flashAttention: boolean;
  /** `enum whisper_alignment_heads_preset`; 0 for none. */
  readonly alignmentHeads: number;
};

/** Checks the options of `loadWhisper`. Throws {@linkcode InvalidArgumentError}. */
export function checkWhisper(given: WhisperOptions | undefined): WhisperSettings {
  const checked = whisperSpec.check(given);
  const { alignment, flashAttention = alignment === undefined, threads } = checked;
  if (flashAttention && alignment !== undefined) {
    throw new InvalidArgumentError("alignment can't be combined with flashAttention; omit that, or set it to false", {
      value: true,
      expected: "flashAttention: false",
    });
  }
  const alignmentHeads = alignment === undefined ? 0 : alignments.indexOf(alignment) + FIRST_ALIGNMENT;
  return { ...checked, threads: atMostCores(threads), flashAttention, alignmentHeads };
}

/** Checks the source of a model; bytes are copied. Throws {@linkcode InvalidArgumentError}. */
export function modelInput(name: string, source: WhisperSource): ModelInput {
  const checked = checkSource(source, name);
  if (checked.kind === "bytes") return { bytes: new Uint8Array(checked.bytes) };
  if (checked.kind === "file") return { path: checked.path };
  return refuse(name, source, "a path, a file: URL, or the model's bytes");
}

/** Brings a model to this machine and checks its source; bytes are copied once. Throws as `pullModel` does, and {@linkcode InvalidArgumentError}. */
export async function localInput(source: CheckedSource, settings: PullSettings): Promise<ModelInput> {
  const local = await localSource(source, settings);
  switch (local.kind) {
    case "file":
      return { path: local.path };
    case "bytes":
      return { bytes: new Uint8Array(local.bytes) };
    case "blob":
      return { bytes: new Uint8Array(await local.blob.arrayBuffer()) };
    case "descriptor":
      return refuse("the model", source, "a path, an address, bytes or a Blob");
  }
}
