/**
 * The file of a Silero model for voice activity: everything that whisper.cpp takes on trust is checked before it sees the file.
 *
 * @module
 */

import { type ModelCursor, readMagic } from "./source.ts";
import { F16, F32, readTensors, type TensorShape } from "./tensors.ts";

/** Header of a model for voice activity detection. */
export interface VadModelHeader {
  /** Its version, such as `"6.2.0"`. */
  readonly version: string;
  /** Samples that get one probability, at 16 kHz. */
  readonly window: number;
}

/** Channels in, channels out and kernel of each layer of the encoder: whisper.cpp builds its graph for these. */
const layers = [[129, 128, 3], [128, 64, 3], [64, 64, 3], [64, 128, 3]] as const;
/** Size of the memory cell, in and out. */
const CELL = 128;
const WINDOW = 512;
const LONGEST_TYPE = 64;

/** Reads and checks a model. Throws NotWhisperModelError, WhisperTruncatedError, WhisperFormatError. */
export function readVadModel(cursor: ModelCursor): VadModelHeader {
  readMagic(cursor);
  const number = (name: string, value: number): void => {
    const found = cursor.int32("the numbers at the start");
    if (found !== value) cursor.refuse(name, found, String(value));
  };
  const length = cursor.int32("the model's type");
  if (length < 1 || length > LONGEST_TYPE) {
    cursor.refuse(
      "the length of the model's type",
      length,
      `from 1 to ${LONGEST_TYPE}, as a model for voice activity has it`,
    );
  }
  cursor.skip(length, "the model's type");
  const version = Array.from({ length: 3 }, () => cursor.int32("the version")).join(".");
  number("n_window", WINDOW);
  number("n_context", 64);
  number("n_encoder_layers", layers.length);
  for (const [index, layer] of layers.entries()) {
    number(`encoder_in_channels[${index}]`, layer[0]);
    number(`encoder_out_channels[${index}]`, layer[1]);
    number(`kernel_sizes[${index}]`, layer[2]);
  }
  number("lstm_input_size", CELL);
  number("lstm_hidden_size", CELL);
  number("final_conv_in", CELL);
  number("final_conv_out", 1);
  readTensors(cursor, expectedTensors());
  return { version, window: WINDOW };
}

function expectedTensors(): Map<string, TensorShape> {
  const all = new Map<string, TensorShape>();
  const put = (name: string, type: number, ...dims: number[]) => all.set(`_model.${name}`, { dims, type });
  put("stft.forward_basis_buffer", F16, 256, 1, 258);
  for (const [index, [inner, outer, kernel]] of layers.entries()) {
    put(`encoder.${index}.reparam_conv.weight`, F16, kernel, inner, outer);
    put(`encoder.${index}.reparam_conv.bias`, F32, outer);
  }
  for (const part of ["ih", "hh"]) {
    put(`decoder.rnn.weight_${part}`, F32, CELL, 4 * CELL);
    put(`decoder.rnn.bias_${part}`, F32, 4 * CELL);
  }
  put("decoder.decoder.2.weight", F16, CELL);
  put("decoder.decoder.2.bias", F32, 1);
  return all;
}
