import { SCALAR_SIZE } from "../types/signature.ts";
import type { Pointer } from "../types/pointer.ts";
import type { Facts } from "./vocabulary.ts";

const wide: Readonly<Record<string, number>> = {
  float: 4,
  int32_t: 4,
  ggml_fp16_t: 2,
  ggml_bf16_t: 2,
};

/** Conditions on memory that a caller gives: its length is known where it is JavaScript's own. */
export function memoryWords({ native, call }: Facts): Readonly<Record<string, unknown>> {
  const fits = (memory: unknown, bytes: number): boolean => {
    if (typeof memory === "string") return new TextEncoder().encode(memory).length + 1 >= bytes;
    return !ArrayBuffer.isView(memory) || memory.byteLength >= bytes;
  };
  const integers = (memory: unknown, count: number): Int32Array => {
    if (memory instanceof Int32Array) return memory.subarray(0, count);
    return typeof memory === "bigint" ? native.viewInt32(memory as Pointer, count) : new Int32Array(0);
  };
  return {
    fits,
    fitsText: (text: unknown, bytes: number): boolean =>
      typeof text === "string" ? new TextEncoder().encode(text).length >= bytes : fits(text, bytes),
    aligned: (address: unknown, alignment: number): boolean =>
      typeof address !== "bigint" || address % BigInt(alignment) === 0n,
    /** Bytes of one element of the array that is the parameter of that place. */
    bytesEach: (index: number): number => wide[call.pointees[index] ?? ""] ?? SCALAR_SIZE.f32,
    idsBelow: (memory: unknown, end: number | undefined): boolean =>
      end === undefined || integers(memory, memory instanceof Int32Array ? memory.length : 0).every((id) => id < end),
    idsInside: (memory: unknown, count: number, end: number): boolean =>
      integers(memory, count).every((id) => id >= 0 && id < end),
  };
}
