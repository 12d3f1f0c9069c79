/**
 * Safetensors files.
 *
 * @module
 */

import { ConversionError } from "./errors.ts";
import { floatBytes, floatReaders, type FloatType } from "./float_types.ts";
import type { JoinedSource } from "./parts.ts";
import { countOf, type Weight, Weights } from "./weights.ts";

/** The largest header that the format allows. */
const MAX_HEADER_BYTES = 100_000_000;

const types: Readonly<Record<string, FloatType>> = {
  F32: "f32",
  F16: "f16",
  BF16: "bf16",
  I8: "i8",
  I16: "i16",
  I32: "i32",
};

/** Reads the directory of a safetensors file. Throws {@linkcode ConversionError}. */
export async function readSafetensors(source: JoinedSource): Promise<Weights> {
  const length = new DataView((await source.bytes(0, 8)).buffer).getBigUint64(0, true);
  if (length > BigInt(Math.min(MAX_HEADER_BYTES, source.size - 8))) {
    throw refused(source, `it starts with a header of ${length} bytes`);
  }
  const data = 8 + Number(length);
  const header = parse(source, await source.bytes(8, Number(length)));
  const tensors = new Map<string, Weight>();
  for (const [name, entry] of Object.entries(header)) {
    if (name !== "__metadata__") tensors.set(name, weight(source, data, name, entry));
  }
  return new Weights(source.name, tensors);
}

function parse(source: JoinedSource, bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (cause) {
    throw refused(source, "its header isn't JSON", cause);
  }
  throw refused(source, "its header isn't an object");
}

function weight(source: JoinedSource, data: number, name: string, entry: unknown): Weight {
  const { dtype, shape, data_offsets: offsets } = (entry ?? {}) as Record<string, unknown>;
  if (!isSizes(shape) || !isSizes(offsets) || offsets.length !== 2) {
    throw refused(source, `tensor ${name} has no sizes`);
  }
  const type = Object.hasOwn(types, String(dtype)) ? types[String(dtype)] : undefined;
  const [from = 0, to = 0] = offsets;
  const readAs = type ?? "f32";
  if (data + to > source.size || (type !== undefined && to - from !== countOf(shape) * floatBytes[type])) {
    throw refused(source, `tensor ${name} has ${to - from} bytes for ${shape.join(" x ")} numbers of ${String(dtype)}`);
  }
  const read = async (): Promise<Float32Array<ArrayBuffer>> => {
    if (type === undefined) throw refused(source, `tensor ${name} is of type ${String(dtype)}, which isn't read`);
    return floatReaders[readAs](await source.bytes(data + from, to - from));
  };
  return { shape, read };
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((one) => Number.isSafeInteger(one) && one >= 0);
}

function refused(source: JoinedSource, how: string, cause?: unknown): ConversionError {
  return new ConversionError(`${source.name} isn't a sound safetensors file: ${how}; fetch it again`, {
    value: source.name,
    expected: "a safetensors file",
    ...(cause === undefined ? {} : { cause }),
  });
}
