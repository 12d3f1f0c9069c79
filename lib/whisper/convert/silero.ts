/**
 * Silero's voice activity models to whisper.cpp's format.
 *
 * @module
 */

import { show } from "../../../base/check.ts";
import { options as declare, type RulesOf, text } from "../../../base/options.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { GGML_MAGIC, int32s, sized, tensor } from "./ggml_bytes.ts";
import { type FileParts, JoinedSource } from "./parts.ts";
import { readSafetensors } from "./safetensors_file.ts";
import { joined } from "../../../ffi/memory/concat.ts";

type Piece = Uint8Array<ArrayBuffer>;

/** Options of `convertSileroVad`. */
export interface ConvertSileroOptions {
  /** The model's version as three numbers, which the file carries but nothing depends on. Default `"6.2.0"`. */
  version?: string | undefined;
}

const silero = declare(
  "convertSileroVad",
  { version: text({ default: "6.2.0" }) } satisfies RulesOf<ConvertSileroOptions>,
);

/** Samples of a window, of the context before it, and layers of the encoder. */
const [windowSamples, contextSamples] = [512, 64] as const;

/** Each layer of the encoder: channels in, channels out, and how many neighbours it sees. */
const encoder = [[129, 128, 3], [128, 64, 3], [64, 64, 3], [64, 128, 3]] as const;

/** Numbers in the memory of the recurrent layer. */
const [memory, gates] = [128, 4 * 128] as const;

interface Move {
  /** The name in whisper.cpp's file. */
  readonly to: string;
  /** The name in Silero's. */
  readonly from: string;
  readonly type: "f16" | "f32";
  /** The shape in Silero's file. */
  readonly shape: readonly number[];
  /** The shape in whisper.cpp's, where it is another. */
  readonly shapeTo?: readonly number[];
}

const moves: readonly Move[] = [
  ...encoder.flatMap(([inside, outside, taps], index): Move[] => [
    {
      to: `_model.encoder.${index}.reparam_conv.weight`,
      from: `conv${index + 1}.weight`,
      type: "f16",
      shape: [outside, inside, taps],
    },
    { to: `_model.encoder.${index}.reparam_conv.bias`, from: `conv${index + 1}.bias`, type: "f32", shape: [outside] },
  ]),
  { to: "_model.decoder.rnn.weight_ih", from: "lstm_cell.weight_ih", type: "f32", shape: [gates, memory] },
  { to: "_model.decoder.rnn.weight_hh", from: "lstm_cell.weight_hh", type: "f32", shape: [gates, memory] },
  { to: "_model.decoder.rnn.bias_ih", from: "lstm_cell.bias_ih", type: "f32", shape: [gates] },
  { to: "_model.decoder.rnn.bias_hh", from: "lstm_cell.bias_hh", type: "f32", shape: [gates] },
  {
    to: "_model.decoder.decoder.2.weight",
    from: "final_conv.weight",
    type: "f16",
    shape: [1, memory, 1],
    shapeTo: [memory],
  },
  { to: "_model.decoder.decoder.2.bias", from: "final_conv.bias", type: "f32", shape: [1], shapeTo: [] },
  { to: "_model.stft.forward_basis_buffer", from: "stft_conv.weight", type: "f16", shape: [258, 1, 256] },
];

/**
 * Converts Silero's voice activity model for 16 kHz (`silero_vad_16k.safetensors`) to whisper.cpp's format, and yields the file's bytes in chunks.
 *
 * Throws InvalidArgumentError at once for a wrong `version`. The loop throws ModelNotFoundError, ModelAccessError; ConversionError for a file that is
 * damaged or of another kind.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { convertSileroVad } from "./silero.ts";
 *
 * await assert.rejects(convertSileroVad(new Uint8Array(8)).next(), /isn't a sound safetensors file|no tensor/);
 * ```
 */
export function convertSileroVad(
  model: FileParts,
  options?: ConvertSileroOptions,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const { version } = silero.check(options);
  const numbers = /^(\d{1,4})\.(\d{1,4})\.(\d{1,4})$/.exec(version)?.slice(1).map(Number);
  if (numbers === undefined) {
    throw new InvalidArgumentError(`version is ${show(version)}; expected three numbers, such as "6.2.0"`, {
      value: version,
      expected: '"6.2.0"',
    });
  }
  return pieces(model, numbers);
}

async function* pieces(model: FileParts, version: readonly number[]): AsyncGenerator<Piece> {
  await using source = await JoinedSource.open("the model", model);
  const weights = await readSafetensors(source);
  yield joined(Uint8Array, [
    int32s(GGML_MAGIC),
    sized(new TextEncoder().encode("silero-16k")),
    int32s(...version, windowSamples, contextSamples, encoder.length),
    ...encoder.map((layer) => int32s(...layer)),
    int32s(memory, memory, memory, 1),
  ]);
  for (const { to, from, type, shape, shapeTo = shape } of moves) {
    yield* tensor(to, type, shapeTo, await weights.numbers(from, shape));
  }
}
