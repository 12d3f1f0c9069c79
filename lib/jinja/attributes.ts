/**
 * `value.name` and `value[key]`, as Jinja's sandbox has them.
 *
 * @module
 */

import { JinjaError, typeError, valueError } from "./errors.ts";
import type { Run } from "./run.ts";
import { Dict, Range } from "./values/dict.ts";
import { index } from "./values/numbers.ts";
import { typeName, undefinedError } from "./values/protocol.ts";
import { str } from "./values/repr.ts";
import { charactersOf, concatText, isStr, lengthOf, sliceText, type Str, textOf, unitsAt } from "./values/text.ts";
import { Func, Obj, orElse, Tuple, Undefined, type Value } from "./values/types.ts";

/** Methods that change a list or dict: a template may not. */
const mutating: Readonly<Record<string, ReadonlySet<string>>> = {
  list: new Set(["clear", "extend", "insert", "remove", "reverse", "sort"]),
  dict: new Set(["clear", "pop", "popitem", "setdefault", "update"]),
};

/** What calling an attribute gives that the sandbox refuses. */
class Unsafe extends Undefined {
  override call(): never {
    throw new JinjaError("SecurityError", this.message);
  }
}

/** A method or attribute that a value has in Python. */
function attributeOf(run: Run, value: Value, name: string): Value | undefined {
  if (value instanceof Undefined) return undefinedError(value);
  const type = typeName(value);
  const own = value instanceof Obj ? value.attribute?.(name, run) : undefined;
  if (own !== undefined) return own;
  if (name.startsWith("_") && /^__\w+__$/.test(name)) return unsafe(type, name);
  const method = run.library.methods.get(type)?.get(name);
  if (method !== undefined) {
    return new Func(name, ({ positional, named }) => method(run, { positional: [value, ...positional], named }));
  }
  if (mutating[type]?.has(name) === true) return unsafe(type, name);
  if (type === "int" || type === "bool" || type === "float") return numberAttribute(value, name);
  return undefined;
}

function unsafe(type: string, name: string): Unsafe {
  return new Unsafe(`access to attribute '${name}' of '${type}' object is unsafe.`);
}

function numberAttribute(value: Value, name: string): Value | undefined {
  const number = typeof value === "boolean" ? BigInt(value) : value;
  if (name === "real" || (name === "numerator" && typeof number === "bigint")) return number;
  if (name === "imag") return typeof number === "bigint" ? 0n : 0;
  return name === "denominator" && typeof number === "bigint" ? 1n : undefined;
}

function missing(value: Value, name: Str): Undefined {
  const key = textOf(name);
  return new Undefined(
    value === null
      ? `'None' has no attribute '${key}'`
      : `'${value instanceof Dict ? "dict" : typeName(value)} object' has no attribute '${key}'`,
  );
}

/** `value.name`: an attribute, else an element. */
export function getAttribute(run: Run, value: Value, name: string): Value {
  return orElse(attributeOf(run, value, name), () => orElse(element(run, value, name), () => missing(value, name)));
}

/** `value[key]`: an element, else an attribute. */
export function getItem(run: Run, value: Value, key: Value): Value {
  if (value instanceof Undefined) return undefinedError(value);
  const found = element(run, value, key);
  if (found !== undefined) return found;
  if (isStr(key)) return orElse(attributeOf(run, value, textOf(key)), () => missing(value, key));
  return missing(value, str(key, run));
}

/** The attribute alone, for the filter `attr`. */
export function getAttributeOnly(run: Run, value: Value, name: string): Value {
  return orElse(attributeOf(run, value, name), () => missing(value, name));
}

function element(run: Run, value: Value, key: Value): Value | undefined {
  const isIndex = typeof key === "bigint" || typeof key === "boolean";
  if (Array.isArray(value) || value instanceof Tuple) {
    const items = Array.isArray(value) ? value : value.items;
    return isIndex ? items.at(index(key)) : undefined;
  }
  if (isStr(value)) return isIndex ? characterAt(run, value, index(key)) : undefined;
  if (value instanceof Range && isIndex) {
    const at = index(key) + (index(key) < 0 ? value.size() : 0);
    return at >= 0 && at < value.size() ? value.at(at) : undefined;
  }
  if (value instanceof Dict) return isHashable(key) ? value.get(key) : undefined;
  return value instanceof Obj ? value.item?.(key, run) : undefined;
}

function isHashable(key: Value): boolean {
  return !Array.isArray(key) && !(key instanceof Dict) && !(key instanceof Tuple && !key.items.every(isHashable));
}

function characterAt(run: Run, value: Str, at: number): Str | undefined {
  const text = textOf(value);
  run.text(text.length);
  const length = lengthOf(text);
  const place = at < 0 ? at + length : at;
  if (place < 0 || place >= length) return undefined;
  return sliceText(value, unitsAt(text, place), unitsAt(text, place + 1));
}

/** The bounds of a slice; those left out are `undefined`. */
export interface SliceBounds {
  /** The first index. */
  readonly start: Value | undefined;
  /** The index before which it ends. */
  readonly stop: Value | undefined;
  /** From each index to the next. */
  readonly step: Value | undefined;
}

/** `value[start:stop:step]`. */
export function getSlice(run: Run, value: Value, bounds: SliceBounds): Value {
  if (value instanceof Undefined) return undefinedError(value);
  if (isStr(value)) return textSlice(run, value, bounds);
  const items = Array.isArray(value) ? value : value instanceof Tuple ? value.items : undefined;
  if (items !== undefined) {
    const places = placesOf(items.length, bounds);
    if (places === undefined) return missing(value, "slice");
    run.list(places.length);
    const part = places.map((at) => items[at] ?? null);
    return Array.isArray(value) ? part : new Tuple(part);
  }
  if (value instanceof Range) {
    const places = limitsOf(value.size(), bounds);
    if (places === undefined) return missing(value, "slice");
    const [start, stop, step] = places;
    return new Range(value.start + start * value.step, value.start + stop * value.step, step * value.step);
  }
  return missing(value, "slice(…)");
}

function textSlice(run: Run, value: Str, bounds: SliceBounds): Value {
  const text = textOf(value);
  run.text(text.length);
  const limits = limitsOf(lengthOf(text), bounds);
  if (limits === undefined) return missing(value, "slice");
  const [start, stop, step] = limits;
  if (step === 1) return sliceText(value, unitsAt(text, start), unitsAt(text, Math.max(start, stop)));
  const characters = [...charactersOf(value)];
  run.list(characters.length);
  return concatText((placesOf(characters.length, bounds) ?? []).map((at) => characters[at] ?? ""));
}

/** Where a slice begins, ends and how it goes on; `undefined` when a bound is no index. */
function limitsOf(length: number, { start, stop, step }: SliceBounds): [number, number, number] | undefined {
  const given = [start, stop, step].map((bound) => bound ?? null);
  if (given.some((bound) => bound !== null && typeof bound !== "bigint" && typeof bound !== "boolean")) {
    return undefined;
  }
  const by = given[2] === null || given[2] === undefined ? 1 : index(given[2]);
  if (by === 0) valueError("slice step cannot be zero");
  const [low, high] = by > 0 ? [0, length] : [-1, length - 1];
  const place = (bound: Value | undefined, other: number): number => {
    if (bound === null || bound === undefined) return other;
    const at = index(bound);
    return Math.min(high, Math.max(low, at < 0 ? at + length : at));
  };
  return [place(given[0], by > 0 ? low : high), place(given[1], by > 0 ? high : low), by];
}

function placesOf(length: number, bounds: SliceBounds): number[] | undefined {
  const limits = limitsOf(length, bounds);
  if (limits === undefined) return undefined;
  const [start, stop, step] = limits;
  const places: number[] = [];
  for (let at = start; step > 0 ? at < stop : at > stop; at += step) places.push(at);
  return places;
}

/** Calls a value. Throws Python's TypeError for one that can't be called. */
export function callValue(
  run: Run,
  value: Value,
  args: { positional: readonly Value[]; named: ReadonlyMap<string, Value> },
): Value {
  if (value instanceof Obj && value.call !== undefined) {
    run.enter();
    try {
      return value.call(args, run);
    } finally {
      run.leave();
    }
  }
  if (value instanceof Undefined) return undefinedError(value);
  return typeError(`'${typeName(value)}' object is not callable`);
}
