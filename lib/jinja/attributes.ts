/**
 * `value.name` and `value[key]`, as Jinja's sandbox has them.
 *
 * @module
 */

import { JinjaError, typeError, valueError } from "./errors.ts";
import type { Run } from "./run.ts";
import { Dict, Range } from "./values/dict.ts";
import { index } from "./values/numbers.ts";
import { escape, like, Markup } from "./values/markup.ts";
import { listOf, typeName, undefinedError } from "./values/protocol.ts";
import { repr } from "./values/repr.ts";
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
  const type = isStr(value) ? "str" : typeName(value);
  const own = value instanceof Obj ? value.attribute?.(name, run) : undefined;
  if (own !== undefined) return own;
  if (name.startsWith("_") && /^__\w+__$/.test(name)) return unsafe(type, name);
  const method = run.library.methods.get(type)?.get(name);
  if (method !== undefined) {
    return new Func(name, ({ positional, named }) => {
      const args = value instanceof Markup ? escapedArguments(run, name, positional) : positional;
      return like(value, method(run, { positional: [value, ...args], named }));
    });
  }
  if (mutating[type]?.has(name) === true) return unsafe(type, name);
  if (type === "int" || type === "bool" || type === "float") return numberAttribute(value, name);
  return undefined;
}

/** The arguments of a method of HTML: what it puts into that is escaped. */
function escapedArguments(run: Run, name: string, args: readonly Value[]): readonly Value[] {
  const [first, second, ...rest] = args;
  if (name === "join" && first !== undefined) return [listOf(first, run).map((one) => escape(one, run))];
  if (name === "format") return args.map((one) => isStr(one) ? escape(one, run) : one);
  return name === "replace" && first !== undefined && second !== undefined
    ? [first, escape(second, run), ...rest]
    : args;
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
  return new Undefined(`'${ownerName(value)}' has no attribute '${key}'`);
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
  return new Undefined(`${ownerName(value)} has no element ${textOf(repr(key, run))}`);
}

/** A value as Jinja names it in what it says of undefined values. */
function ownerName(value: Value): string {
  if (value === null) return "None";
  return `${typeName(value)} object`;
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
  if (value instanceof Dict) {
    if (isStr(key)) run.text(textOf(key).length);
    return isHashable(key) ? value.get(key) : undefined;
  }
  return value instanceof Obj ? value.item?.(key, run) : undefined;
}

function isHashable(key: Value): boolean {
  return !Array.isArray(key) && !(key instanceof Dict) && !(key instanceof Tuple && !key.items.every(isHashable));
}

function characterAt(run: Run, value: Str, at: number): Value | undefined {
  const text = textOf(value);
  run.text(text.length);
  const length = lengthOf(text);
  const place = at < 0 ? at + length : at;
  if (place < 0 || place >= length) return undefined;
  return like(value, sliceText(value, unitsAt(text, place), unitsAt(text, place + 1)));
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

/** `value[start:stop:step]`. Throws Python's TypeError for a value that has no slices: unlike with a key, nothing is undefined. */
export function getSlice(run: Run, value: Value, bounds: SliceBounds): Value {
  if (value instanceof Undefined) return undefinedError(value);
  if (isStr(value)) return like(value, textSlice(run, value, bounds));
  const items = Array.isArray(value) ? value : value instanceof Tuple ? value.items : undefined;
  if (items !== undefined) {
    const places = placesOf(items.length, bounds);
    run.list(places.length);
    const part = places.map((at) => items[at] ?? null);
    return Array.isArray(value) ? part : new Tuple(part);
  }
  if (value instanceof Range) {
    const [start, stop, step] = limitsOf(value.size(), bounds);
    return new Range(value.start + start * value.step, value.start + stop * value.step, step * value.step);
  }
  if (value instanceof Dict) return typeError("unhashable type: 'slice'");
  return typeError(`'${typeName(value)}' object is not subscriptable`);
}

function textSlice(run: Run, value: Str, bounds: SliceBounds): Value {
  const text = textOf(value);
  run.text(text.length);
  const [start, stop, step] = limitsOf(lengthOf(text), bounds);
  if (step === 1) return sliceText(value, unitsAt(text, start), unitsAt(text, Math.max(start, stop)));
  const characters = [...charactersOf(value)];
  run.list(characters.length);
  return concatText(placesOf(characters.length, bounds).map((at) => characters[at] ?? ""));
}

/** Where a slice begins, ends and how it goes on. */
function limitsOf(length: number, { start, stop, step }: SliceBounds): [number, number, number] {
  const [first = null, last = null, by = null] = [start, stop, step];
  if ([first, last, by].some((bound) => bound !== null && typeof bound !== "bigint" && typeof bound !== "boolean")) {
    typeError("slice indices must be integers or None or have an __index__ method");
  }
  const stride = by === null ? 1 : index(by);
  if (stride === 0) valueError("slice step cannot be zero");
  const [low, high] = stride > 0 ? [0, length] : [-1, length - 1];
  const place = (bound: Value, other: number): number => {
    if (bound === null) return other;
    const at = index(bound);
    return Math.min(high, Math.max(low, at < 0 ? at + length : at));
  };
  return [place(first, stride > 0 ? low : high), place(last, stride > 0 ? high : low), stride];
}

function placesOf(length: number, bounds: SliceBounds): number[] {
  const [start, stop, step] = limitsOf(length, bounds);
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
