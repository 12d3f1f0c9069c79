/**
 * CTranslate2's Whisper models (faster-whisper) to whisper.cpp's format.
 *
 * @module
 */

import { type Ct2File, readCt2 } from "./ct2_file.ts";
import { ConversionError } from "./errors.ts";
import { type FileParts, JoinedSource } from "./parts.ts";
import { readVocabulary } from "./vocabulary.ts";
import type { Weights } from "./weights.ts";
import { checkSizes, whisperHead, type WhisperSizes, whisperTensor } from "./whisper_layout.ts";

type Piece = Uint8Array<ArrayBuffer>;

/**
 * Converts a Whisper model of CTranslate2 (faster-whisper's `model.bin` and its vocabulary) to whisper.cpp's format, with 16-bit floats, and yields the
 * file's bytes in chunks, which {@linkcode writeModel} writes. One tensor at a time is in memory.
 *
 * The loop throws ModelNotFoundError, ModelAccessError, InvalidArgumentError; {@linkcode ConversionError} for a file that is damaged, cut off or of another
 * kind.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { convertCt2Whisper } from "./ct2_whisper.ts";
 *
 * await assert.rejects(convertCt2Whisper(new Uint8Array(8), "vocabulary.txt").next(), /isn't a CTranslate2 model/);
 * ```
 */
export async function* convertCt2Whisper(
  model: FileParts,
  vocabulary: FileParts,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  await using source = await JoinedSource.open("the model", model);
  const file = await readCt2(source);
  const sizes = await sizesOf(file, source.name);
  checkSizes(sizes);
  const tokens = await readVocabulary(vocabulary);
  yield whisperHead(sizes, tokens);
  yield* tensors(file.weights, sizes);
}

async function sizesOf({ spec, weights }: Ct2File, name: string): Promise<WhisperSizes> {
  if (spec !== "WhisperSpec") {
    throw new ConversionError(`${name} is a ${spec}, no Whisper model; give the model.bin of one`, {
      value: spec,
      expected: "WhisperSpec",
    });
  }
  const size = (tensor: string, dimensions: number, at: number) => weights.get(tensor, dimensions).shape[at] as number;
  const scalar = async (tensor: string) => (await weights.get(tensor).read())[0] ?? 0;
  return {
    vocabulary: size("decoder/embeddings/weight", 2, 0),
    width: size("decoder/embeddings/weight", 2, 1),
    audioContext: size("encoder/position_encodings/encodings", 2, 0),
    audioHeads: await scalar("encoder/num_heads"),
    audioLayers: layers(weights, "encoder"),
    textContext: size("decoder/position_encodings/encodings", 2, 0),
    textHeads: await scalar("decoder/num_heads"),
    textLayers: layers(weights, "decoder"),
    mels: size("encoder/conv1/weight", 3, 1),
  };
}

function layers(weights: Weights, side: string): number {
  const numbers = [...weights.names()].map((name) => new RegExp(`^${side}/layer_(\\d+)/`).exec(name)?.[1]);
  return 1 + Math.max(-1, ...numbers.filter((one) => one !== undefined).map(Number));
}

async function* tensors(weights: Weights, sizes: WhisperSizes): AsyncGenerator<Piece> {
  const { width, mels } = sizes;
  const copy = async function* (to: string, from: string, ...shape: number[]): AsyncGenerator<Piece> {
    yield* whisperTensor(to, shape, await weights.numbers(from, shape));
  };
  const norm = async function* (to: string, from: string): AsyncGenerator<Piece> {
    yield* copy(`${to}.weight`, `${from}/gamma`, width);
    yield* copy(`${to}.bias`, `${from}/beta`, width);
  };
  const linear = async function* (to: string, from: string, rows: number, columns: number): AsyncGenerator<Piece> {
    yield* copy(`${to}.weight`, `${from}/weight`, rows, columns);
    yield* copy(`${to}.bias`, `${from}/bias`, rows);
  };
  /** Several projections that CTranslate2 keeps in one tensor; Whisper's keys have no bias. */
  const projections = async function* (to: string, from: string, names: readonly string[]): AsyncGenerator<Piece> {
    const matrix = await weights.numbers(`${from}/weight`, [width * names.length, width]);
    const bias = await weights.numbers(`${from}/bias`, [width * names.length]);
    for (const [index, name] of names.entries()) {
      const rows = matrix.subarray(index * width * width, (index + 1) * width * width);
      yield* whisperTensor(`${to}.${name}.weight`, [width, width], rows);
      const part = bias.subarray(index * width, (index + 1) * width);
      if (name !== "key") yield* whisperTensor(`${to}.${name}.bias`, [width], part.slice());
      else if (part.some((one) => one !== 0)) throw keyBias(from);
    }
  };
  for (const [side, places] of [["encoder", sizes.audioContext], ["decoder", sizes.textContext]] as const) {
    yield* copy(`${side}.positional_embedding`, `${side}/position_encodings/encodings`, places, width);
  }
  for (const [name, channels] of [["conv1", mels], ["conv2", width]] as const) {
    yield* copy(`encoder.${name}.weight`, `encoder/${name}/weight`, width, channels, 3);
    yield* copy(`encoder.${name}.bias`, `encoder/${name}/bias`, width);
  }
  yield* copy("decoder.token_embedding.weight", "decoder/embeddings/weight", sizes.vocabulary, width);
  yield* norm("encoder.ln_post", "encoder/layer_norm");
  yield* norm("decoder.ln", "decoder/layer_norm");
  for (const [side, count] of [["encoder", sizes.audioLayers], ["decoder", sizes.textLayers]] as const) {
    for (let layer = 0; layer < count; layer++) {
      const [from, to] = [`${side}/layer_${layer}`, `${side}.blocks.${layer}`];
      yield* norm(`${to}.attn_ln`, `${from}/self_attention/layer_norm`);
      yield* projections(`${to}.attn`, `${from}/self_attention/linear_0`, ["query", "key", "value"]);
      yield* linear(`${to}.attn.out`, `${from}/self_attention/linear_1`, width, width);
      if (side === "decoder") {
        yield* norm(`${to}.cross_attn_ln`, `${from}/attention/layer_norm`);
        yield* linear(`${to}.cross_attn.query`, `${from}/attention/linear_0`, width, width);
        yield* projections(`${to}.cross_attn`, `${from}/attention/linear_1`, ["key", "value"]);
        yield* linear(`${to}.cross_attn.out`, `${from}/attention/linear_2`, width, width);
      }
      yield* norm(`${to}.mlp_ln`, `${from}/ffn/layer_norm`);
      yield* linear(`${to}.mlp.0`, `${from}/ffn/linear_0`, 4 * width, width);
      yield* linear(`${to}.mlp.2`, `${from}/ffn/linear_1`, width, 4 * width);
    }
  }
}

function keyBias(name: string): ConversionError {
  return new ConversionError(`tensor ${name}/bias adds to keys, which Whisper's never do; give a Whisper model`, {
    value: name,
    expected: "zeros",
  });
}
