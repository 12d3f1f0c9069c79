/** Models in whisper.cpp's format that are small and say nothing sensible. */

import { joined } from "../../ffi/memory/concat.ts";
import { randomNumbers } from "../support/random.ts";

/** Writes bytes one after another. */
class Writer {
  readonly #parts: Uint8Array[] = [];

  int32(...values: number[]): void {
    this.#parts.push(new Uint8Array(Int32Array.from(values).buffer));
  }

  bytes(bytes: Uint8Array | string): void {
    this.#parts.push(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes);
  }

  whole(): Uint8Array<ArrayBuffer> {
    return joined(Uint8Array, this.#parts);
  }
}

const width = 8, melBands = 80, textContext = 32, vocabularySize = 51864;

/** The bytes of a model of one layer each, and where its tensors begin. */
export function smallModel(seed = 1): { bytes: Uint8Array<ArrayBuffer>; headerBytes: number } {
  const next = randomNumbers(seed);
  const writer = new Writer();
  writer.int32(0x67676d6c, vocabularySize, 1500, width, 2, 1, textContext, width, 2, 1, melBands, 1);
  writer.int32(melBands, 201);
  writer.bytes(new Uint8Array(Float32Array.from({ length: melBands * 201 }, () => next() / 100).buffer));
  const words = Array.from({ length: 300 }, (_, index) => index === 0 ? " " : ` w${index}`);
  writer.int32(words.length);
  for (const word of words) {
    writer.int32(word.length);
    writer.bytes(word);
  }
  const headerBytes = writer.whole().length;
  const put = (name: string, isHalf: boolean, ...dims: number[]) => {
    writer.int32(dims.length, name.length, isHalf ? 1 : 0, ...dims);
    writer.bytes(name);
    const count = dims.reduce((product, dim) => product * dim, 1);
    const isNorm = /ln[^.]*\.weight$/.test(name);
    writer.bytes(
      isHalf
        ? new Uint8Array(
          Uint16Array.from({ length: count }, () => (next() < 0.5 ? 0x8000 : 0) + 0x2c00 + Math.floor(next() * 0x400))
            .buffer,
        )
        : new Uint8Array(Float32Array.from({ length: count }, () => isNorm ? 1 : (next() - 0.5) / 10).buffer),
    );
  };
  put("encoder.positional_embedding", false, width, 1500);
  put("decoder.positional_embedding", false, width, textContext);
  put("encoder.conv1.weight", true, 3, melBands, width);
  put("encoder.conv1.bias", false, 1, width);
  put("encoder.conv2.weight", true, 3, width, width);
  put("encoder.conv2.bias", false, 1, width);
  put("decoder.token_embedding.weight", true, width, vocabularySize);
  for (const norm of ["encoder.ln_post", "decoder.ln"]) {
    for (const part of ["weight", "bias"]) put(`${norm}.${part}`, false, width);
  }
  for (const side of ["encoder", "decoder"]) {
    const block = `${side}.blocks.0`;
    const attentions = side === "encoder" ? ["attn"] : ["attn", "cross_attn"];
    for (const norm of ["mlp_ln", ...attentions.map((one) => `${one}_ln`)]) {
      for (const part of ["weight", "bias"]) put(`${block}.${norm}.${part}`, false, width);
    }
    put(`${block}.mlp.0.weight`, true, width, 4 * width);
    put(`${block}.mlp.0.bias`, false, 4 * width);
    put(`${block}.mlp.2.weight`, true, 4 * width, width);
    put(`${block}.mlp.2.bias`, false, width);
    for (const attention of attentions) {
      for (const part of ["query", "key", "value", "out"]) {
        put(`${block}.${attention}.${part}.weight`, true, width, width);
        if (part !== "key") put(`${block}.${attention}.${part}.bias`, false, width);
      }
    }
  }
  return { bytes: writer.whole(), headerBytes };
}

/** A copy with something wrong: bytes changed, cut out, put in, cut off, or a number of the header set to an extreme. */
export function mutated(bytes: Uint8Array, headerBytes: number, next: () => number): Uint8Array<ArrayBuffer> {
  const below = (limit: number) => Math.floor(next() * limit);
  const place = () => next() < 0.7 ? below(Math.min(bytes.length, headerBytes)) : below(bytes.length);
  const copy = new Uint8Array(bytes);
  const kind = below(6);
  if (kind === 0) return copy.slice(0, below(bytes.length));
  if (kind === 1) {
    for (let count = 1 + below(8); count > 0; count--) copy[place()] = below(256);
    return copy;
  }
  if (kind === 2) {
    const extremes = [0, 1, -1, 0x7fffffff, -0x80000000, 0xffff, 1 << below(31)];
    new DataView(copy.buffer).setInt32(
      Math.min(below(14) * 4, copy.length - 4),
      extremes[below(extremes.length)] as number,
      true,
    );
    return copy;
  }
  const at = place();
  const length = 1 + below(64);
  const tail = copy.subarray(kind === 3 ? Math.min(bytes.length, at + length) : at);
  const middle = kind === 3 ? new Uint8Array(0) : Uint8Array.from({ length }, () => below(256));
  return joined(Uint8Array, [copy.subarray(0, at), middle, tail]);
}
