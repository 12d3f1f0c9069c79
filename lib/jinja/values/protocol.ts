/**
 * What all values can do: be iterated, counted, tested and named.
 *
 * @module
 */

import { JinjaError, typeError } from "../errors.ts";
import type { Run } from "../run.ts";
import { charactersOf, isStr, lengthOf, textOf } from "./text.ts";
import { Obj, type Undefined, type Value } from "./types.ts";

/** The name of a value's type in Python. */
export function typeName(value: Value): string {
  if (value === null) return "NoneType";
  if (isStr(value)) return typeof value === "string" ? "str" : value.name;
  if (Array.isArray(value)) return "list";
  if (value instanceof Obj) return value.type;
  return { boolean: "bool", bigint: "int", number: "float" }[typeof value as "boolean" | "bigint" | "number"];
}

/** Throws the error of something undefined that is used. */
export function undefinedError(value: Undefined): never {
  throw new JinjaError("UndefinedError", value.message);
}

/** The elements of a value, one after the other; `undefined` when it has none. */
export function tryIterate(value: Value, run: Run): Iterator<Value, void, undefined> | undefined {
  if (Array.isArray(value)) return value.values() as Iterator<Value, void, undefined>;
  if (isStr(value)) return charactersOf(value);
  if (value instanceof Obj && value.iterate !== undefined) return value.iterate(run);
  return undefined;
}

/** The elements of a value. Throws Python's TypeError when it has none. */
export function iterate(value: Value, run: Run): Iterator<Value, void, undefined> {
  return tryIterate(value, run) ?? typeError(`'${typeName(value)}' object is not iterable`);
}

/** The elements of a value, each of which takes a step. */
export function* each(value: Value, run: Run): Generator<Value, void, undefined> {
  const iterator = iterate(value, run);
  for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
    run.charge(1);
    yield next.value;
  }
}

/** The elements of a value as a list of its own. */
export function listOf(value: Value, run: Run): Value[] {
  return [...each(value, run)];
}

/** How many elements a value has; `undefined` when that isn't known. */
export function sizeOf(value: Value, run: Run): number | undefined {
  if (Array.isArray(value)) return value.length;
  if (isStr(value)) {
    run.text(textOf(value).length);
    return lengthOf(textOf(value));
  }
  return value instanceof Obj ? value.size?.(run) : undefined;
}

/** Python's `len()`. */
export function size(value: Value, run: Run): number {
  return sizeOf(value, run) ?? typeError(`object of type '${typeName(value)}' has no len()`);
}

/** Whether a condition takes a value for true. */
export function isTrue(value: Value, run: Run): boolean {
  if (value === null) return false;
  if (typeof value === "boolean") return value;
  if (isStr(value)) return textOf(value) !== "";
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Obj) return value.isTrue?.(run) ?? (value.size === undefined || value.size(run) > 0);
  return typeof value === "bigint" ? value !== 0n : value !== 0;
}
