import { JinjaError, typeError, valueError } from "../errors.ts";
import type { Run } from "../run.ts";
import { defineAll } from "../values/args.ts";
import { equals } from "../values/compare.ts";
import { Dict, View } from "../values/dict.ts";
import { index, indexOr } from "../values/numbers.ts";
import { each, undefinedError } from "../values/protocol.ts";
import { repr } from "../values/repr.ts";
import { textOf } from "../values/text.ts";
import { orElse, Tuple, Undefined, type Value } from "../values/types.ts";

type Optional = Value | undefined;

function countOf(run: Run, items: readonly Value[], value: Value): bigint {
  return BigInt(items.filter((one) => Object.is(one, value) || equals(one, value, run)).length);
}

function indexIn(run: Run, items: readonly Value[], value: Value, start: Optional, stop: Optional): bigint {
  const place = (given: Optional, other: number): number => {
    const at = indexOr(given, other);
    return at < 0 ? Math.max(0, at + items.length) : at;
  };
  const [from, to] = [place(start, 0), place(stop, items.length)];
  const at = items.findIndex((one, at) => at >= from && at < to && (Object.is(one, value) || equals(one, value, run)));
  return at < 0 ? valueError(`${textOf(repr(value, run))} is not in list`) : BigInt(at);
}

/**
 * The methods of Python's `list`. Jinja's sandbox refuses those that change it; published templates use two of them, written for engines that allow it:
 * these are here.
 */
export const listMethods: ReturnType<typeof defineAll> = defineAll({
  count: ["self value", 2, (run, self: Value[], value: Value) => countOf(run, self, value)],
  index: [
    "self value start stop",
    2,
    (run, self: Value[], value: Value, start: Optional, stop: Optional) => indexIn(run, self, value, start, stop),
  ],
  copy: ["self", 1, (run, self: Value[]) => {
    run.list(self.length);
    return [...self];
  }],
  append: ["self value", 2, (run, self: Value[], value: Value) => {
    run.list(1);
    // A list in itself would have no end.
    if (Array.isArray(value) && holds(run, value, self)) valueError("a list can't be appended to itself");
    self.push(value);
    return null;
  }],
  pop: ["self index", 1, (_run, self: Value[], at: Optional) => {
    const place = at === undefined ? -1 : index(at);
    const [removed] = self.splice(place < 0 ? self.length + place : place, 1);
    if (removed === undefined) throw new JinjaError("IndexError", "pop index out of range");
    return removed;
  }],
});

function holds(run: Run, place: Value, sought: Value): boolean {
  run.enter();
  try {
    if (place === sought) return true;
    if (Array.isArray(place)) return place.some((one) => holds(run, one, sought));
    if (place instanceof Dict) return place.entries().some(([, one]) => holds(run, one, sought));
    return place instanceof Tuple && place.items.some((one) => holds(run, one, sought));
  } finally {
    run.leave();
  }
}

/** The methods of Python's `tuple`. */
export const tupleMethods: ReturnType<typeof defineAll> = defineAll({
  count: ["self value", 2, (run, self: Tuple, value: Value) => countOf(run, self.items, value)],
  index: [
    "self value start stop",
    2,
    (run, self: Tuple, value: Value, start: Optional, stop: Optional) => indexIn(run, self.items, value, start, stop),
  ],
});

/** The methods of Python's `dict` that don't change it. */
export const dictMethods: ReturnType<typeof defineAll> = defineAll({
  get: [
    "self key default",
    2,
    (_run, self: Dict, key: Value, other: Optional) => orElse(self.get(key), () => other ?? null),
  ],
  items: ["self", 1, (_run, self: Dict) => new View(self, "items")],
  keys: ["self", 1, (_run, self: Dict) => new View(self, "keys")],
  values: ["self", 1, (_run, self: Dict) => new View(self, "values")],
  copy: ["self", 1, (run, self: Dict) => {
    run.list(self.size());
    return new Dict(self.entries());
  }],
  fromkeys: [
    "self keys value",
    2,
    (run, _self: Dict, keys: Value, value: Optional) =>
      new Dict(Array.from(each(keys, run), (key) => [key, value ?? null] as const)),
  ],
});

/** A dict of pairs, or of another dict. Throws Python's errors for anything else. */
export function dictOf(run: Run, from: Value): Dict {
  if (from instanceof Dict) {
    run.list(from.size());
    return new Dict(from.entries());
  }
  if (from instanceof Undefined) return undefinedError(from);
  const dict = new Dict();
  for (const pair of each(from, run)) {
    const [key, value, ...rest] = [...each(pair, run)];
    if (key === undefined || value === undefined || rest.length > 0) {
      return typeError("cannot convert dictionary update sequence: each element has two parts");
    }
    dict.set(key, value);
  }
  return dict;
}
