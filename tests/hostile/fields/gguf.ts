import { ggufValueSizes, type GgufValueType, ggufValueTypes } from "../../../lib/gguf/types.ts";
import type { Field, Fields } from "./field.ts";
import { Walker } from "./walker.ts";

/** Elements of an array that count as fields: the others are like them. */
const ELEMENTS = 4;

/** The fields of a GGUF file: counts, lengths, types, values, names, dimensions, offsets, and the first weight of each tensor. */
export function ggufFields(bytes: Uint8Array<ArrayBuffer>): Fields {
  const walker = new Walker(bytes);
  walker.text(4);
  walker.u32();
  const tensors = walker.u64();
  const pairs = walker.u64();
  let alignment = 32;
  for (let index = 0; index < pairs; index++) {
    const key = walker.text(walker.u64());
    const type = typeOf(walker.u32());
    if (key === "general.alignment") alignment = new DataView(bytes.buffer).getUint32(walker.at, true);
    value(walker, type);
  }
  const offsets: number[] = [];
  for (let index = 0; index < tensors; index++) {
    walker.text(walker.u64());
    for (let left = walker.u32(); left > 0; left--) walker.u64();
    walker.u32();
    offsets.push(walker.u64());
  }
  const data = Math.ceil(walker.at / alignment) * alignment;
  const weights = offsets.map((offset): Field => ({ at: data + offset, size: 4, isFloat: true }));
  return {
    numbers: [...walker.numbers, ...weights.filter(({ at }) => at + 4 <= bytes.length)],
    texts: walker.texts,
  };
}

function typeOf(number: number): GgufValueType {
  const type = ggufValueTypes[number];
  if (type === undefined) throw new RangeError(`there is no type ${number}`);
  return type;
}

function value(walker: Walker, type: GgufValueType): void {
  if (type === "string") walker.text(walker.u64());
  else if (type === "array") array(walker);
  else walker.skip(ggufValueSizes[type] as Field["size"], 1, type.startsWith("float"));
}

function array(walker: Walker): void {
  const type = typeOf(walker.u32());
  const length = walker.u64();
  const shown = Math.min(length, ELEMENTS);
  for (let index = 0; index < shown; index++) value(walker, type);
  if (type === "string") skipStrings(walker, length - shown);
  else if (type !== "array") walker.at += (length - shown) * ggufValueSizes[type];
  else for (let index = shown; index < length; index++) value(walker, type);
}

/** Goes past strings without noting them. */
function skipStrings(walker: Walker, count: number): void {
  const { numbers, texts } = walker;
  const [kept, keptTexts] = [numbers.length, texts.length];
  for (let left = count; left > 0; left--) walker.text(walker.u64());
  numbers.length = kept;
  texts.length = keptTexts;
}
