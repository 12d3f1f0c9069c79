/** Damaged GGUF files, always the same ones, and what reading them costs. */

import process from "node:process";
import { GgmlError } from "../../../lib/errors.ts";
import { MemorySource } from "../../../lib/gguf/byte_source.ts";
import { GgufFile } from "../../../lib/gguf/file.ts";
import { parseGgufHeader } from "../../../lib/gguf/header.ts";
import { encodeGguf } from "../../../lib/gguf/writer.ts";
import { NativeGguf } from "../../../lib/ggml/native_gguf/native_gguf.ts";
import { randomNumbers } from "../../support/random.ts";

/** What became of the files. */
export interface FuzzCounts {
  /** Files that were read by TypeScript alone. */
  read: number;
  /** Files that were refused, by the code of the error. */
  refused: Record<string, number>;
  /** Files that ggml itself was given, and read. */
  native: number;
  /** The most bytes that were allocated for a file, as a multiple of its size; what every file takes is left out. */
  worst: number;
}

/** Small files with a bit of everything. */
export const samples: readonly Uint8Array<ArrayBuffer>[] = [
  encodeGguf({
    metadata: {
      "general.architecture": "llama",
      "a.u8": { type: "uint8", value: 1 },
      "a.i16": { type: "int16", value: -2 },
      "a.u32": { type: "uint32", value: 3 },
      "a.f32": { type: "float32", value: 4.5 },
      "a.u64": { type: "uint64", value: 5 },
      "a.f64": { type: "float64", value: 6.5 },
      "a.yes": true,
      "a.words": ["one", "", "three", "🌍"],
      "a.numbers": Int32Array.of(1, 2, 3),
      "a.bools": { type: "array", elementType: "bool", value: [true, false, true] },
    },
    tensors: [
      { name: "first", type: "q4_0", shape: [32, 2], data: new Uint8Array(36).fill(1) },
      { name: "second", type: "f32", shape: [3, 2, 1, 2], data: new Float32Array(12) },
      { name: "third", type: "f16", shape: [5], data: new Uint16Array(5) },
    ],
  }),
  encodeGguf({
    metadata: { "tokenizer.ggml.tokens": Array.from({ length: 40 }, (_, index) => `token ${index}`) },
    tensors: Array.from({ length: 12 }, (_, index) => ({
      name: `t${index}`,
      type: "f32",
      shape: [index],
      data: new Float32Array(index),
    })),
    alignment: 64,
  }),
  encodeGguf({
    metadata: {
      nested: {
        type: "array",
        elementType: "array",
        value: [{ type: "array", elementType: "int8", value: Int8Array.of(1, 2) }, {
          type: "array",
          elementType: "string",
          value: ["x", "y"],
        }],
      },
      "general.name": "no tensors",
    },
  }),
];

const interesting = [0n, 1n, 7n, 8n, 9n, 31n, 32n, 64n, 255n, 256n, 0x7fffn, 0xffffn, 0x7fff_ffffn, 0xffff_ffffn]
  .concat([1n << 32n, 1n << 40n, 1n << 53n, (1n << 62n) + 1n, (1n << 63n) - 1n, 1n << 63n, (1n << 64n) - 1n]);

/** A damaged copy of a file. */
export function damage(file: Uint8Array<ArrayBuffer>, next: () => number): Uint8Array<ArrayBuffer> {
  let bytes = file.slice();
  for (let rounds = 1 + Math.floor(next() * 3); rounds > 0; rounds--) bytes = damageOnce(bytes, next);
  return bytes;
}

function damageOnce(bytes: Uint8Array<ArrayBuffer>, next: () => number): Uint8Array<ArrayBuffer> {
  const at = Math.floor(next() * bytes.length);
  const other = Math.floor(next() * bytes.length);
  const [from, to] = [Math.min(at, other), Math.max(at, other)];
  const value = interesting[Math.floor(next() * interesting.length)] ?? 0n;
  switch (Math.floor(next() * 8)) {
    case 0:
      bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(next() * 8));
      return bytes;
    case 1:
      bytes[at] = Math.floor(next() * 256);
      return bytes;
    case 2:
      if (at + 4 <= bytes.length) new DataView(bytes.buffer).setUint32(at, Number(value & 0xffff_ffffn), true);
      return bytes;
    case 3:
      if (at + 8 <= bytes.length) new DataView(bytes.buffer).setBigUint64(at, value, true);
      return bytes;
    case 4:
      return bytes.slice(0, at);
    case 5:
      return Uint8Array.from([...bytes.subarray(0, from), ...bytes.subarray(to)]);
    case 6:
      return Uint8Array.from([
        ...bytes.subarray(0, to),
        ...bytes.subarray(from, Math.min(to, from + 200)),
        ...bytes.subarray(to),
      ]);
    default:
      bytes.copyWithin(from, at, Math.min(bytes.length, at + 16));
      return bytes;
  }
}

/** What any file takes: the window over it, pieces of the reader. */
const constant = 256;
/** What is allocated while it is counted, in bytes. */
let allocated = 0;
let counting = false;

/** Counts the bytes of arrays that are made by their length, until it is disposed. */
export function countAllocations(): Disposable {
  const undo: (() => void)[] = [];
  const note = (value: unknown, unit: number): void => {
    if (counting && typeof value === "number") allocated += value * unit;
  };
  for (const name of ["Uint8Array", "ArrayBuffer", "Array", "BigUint64Array"] as const) {
    const unit = name === "Array" || name === "BigUint64Array" ? 8 : 1;
    const real = globalThis[name] as unknown as new (...values: unknown[]) => object;
    const proxy = new Proxy(real, {
      construct(target, values, newTarget) {
        note(values[0], unit);
        return Reflect.construct(target, values, newTarget) as object;
      },
    });
    const set = (value: unknown): object =>
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    set(proxy);
    undo.push(() => set(real));
  }
  const { from } = Array;
  undo.push(() => Array.from = from);
  Array.from = ((items: { length?: number }, ...rest: []) => {
    note(items?.length, 8);
    return (from as (...values: unknown[]) => unknown[]).call(Array, items, ...rest);
  }) as typeof Array.from;
  return { [Symbol.dispose]: () => undo.reverse().forEach((one) => one()) };
}

/** Reads a file in every way. Gives the code of the error, or nothing. Throws for an error that isn't the library's. */
export async function readAll(
  bytes: Uint8Array<ArrayBuffer>,
  counts: FuzzCounts,
  index: number,
): Promise<string | undefined> {
  allocated = 0;
  counting = true;
  let code: string | undefined;
  try {
    await using file = await GgufFile.open(bytes);
    for (const key of file.metadata.keys()) await file.value(key);
    for (const { name } of file.tensors) await file.readTensor(name);
    counts.read++;
  } catch (error) {
    code = codeOf(error);
    counts.refused[code] = (counts.refused[code] ?? 0) + 1;
  } finally {
    counting = false;
  }
  counts.worst = Math.max(counts.worst, (allocated - constant) / Math.max(1, bytes.length));
  if (await parseGgufHeader(new MemorySource(bytes)).then(() => true, () => false)) {
    await readNative(bytes, counts, index);
  }
  return code;
}

function codeOf(error: unknown): string {
  if (error instanceof GgmlError && /^(NOT_GGUF|GGUF_)/.test(error.code)) return error.code;
  throw new Error(`not an error of a bad file: ${error}`, { cause: error });
}

async function readNative(bytes: Uint8Array<ArrayBuffer>, counts: FuzzCounts, index: number): Promise<void> {
  const modes = ["none", "shapes", "data"] as const;
  try {
    using gguf = await NativeGguf.fromBytes(bytes, { tensors: modes[index % 3] });
    for (const key of gguf.keys) gguf.get(key);
    if (gguf.tensors.length > 0) gguf.header();
    counts.native++;
  } catch (error) {
    codeOf(error);
  }
}

/** Reads so many damaged files. */
export async function fuzz(count: number, seed: number): Promise<FuzzCounts> {
  const counts: FuzzCounts = { read: 0, refused: {}, native: 0, worst: 0 };
  const next = randomNumbers(seed);
  for (let index = 0; index < count; index++) {
    const sample = samples[index % samples.length] as Uint8Array<ArrayBuffer>;
    await readAll(damage(sample, next), counts, index);
  }
  return counts;
}

/** Reads every beginning of a small file. */
export async function cuts(file: Uint8Array<ArrayBuffer>): Promise<FuzzCounts> {
  const counts: FuzzCounts = { read: 0, refused: {}, native: 0, worst: 0 };
  for (let length = 0; length <= file.length; length++) await readAll(file.slice(0, length), counts, length);
  return counts;
}

if (import.meta.main) {
  using _counting = countAllocations();
  const count = Number(process.argv[2] ?? 10_000);
  const warm = await fuzz(50, 1);
  const before = process.memoryUsage.rss();
  const started = performance.now();
  const counts = await fuzz(count, 20_240_607);
  const cut = await Promise.all(samples.map(cuts));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const grown = ((process.memoryUsage.rss() - before) / 2 ** 20).toFixed(0);
  console.log(JSON.stringify({ count, counts, cuts: cut, seconds, grownMiB: grown, warm: warm.read }));
}
