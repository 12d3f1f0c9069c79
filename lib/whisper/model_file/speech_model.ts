/**
 * The file of a Whisper model: everything that whisper.cpp takes on trust is checked before it sees the file.
 *
 * @module
 */

import { tensorTypes } from "../../gguf/tensor_types.ts";
import { type ModelCursor, readMagic } from "./source.ts";
import { F16, F32, readTensors, type TensorShape } from "./tensors.ts";

/** The numbers at the start of a model. */
export interface WhisperNumbers {
  /** Tokens of the vocabulary, `n_vocab`. */
  readonly vocabularySize: number;
  /** Places of the encoder, `n_audio_ctx`: 1500 for 30 seconds. */
  readonly audioContext: number;
  /** Width of encoder and decoder, `n_audio_state`. */
  readonly width: number;
  /** Attention heads of the encoder, `n_audio_head`. */
  readonly audioHeads: number;
  /** Layers of the encoder, `n_audio_layer`. */
  readonly audioLayers: number;
  /** Places of the decoder, `n_text_ctx`. */
  readonly textContext: number;
  /** Attention heads of the decoder, `n_text_head`. */
  readonly textHeads: number;
  /** Layers of the decoder, `n_text_layer`. */
  readonly textLayers: number;
  /** Bands of the spectrogram, `n_mels`. */
  readonly melBands: number;
  /** The type of the large tensors, `enum ggml_type`. */
  readonly weightType: number;
}

/** Header of a model file, and the offsets of its tensors' data. */
export interface SpeechModelHeader {
  /** The numbers at its start. */
  readonly numbers: WhisperNumbers;
  /** The places of the tensors' data. */
  readonly tensorPlaces: readonly number[];
}

/** Sizes of the vocabulary that whisper.cpp knows: English only, 99 languages, 100 languages. Others make it read beyond its tables. */
const vocabularySizes = [51864, 51865, 51866];
/** File types (`enum ggml_ftype`) of whole models and the tensor types that they mean. */
const weightTypes: Readonly<Record<number, number>> = {
  0: 0,
  1: 1,
  2: 2,
  3: 3,
  7: 8,
  8: 6,
  9: 7,
  10: 10,
  11: 11,
  12: 12,
  13: 13,
  14: 14,
};
/** whisper.cpp looks this token up and takes it on trust that it is there. */
const BLANK = 0x20;
/** `GGML_QNT_VERSION_FACTOR`. */
const QUANT_VERSION_FACTOR = 1000;
/** `1 + WHISPER_N_FFT / 2`. */
const FFT_BINS = 201;
/** More than any model has; keeps sums of sizes exact. */
const most = { width: 8192, layers: 256, textContext: 4096, tokenLength: 1024 };
/** The encoder's place count that the frames of 30 seconds fill. */
const AUDIO_CONTEXT = 1500;

/** Reads and checks a model. Throws NotWhisperModelError, WhisperTruncatedError, WhisperFormatError. */
export function readSpeechModel(cursor: ModelCursor): SpeechModelHeader {
  readMagic(cursor);
  const numbers = readNumbers(cursor);
  readFilters(cursor, numbers);
  readVocabulary(cursor, numbers);
  return { numbers, tensorPlaces: readTensors(cursor, expectedTensors(numbers)) };
}

function readNumbers(cursor: ModelCursor): WhisperNumbers {
  const number = (name: string, least: number, largest: number): number => {
    const value = cursor.int32("the numbers at the start");
    if (value < least || value > largest) cursor.refuse(name, value, `from ${least} to ${largest}`);
    return value;
  };
  const vocabularySize = cursor.int32("the numbers at the start");
  if (!vocabularySizes.includes(vocabularySize)) {
    cursor.refuse("n_vocab", vocabularySize, `one of ${vocabularySizes.join(", ")}`);
  }
  const numbers = {
    vocabularySize,
    audioContext: number("n_audio_ctx", AUDIO_CONTEXT, AUDIO_CONTEXT),
    width: number("n_audio_state", 1, most.width),
    audioHeads: number("n_audio_head", 1, most.width),
    audioLayers: number("n_audio_layer", 1, most.layers),
    textContext: number("n_text_ctx", 16, most.textContext),
    textWidth: number("n_text_state", 1, most.width),
    textHeads: number("n_text_head", 1, most.width),
    textLayers: number("n_text_layer", 1, most.layers),
    melBands: number("n_mels", 1, 256),
  };
  const { textWidth, ...rest } = numbers;
  if (textWidth !== numbers.width) cursor.refuse("n_text_state", textWidth, `n_audio_state, ${numbers.width}`);
  for (const [name, heads] of [["n_audio_head", numbers.audioHeads], ["n_text_head", numbers.textHeads]] as const) {
    if (numbers.width % heads !== 0) cursor.refuse(name, heads, `a divisor of ${numbers.width}`);
  }
  return { ...rest, weightType: readWeightType(cursor, numbers.width) };
}

function readWeightType(cursor: ModelCursor, width: number): number {
  const fileType = cursor.int32("the numbers at the start");
  const weightType = weightTypes[fileType % QUANT_VERSION_FACTOR];
  if (fileType < 0 || weightType === undefined) cursor.refuse("ftype", fileType, "a file type that whisper.cpp knows");
  const { blockSize = 1, name = "" } = tensorTypes.get(weightType) ?? {};
  if (width % blockSize !== 0) {
    cursor.refuse("n_audio_state", width, `a multiple of ${blockSize}, the block of ${name}`);
  }
  return weightType;
}

function readFilters(cursor: ModelCursor, { melBands }: WhisperNumbers): void {
  const [bands, bins] = [cursor.int32("the filters"), cursor.int32("the filters")];
  if (bands !== melBands) cursor.refuse("the number of filters", bands, `n_mels, ${melBands}`);
  if (bins !== FFT_BINS) cursor.refuse("the length of a filter", bins, String(FFT_BINS));
  const odd = cursor.float32(bands * bins, "the filters").find((value) => !Number.isFinite(value));
  if (odd !== undefined) cursor.refuse("a filter's value", odd, "a finite number");
}

function readVocabulary(cursor: ModelCursor, { vocabularySize }: WhisperNumbers): void {
  const count = cursor.int32("the vocabulary");
  if (count < 1 || count > vocabularySize) cursor.refuse("the number of tokens", count, `from 1 to ${vocabularySize}`);
  let hasBlank = false;
  for (let index = 0; index < count; index++) {
    const length = cursor.int32("the vocabulary");
    if (length < 0 || length > most.tokenLength) {
      cursor.refuse(`the length of token ${index}`, length, `from 0 to ${most.tokenLength}`);
    }
    const token = cursor.bytes(length, "the vocabulary");
    hasBlank ||= length === 1 && token[0] === BLANK;
  }
  if (!hasBlank) cursor.refuse("the vocabulary", "without the token of one blank", "one that has it");
}

/** Every tensor of a model of these numbers. */
function expectedTensors(numbers: WhisperNumbers): Map<string, TensorShape> {
  const { width, audioContext, textContext, vocabularySize, melBands, weightType } = numbers;
  const convolution = weightType === F32 ? F32 : F16;
  const all = new Map<string, TensorShape>();
  const put = (name: string, type: number, ...dims: number[]) => all.set(name, { dims, type });
  put("encoder.positional_embedding", F32, width, audioContext);
  put("decoder.positional_embedding", F32, width, textContext);
  put("encoder.conv1.weight", convolution, 3, melBands, width);
  put("encoder.conv1.bias", F32, 1, width);
  put("encoder.conv2.weight", convolution, 3, width, width);
  put("encoder.conv2.bias", F32, 1, width);
  put("decoder.token_embedding.weight", weightType, width, vocabularySize);
  for (const norm of ["encoder.ln_post", "decoder.ln"]) {
    for (const part of ["weight", "bias"]) put(`${norm}.${part}`, F32, width);
  }
  const linear = (name: string, inner: number, outer: number, bias = true) => {
    put(`${name}.weight`, weightType, inner, outer);
    if (bias) put(`${name}.bias`, F32, outer);
  };
  for (const [side, layers] of [["encoder", numbers.audioLayers], ["decoder", numbers.textLayers]] as const) {
    for (let layer = 0; layer < layers; layer++) {
      const block = `${side}.blocks.${layer}`;
      linear(`${block}.mlp.0`, width, 4 * width);
      linear(`${block}.mlp.2`, 4 * width, width);
      const attentions = side === "encoder" ? ["attn"] : ["attn", "cross_attn"];
      for (const norm of ["mlp_ln", ...attentions.map((one) => `${one}_ln`)]) {
        for (const part of ["weight", "bias"]) put(`${block}.${norm}.${part}`, F32, width);
      }
      for (const attention of attentions) {
        for (const part of ["query", "key", "value", "out"]) {
          linear(`${block}.${attention}.${part}`, width, width, part !== "key");
        }
      }
    }
  }
  return all;
}
