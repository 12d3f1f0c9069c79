/**
 * Segments as JSON, as whisper-cli writes it.
 *
 * @module
 */

import { boolean, integer, nested, options as declare, type RulesOf, text } from "../../../base/options.ts";
import type { Segment, Token } from "../transcribe/segment.ts";
import { joinBytes, missingBytes, shortNumber, tokenBytes } from "./bytes.ts";
import { checkSegments } from "./check.ts";
import { clock, milliseconds } from "./time.ts";

/** Facts about the model, as whisper-cli writes them. */
export interface JsonModel {
  /** C: `whisper_model_type_readable`. */
  readonly type: string;
  /** C: `whisper_is_multilingual`. */
  readonly multilingual: boolean;
  /** C: `whisper_model_n_vocab`. */
  readonly vocab: number;
  /** C: `whisper_model_n_audio_ctx`, `…_state`, `…_head`, `…_layer`. */
  readonly audio: JsonLayers;
  /** C: `whisper_model_n_text_ctx`, `…_state`, `…_head`, `…_layer`. */
  readonly text: JsonLayers;
  /** C: `whisper_model_n_mels`. */
  readonly mels: number;
  /** C: `whisper_model_ftype`. */
  readonly ftype: number;
}

/** Sizes of the encoder or the decoder. */
export interface JsonLayers {
  /** Context length. */
  readonly ctx: number;
  /** Width. */
  readonly state: number;
  /** Heads. */
  readonly head: number;
  /** Layers. */
  readonly layer: number;
}

/** Parameters of the transcription, as whisper-cli writes them. */
export interface JsonParams {
  /** The model's path. */
  readonly model: string;
  /** The language. */
  readonly language: string;
  /** Whether it is translated. */
  readonly translate: boolean;
}

/** Options of `toJson`: what isn't given is left out. */
export interface JsonOptions {
  /** Write each token too, with its number, probability and, where it has them, times. Default `false`. */
  full?: boolean | undefined;
  /** Say after each segment whether another speaker follows. Default `false`. */
  speakerTurns?: boolean | undefined;
  /** C: `whisper_print_system_info`. */
  systemInfo?: string | undefined;
  /** Facts about the model. */
  model?: JsonModel | undefined;
  /** Parameters of the transcription. */
  params?: JsonParams | undefined;
  /** The language of the text. Default that of the first segment. */
  language?: string | undefined;
}

const required = { required: true } as const;
const count = integer({ min: 0, max: 0x7fff_ffff, required: true });
const layers = nested(
  declare("layers", { ctx: count, state: count, head: count, layer: count } satisfies RulesOf<JsonLayers>),
  required,
);

const toJsonSpec = declare(
  "toJson",
  {
    full: boolean({ default: false }),
    speakerTurns: boolean({ default: false }),
    systemInfo: text(),
    model: nested(declare(
      "model",
      {
        type: text(required),
        multilingual: boolean(required),
        vocab: count,
        audio: layers,
        text: layers,
        mels: count,
        ftype: count,
      } satisfies RulesOf<JsonModel>,
    )),
    params: nested(declare(
      "params",
      {
        model: text(required),
        language: text(required),
        translate: boolean(required),
      } satisfies RulesOf<JsonParams>,
    )),
    language: text(),
  } satisfies RulesOf<JsonOptions>,
);

/**
 * Returns segments as JSON in whisper-cli's form (`-oj`, with `full` `-ojf`). Characters that JSON forbids are escaped, which whisper-cli doesn't do.
 *
 * Throws InvalidArgumentError for values that are not segments, and for unknown options.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { toJson } from "./json.ts";
 *
 * const segment = { text: " Hello.", start: 0, end: 1.5, tokens: [], speakerTurn: false, noSpeechProbability: 0, language: "en" };
 * const { transcription, result } = JSON.parse(toJson([segment]));
 * assert.deepEqual(transcription[0].offsets, { from: 0, to: 1500 });
 * assert.equal(result.language, "en");
 * ```
 */
export function toJson(segments: Iterable<Segment>, options?: JsonOptions): string {
  const { full, speakerTurns, ...head } = toJsonSpec.check(options);
  const list = checkSegments("toJson", segments);
  const { systemInfo, model, params, language = list[0]?.language ?? "" } = head;
  const whole: JsonObject = {
    ...(systemInfo === undefined ? {} : { systeminfo: systemInfo }),
    ...(model === undefined ? {} : { model: jsonModel(model) }),
    ...(params === undefined
      ? {}
      : { params: { model: params.model, language: params.language, translate: params.translate } }),
    result: { language },
    transcription: list.map((segment) => ({
      ...times(segment.start, segment.end),
      text: segment.text,
      ...(full ? { tokens: merged(segment.tokens).map(jsonToken) } : {}),
      ...(speakerTurns ? { speaker_turn_next: segment.speakerTurn } : {}),
    })),
  };
  return `${write(whole, 0)}\n`;
}

type JsonObject = { readonly [name: string]: JsonValue };
type JsonValue = string | number | boolean | ShortNumber | JsonObject | readonly JsonValue[];

/** A number that is written with six digits, as C++ does. */
class ShortNumber {
  constructor(readonly value: number) {}
}

/** In whisper-cli's order. */
function jsonModel({ type, multilingual, vocab, audio, text, mels, ftype }: JsonModel): JsonObject {
  const layers = ({ ctx, state, head, layer }: JsonLayers) => ({ ctx, state, head, layer });
  return { type, multilingual, vocab, audio: layers(audio), text: layers(text), mels, ftype };
}

function times(start: number, end: number): JsonObject {
  return {
    timestamps: { from: clock(start, ","), to: clock(end, ",") },
    offsets: { from: milliseconds(start), to: milliseconds(end) },
  };
}

function jsonToken({ text, id, probability, start, end, dtw }: Token): JsonObject {
  return {
    text,
    ...(start === undefined || end === undefined ? {} : times(start, end)),
    id,
    p: new ShortNumber(probability),
    t_dtw: new ShortNumber(dtw === undefined ? -1 : Math.round(dtw * 100)),
  };
}

/** Tokens that share a character as one. */
function merged(tokens: readonly Token[]): Token[] {
  const whole: Token[] = [];
  for (let at = 0; at < tokens.length;) {
    let token = tokens[at++] as Token;
    let bytes = tokenBytes(token);
    while (at < tokens.length && missingBytes(bytes) > 0) {
      const next = tokens[at++] as Token;
      bytes = joinBytes(bytes, tokenBytes(next));
      token = { ...token, text: new TextDecoder().decode(bytes), ...(next.end === undefined ? {} : { end: next.end }) };
    }
    whole.push(token);
  }
  return whole;
}

function write(value: JsonValue, indent: number): string {
  if (value instanceof ShortNumber) return shortNumber(value.value);
  if (typeof value !== "object") return JSON.stringify(value);
  const inside = "\t".repeat(indent + 1);
  const lines = Array.isArray(value)
    ? value.map((one) => inside + write(one as JsonValue, indent + 1))
    : Object.entries(value).map(([name, one]) => `${inside}${JSON.stringify(name)}: ${write(one, indent + 1)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const body = lines.length === 0 ? "" : `${lines.join(",\n")}\n`;
  return `${open}\n${body}${"\t".repeat(indent)}${close}`;
}
