/**
 * Quantization of Whisper models.
 *
 * @module
 */

import { messageOf } from "../../../base/error.ts";
import { setImmediate } from "node:timers/promises";
import { ggml_ftype, GGML_QNT_VERSION, GGML_QNT_VERSION_FACTOR } from "../../../ffi/mod.ts";
import { quantize } from "../../ggml/tensor/quantize.ts";
import { tensorTypes } from "../../gguf/tensor_types.ts";
import { checkOneOf } from "../../../base/check.ts";
import { ConversionError } from "./errors.ts";
import { floatBytes, floatReaders } from "./float_types.ts";
import { GGML_MAGIC, int32s, tensorHead } from "./ggml_bytes.ts";
import { type FileParts, JoinedSource } from "./parts.ts";
import { joined } from "../../../ffi/memory/concat.ts";

type Piece = Uint8Array<ArrayBuffer>;

const fileTypes: Readonly<Record<WhisperQuantization, number>> = {
  q4_0: ggml_ftype.GGML_FTYPE_MOSTLY_Q4_0,
  q4_1: ggml_ftype.GGML_FTYPE_MOSTLY_Q4_1,
  q5_0: ggml_ftype.GGML_FTYPE_MOSTLY_Q5_0,
  q5_1: ggml_ftype.GGML_FTYPE_MOSTLY_Q5_1,
  q8_0: ggml_ftype.GGML_FTYPE_MOSTLY_Q8_0,
  q2_K: ggml_ftype.GGML_FTYPE_MOSTLY_Q2_K,
  q3_K: ggml_ftype.GGML_FTYPE_MOSTLY_Q3_K,
  q4_K: ggml_ftype.GGML_FTYPE_MOSTLY_Q4_K,
  q5_K: ggml_ftype.GGML_FTYPE_MOSTLY_Q5_K,
  q6_K: ggml_ftype.GGML_FTYPE_MOSTLY_Q6_K,
};

/** A type that whisper.cpp's models are quantized to. Those with a K need a model whose width is a multiple of 256: base, medium, large. */
export type WhisperQuantization =
  | "q4_0"
  | "q4_1"
  | "q5_0"
  | "q5_1"
  | "q8_0"
  | "q2_K"
  | "q3_K"
  | "q4_K"
  | "q5_K"
  | "q6_K";

/** Every type that {@linkcode quantizeWhisper} makes. */
export const whisperQuantizations: readonly WhisperQuantization[] = Object.keys(fileTypes) as WhisperQuantization[];

/** Matrices that stay as they are. */
const kept = /^(encoder\.conv[12]\.bias|(encoder|decoder)\.positional_embedding)$/;

/** Numbers that are quantized at once: the event loop runs between them. */
const VALUES_AT_ONCE = 1 << 18;

/**
 * Quantizes a model of whisper.cpp with floating-point weights, as upstream's `whisper-quantize` does, and yields the file's bytes in chunks, which
 * {@linkcode writeModel} writes.
 *
 * Throws InvalidArgumentError at once for an unknown type. The loop throws ModelNotFoundError, ModelAccessError; {@linkcode ConversionError} for a file that
 * is damaged, cut off, of another kind or quantized already, and for a type that the model's width doesn't fit.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { quantizeWhisper } from "./quantize_model.ts";
 *
 * await assert.rejects(quantizeWhisper(new Uint8Array(48), "q5_0").next(), /isn't a model of whisper.cpp/);
 * ```
 */
export function quantizeWhisper(model: FileParts, type: WhisperQuantization): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  return pieces(model, checkOneOf("type", type, whisperQuantizations));
}

async function* pieces(model: FileParts, type: WhisperQuantization): AsyncGenerator<Piece> {
  await using source = await JoinedSource.open("the model", model);
  const head = await readHead(source, type);
  yield head;
  let at = head.length;
  while (at < source.size) {
    const { name, shape, bits, headBytes } = await readTensorHead(source, at);
    at += headBytes;
    const count = shape.reduce((product, size) => product * size, 1);
    const size = count * floatBytes[bits];
    if (!Number.isSafeInteger(size) || at + size > source.size) {
      throw damaged(source, `it ends inside tensor ${name}`);
    }
    if (shape.length !== 2 || kept.test(name)) {
      yield tensorHead(name, bits === "f32" ? 0 : 1, shape);
      yield await source.bytes(at, size);
    } else {
      const id = [...tensorTypes.values()].find((one) => one.name === type)?.id ?? 0;
      yield tensorHead(name, id, shape);
      yield* rows(source, at, name, shape as [number, number], bits, type);
    }
    at += size;
  }
}

async function* rows(
  source: JoinedSource,
  at: number,
  name: string,
  [count, length]: readonly [number, number],
  bits: "f16" | "f32",
  type: WhisperQuantization,
): AsyncGenerator<Piece> {
  const step = Math.max(1, Math.floor(VALUES_AT_ONCE / length));
  for (let row = 0; row < count; row += step) {
    const some = Math.min(step, count - row);
    const bytes = await source.bytes(at + row * length * floatBytes[bits], some * length * floatBytes[bits]);
    try {
      yield await quantize(type, floatReaders[bits](bytes), length);
    } catch (cause) {
      const words = messageOf(cause);
      throw new ConversionError(`tensor ${name} of ${source.name} can't be quantized to ${type}: ${words}`, {
        value: name,
        expected: "another type, or a sound model",
        cause,
      });
    }
    await setImmediate();
  }
}

/** The bytes before the tensors, with the new type in them. */
async function readHead(source: JoinedSource, type: WhisperQuantization): Promise<Piece> {
  const fixed = new DataView((await source.bytes(0, Math.min(56, source.size))).buffer);
  if (fixed.byteLength < 56 || fixed.getInt32(0, true) !== GGML_MAGIC) {
    throw new ConversionError(`${source.name} isn't a model of whisper.cpp; give a .bin file with floats`, {
      value: source.name,
      expected: "a model of whisper.cpp",
    });
  }
  const fileType = fixed.getInt32(44, true);
  if (fileType !== 0 && fileType !== 1) {
    throw new ConversionError(`${source.name} is quantized already, or no Whisper model; give one with floats`, {
      value: fileType,
      expected: "16 or 32-bit floats",
    });
  }
  const [mels, frequencies] = [fixed.getInt32(48, true), fixed.getInt32(52, true)];
  if (mels < 1 || mels > 1024 || frequencies < 1 || frequencies > 65_536) throw damaged(source, "its mel filters");
  let at = 56 + mels * frequencies * 4;
  const tokens = new DataView((await source.bytes(at, 4)).buffer).getInt32(0, true);
  if (tokens < 0 || tokens > 1 << 20) throw damaged(source, `it announces ${tokens} tokens`);
  at += 4;
  // Read in one go: there are fifty thousand of a few bytes each.
  const block = await source.bytes(at, Math.min(source.size - at, tokens * 132));
  const view = new DataView(block.buffer);
  let end = 0;
  for (let token = 0; token < tokens; token++) {
    const length = end + 4 <= block.length ? view.getUint32(end, true) : block.length;
    end += 4 + length;
    if (end > block.length) throw damaged(source, `its token ${token}`);
  }
  const newType = GGML_QNT_VERSION * GGML_QNT_VERSION_FACTOR + fileTypes[type];
  return joined(Uint8Array, [
    await source.bytes(0, 44),
    int32s(newType),
    await source.bytes(48, at - 48),
    block.subarray(0, end),
  ]);
}

async function readTensorHead(source: JoinedSource, at: number): Promise<
  { name: string; shape: number[]; bits: "f16" | "f32"; headBytes: number }
> {
  const head = new DataView((await source.bytes(at, 12)).buffer);
  const [dimensions, nameLength, type] = [0, 4, 8].map((place) => head.getInt32(place, true)) as [
    number,
    number,
    number,
  ];
  if (dimensions < 0 || dimensions > 4 || nameLength < 1 || nameLength > 1024) throw damaged(source, `byte ${at}`);
  const rest = await source.bytes(at + 12, dimensions * 4 + nameLength);
  const sizes = new Int32Array(rest.buffer, 0, dimensions);
  const name = new TextDecoder().decode(rest.subarray(dimensions * 4));
  if (sizes.some((size) => size < 1)) throw damaged(source, `the sizes of tensor ${name}`);
  if (type !== 0 && type !== 1) throw damaged(source, `tensor ${name} is of type ${type}, not of 16 or 32-bit floats`);
  return { name, shape: [...sizes].reverse(), bits: type === 0 ? "f32" : "f16", headBytes: 12 + rest.length };
}

function damaged(source: JoinedSource, how: string): ConversionError {
  return new ConversionError(`${source.name} is cut off or damaged (${how}); fetch it again`, {
    value: source.name,
    expected: "a model of whisper.cpp",
  });
}
