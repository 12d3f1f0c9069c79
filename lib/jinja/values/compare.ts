import { typeError } from "../errors.ts";
import type { Run } from "../run.ts";
import { Dict, Range, View } from "./dict.ts";
import { asNumber } from "./numbers.ts";
import { each, tryIterate, typeName, undefinedError } from "./protocol.ts";
import { isStr, textOf } from "./text.ts";
import { Obj, Tuple, Undefined, type Value } from "./types.ts";

/** Python's `==`. */
export function equals(left: Value, right: Value, run: Run): boolean {
  run.enter();
  try {
    return equalValues(left, right, run);
  } finally {
    run.leave();
  }
}

function equalValues(left: Value, right: Value, run: Run): boolean {
  if (isStr(left)) {
    if (!isStr(right)) return false;
    run.text(Math.min(textOf(left).length, textOf(right).length));
    return textOf(left) === textOf(right);
  }
  const [first, second] = [asNumber(left), asNumber(right)];
  // deno-lint-ignore eqeqeq -- an int equals a float of its value
  if (first !== undefined && second !== undefined) return first == second;
  if (Array.isArray(left)) return Array.isArray(right) && equalLists(left, right, run);
  if (left instanceof Tuple) return right instanceof Tuple && equalLists(left.items, right.items, run);
  if (left instanceof Dict) return right instanceof Dict && equalDicts(left, right, run);
  if (left instanceof Undefined) return right instanceof Undefined;
  if (left instanceof Range && right instanceof Range) return left.repr() === right.repr();
  if (left instanceof View && right instanceof View && left.type !== "dict_values") {
    return left.size() === right.size() && left.list(run).every((one) => isIn(one, right.list(run), run));
  }
  return left === right;
}

function equalLists(left: readonly Value[], right: readonly Value[], run: Run): boolean {
  return left.length === right.length && left.every((one, at) => same(one, right[at] ?? null, run));
}

function equalDicts(left: Dict, right: Dict, run: Run): boolean {
  if (left.size() !== right.size()) return false;
  return left.entries().every(([key, value]) => {
    const other = right.get(key);
    return other !== undefined && same(value, other, run);
  });
}

/** Whether two values are the same one or equal, as Python looks for values in lists. */
function same(left: Value, right: Value, run: Run): boolean {
  return Object.is(left, right) || equals(left, right, run);
}

/** An order of two values. */
export type Order = "<" | "<=" | ">" | ">=";

/** Python's `<` and its kin. Throws Python's TypeError for values that have no order. */
export function inOrder(left: Value, order: Order, right: Value, run: Run): boolean {
  run.enter();
  try {
    return ordered(left, order, right, run);
  } finally {
    run.leave();
  }
}

function ordered(left: Value, order: Order, right: Value, run: Run): boolean {
  const [first, second] = [asNumber(left), asNumber(right)];
  if (first !== undefined && second !== undefined) return compared(first, order, second);
  if (isStr(left) && isStr(right)) return compared(compareText(textOf(left), textOf(right), run), order, 0);
  if (Array.isArray(left) && Array.isArray(right)) return orderedLists(left, order, right, run);
  if (left instanceof Tuple && right instanceof Tuple) return orderedLists(left.items, order, right.items, run);
  if (left instanceof Undefined) return undefinedError(left);
  if (right instanceof Undefined) return undefinedError(right);
  return typeError(`'${order}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`);
}

function compared(left: bigint | number, order: Order, right: bigint | number): boolean {
  if (order === "<") return left < right;
  if (order === "<=") return left <= right;
  return order === ">" ? left > right : left >= right;
}

/** Below 0 when a text comes before another by its code points. */
export function compareText(left: string, right: string, run: Run): number {
  const length = Math.min(left.length, right.length);
  run.text(length);
  for (let at = 0; at < length; at++) {
    const [a, b] = [left.charCodeAt(at), right.charCodeAt(at)];
    if (a === b) continue;
    // A pair of units is a code point behind all that one unit is.
    const [pairA, pairB] = [(a & 0xf800) === 0xd800, (b & 0xf800) === 0xd800];
    return pairA === pairB ? a - b : pairA ? 1 : -1;
  }
  return left.length - right.length;
}

function orderedLists(left: readonly Value[], order: Order, right: readonly Value[], run: Run): boolean {
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const [one = null, other = null] = [left[at], right[at]];
    if (!same(one, other, run)) return inOrder(one, order, other, run);
  }
  return compared(left.length, order, right.length);
}

/** Python's `in`. */
export function isIn(value: Value, place: Value, run: Run): boolean {
  if (isStr(place)) {
    if (!isStr(value)) return typeError(`'in <string>' requires string as left operand, not ${typeName(value)}`);
    const [text, sought] = [textOf(place), textOf(value)];
    run.search(text.length, sought.length);
    return text.includes(sought);
  }
  if (isStr(value)) run.text(textOf(value).length);
  if (place instanceof Obj && place.contains !== undefined) return place.contains(value, run);
  if (tryIterate(place, run) === undefined) return typeError(`argument of type '${typeName(place)}' is not iterable`);
  for (const one of each(place, run)) if (same(one, value, run)) return true;
  return false;
}

/** Sorts values by what a function gives for each, as Python does: equal ones keep their order. */
export function sorted(values: readonly Value[], key: (value: Value) => Value, reverse: boolean, run: Run): Value[] {
  const keyed = values.map((value) => ({ value, key: key(value) }));
  const before = (left: Value, right: Value): boolean => inOrder(left, "<", right, run);
  keyed.sort((left, right) => {
    const [first, second] = reverse ? [right.key, left.key] : [left.key, right.key];
    return before(first, second) ? -1 : before(second, first) ? 1 : 0;
  });
  return keyed.map(({ value }) => value);
}

/** Whether two values are the same object. */
export function isSame(left: Value, right: Value): boolean {
  if (isStr(left) && isStr(right)) return textOf(left) === textOf(right);
  return Object.is(left, right);
}
