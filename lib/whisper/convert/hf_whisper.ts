/**
 * Whisper models in safetensors (Hugging Face's transformers) to whisper.cpp's format.
 *
 * @module
 */

import { isArray } from "../../../base/check.ts";
import { custom, options as declare, type RulesOf } from "../../../base/options.ts";
import { ConversionError } from "./errors.ts";
import { type FilePart, type FileParts, JoinedSource, readText } from "./parts.ts";
import { readSafetensors } from "./safetensors_file.ts";
import { readVocabulary } from "./vocabulary.ts";
import { Weights } from "./weights.ts";
import { checkSizes, whisperHead, type WhisperSizes, whisperTensor } from "./whisper_layout.ts";

type Piece = Uint8Array<ArrayBuffer>;

/** Options of `convertSafetensorsWhisper`. */
export interface ConvertSafetensorsOptions {
  /** The model's `config.json`, which says how many heads it has. Without it each head has 64 numbers, as in all models of OpenAI. */
  config?: FileParts | undefined;
}

const convertSpec = declare(
  "convertSafetensorsWhisper",
  {
    config: custom<FileParts, object>(
      "a path, a file: URL, bytes, or an array of them",
      (_name, value) => value as FileParts,
    ),
  } satisfies RulesOf<ConvertSafetensorsOptions>,
);

/**
 * Converts a Whisper model in safetensors (`model.safetensors` with its `vocab.json` or `tokenizer.json`) to whisper.cpp's format, with 16-bit floats, and
 * yields the file's bytes in chunks, which {@linkcode writeModel} writes. The model may come in several safetensors files.
 *
 * Throws InvalidArgumentError at once for unknown options. The loop throws ModelNotFoundError, ModelAccessError, InvalidArgumentError;
 * {@linkcode ConversionError} for a file that is damaged, cut off or of another kind.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { convertSafetensorsWhisper } from "./hf_whisper.ts";
 *
 * await assert.rejects(convertSafetensorsWhisper(new Uint8Array(8), "vocab.json").next(), /isn't a sound safetensors file|no tensor/);
 * ```
 */
export function convertSafetensorsWhisper(
  model: FileParts,
  vocabulary: FileParts,
  options?: ConvertSafetensorsOptions,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const { config } = convertSpec.check(options);
  return pieces(model, vocabulary, config);
}

async function* pieces(
  model: FileParts,
  vocabulary: FileParts,
  config: FileParts | undefined,
): AsyncGenerator<Piece> {
  await using files = new AsyncDisposableStack();
  const all = new Map();
  let name = "the model";
  // Each file has a directory of its own.
  for (const part of isArray(model) ? model as readonly FilePart[] : [model as FilePart]) {
    const source = files.use(await JoinedSource.open("the model", part));
    name = source.name;
    const weights = await readSafetensors(source);
    for (const tensor of weights.names()) all.set(tensor.replace(/^model\./, ""), weights.get(tensor));
  }
  const weights = new Weights(name, all);
  const sizes = await sizesOf(weights, config);
  checkSizes(sizes);
  yield whisperHead(sizes, await readVocabulary(vocabulary));
  yield* tensors(weights, sizes);
}

async function sizesOf(weights: Weights, config: FileParts | undefined): Promise<WhisperSizes> {
  const size = (tensor: string, dimensions: number, at: number) => weights.get(tensor, dimensions).shape[at] as number;
  const width = size("decoder.embed_tokens.weight", 2, 1);
  const heads = config === undefined ? [width / 64, width / 64] : await headsOf(config);
  return {
    vocabulary: size("decoder.embed_tokens.weight", 2, 0),
    width,
    audioContext: size("encoder.embed_positions.weight", 2, 0),
    audioHeads: heads[0] ?? 0,
    audioLayers: layers(weights, "encoder"),
    textContext: size("decoder.embed_positions.weight", 2, 0),
    textHeads: heads[1] ?? 0,
    textLayers: layers(weights, "decoder"),
    mels: size("encoder.conv1.weight", 3, 1),
  };
}

async function headsOf(config: FileParts): Promise<number[]> {
  const text = await readText("the config.json", config);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ConversionError("the config.json isn't JSON; give that of the model", { expected: "JSON", cause });
  }
  const { encoder_attention_heads: encoder, decoder_attention_heads: decoder } = (value ?? {}) as Record<
    string,
    unknown
  >;
  return [encoder, decoder].map(Number);
}

function layers(weights: Weights, side: string): number {
  const numbers = [...weights.names()].map((name) => new RegExp(`^${side}\\.layers\\.(\\d+)\\.`).exec(name)?.[1]);
  return 1 + Math.max(-1, ...numbers.filter((one) => one !== undefined).map(Number));
}

/** Names in a layer, there and here; `"bias"` where there is one. Whisper's keys have none. */
const attention = [["query", "q_proj"], ["key", "k_proj"], ["value", "v_proj"], ["out", "out_proj"]] as const;

async function* tensors(weights: Weights, sizes: WhisperSizes): AsyncGenerator<Piece> {
  const { width, mels } = sizes;
  const copy = async function* (to: string, from: string, ...shape: number[]): AsyncGenerator<Piece> {
    yield* whisperTensor(to, shape, await weights.numbers(from, shape));
  };
  const norm = async function* (to: string, from: string): AsyncGenerator<Piece> {
    for (const kind of ["weight", "bias"]) yield* copy(`${to}.${kind}`, `${from}.${kind}`, width);
  };
  const linear = async function* (to: string, from: string, rows: number, columns: number): AsyncGenerator<Piece> {
    yield* copy(`${to}.weight`, `${from}.weight`, rows, columns);
    yield* copy(`${to}.bias`, `${from}.bias`, rows);
  };
  const attend = async function* (to: string, from: string): AsyncGenerator<Piece> {
    for (const [ours, theirs] of attention) {
      if (ours === "key") yield* copy(`${to}.key.weight`, `${from}.${theirs}.weight`, width, width);
      else yield* linear(`${to}.${ours}`, `${from}.${theirs}`, width, width);
    }
  };
  for (const [side, places] of [["encoder", sizes.audioContext], ["decoder", sizes.textContext]] as const) {
    yield* copy(`${side}.positional_embedding`, `${side}.embed_positions.weight`, places, width);
  }
  for (const [name, channels] of [["conv1", mels], ["conv2", width]] as const) {
    yield* copy(`encoder.${name}.weight`, `encoder.${name}.weight`, width, channels, 3);
    yield* copy(`encoder.${name}.bias`, `encoder.${name}.bias`, width);
  }
  yield* copy("decoder.token_embedding.weight", "decoder.embed_tokens.weight", sizes.vocabulary, width);
  yield* norm("encoder.ln_post", "encoder.layer_norm");
  yield* norm("decoder.ln", "decoder.layer_norm");
  for (const [side, count] of [["encoder", sizes.audioLayers], ["decoder", sizes.textLayers]] as const) {
    for (let layer = 0; layer < count; layer++) {
      const [from, to] = [`${side}.layers.${layer}`, `${side}.blocks.${layer}`];
      yield* norm(`${to}.attn_ln`, `${from}.self_attn_layer_norm`);
      yield* attend(`${to}.attn`, `${from}.self_attn`);
      if (side === "decoder") {
        yield* norm(`${to}.cross_attn_ln`, `${from}.encoder_attn_layer_norm`);
        yield* attend(`${to}.cross_attn`, `${from}.encoder_attn`);
      }
      yield* norm(`${to}.mlp_ln`, `${from}.final_layer_norm`);
      yield* linear(`${to}.mlp.0`, `${from}.fc1`, 4 * width, width);
      yield* linear(`${to}.mlp.2`, `${from}.fc2`, width, 4 * width);
    }
  }
}
