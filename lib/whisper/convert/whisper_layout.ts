/**
 * Whisper's tensors in whisper.cpp's model file.
 *
 * @module
 */

import { ConversionError } from "./errors.ts";
import { GGML_MAGIC, int32s, tensor } from "./ggml_bytes.ts";
import { melFilters, melFrequencies } from "./mel_filters.ts";
import { joined } from "../../../ffi/memory/concat.ts";

/** The sizes of a Whisper model. */
export interface WhisperSizes {
  /** Tokens. */
  readonly vocabulary: number;
  /** Numbers that stand for a place in the audio or the text. */
  readonly width: number;
  /** Places in the audio. */
  readonly audioContext: number;
  /** Heads of the encoder's attention. */
  readonly audioHeads: number;
  /** Layers of the encoder. */
  readonly audioLayers: number;
  /** Places in the text. */
  readonly textContext: number;
  /** Heads of the decoder's attention. */
  readonly textHeads: number;
  /** Layers of the decoder. */
  readonly textLayers: number;
  /** Mel bands. */
  readonly mels: number;
}

/** Checks that sizes are those of a model that whisper.cpp can read. Throws {@linkcode ConversionError}. */
export function checkSizes(sizes: WhisperSizes): void {
  for (const [name, value] of Object.entries(sizes)) {
    if (Number.isSafeInteger(value) && value > 0 && value < 1 << 20) continue;
    throw new ConversionError(`the model's ${name} is ${value}; give a sound Whisper model`, {
      value,
      expected: "1 or more",
    });
  }
  for (const heads of [sizes.audioHeads, sizes.textHeads]) {
    if (sizes.width % heads === 0) continue;
    throw new ConversionError(`${sizes.width} numbers can't be shared by ${heads} heads; give a sound Whisper model`, {
      value: heads,
      expected: `a divisor of ${sizes.width}`,
    });
  }
}

/** The bytes before the tensors. */
export function whisperHead(sizes: WhisperSizes, tokens: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const { vocabulary, width, mels } = sizes;
  return joined(Uint8Array, [
    int32s(GGML_MAGIC, vocabulary, sizes.audioContext, width, sizes.audioHeads, sizes.audioLayers),
    // The last says that most tensors are 16-bit floats.
    int32s(sizes.textContext, width, sizes.textHeads, sizes.textLayers, mels, 1),
    int32s(mels, melFrequencies),
    new Uint8Array(melFilters(mels).buffer),
    int32s(tokens.length),
    sizedTokens(tokens),
  ]);
}

/** Each token with its length before it. */
function sizedTokens(tokens: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(tokens.reduce((sum, token) => sum + 4 + token.length, 0));
  const view = new DataView(all.buffer);
  let at = 0;
  for (const token of tokens) {
    view.setInt32(at, token.length, true);
    all.set(token, at + 4);
    at += 4 + token.length;
  }
  return all;
}

/** A tensor under whisper.cpp's name, in the type that whisper.cpp wants it in. */
export function whisperTensor(
  name: string,
  shape: readonly number[],
  values: Float32Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer>[] {
  // A bias of a convolution is added to columns.
  const column = /^encoder\.conv[12]\.bias$/.test(name);
  const plain = shape.length < 2 || name.endsWith("positional_embedding");
  return tensor(name, column || plain ? "f32" : "f16", column ? [...shape, 1] : shape, values);
}
