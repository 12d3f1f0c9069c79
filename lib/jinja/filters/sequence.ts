import { getAttributeOnly } from "../attributes.ts";
import { JinjaError, typeError } from "../errors.ts";
import { flag } from "../methods/string_parts.ts";
import { binary } from "../operators.ts";
import type { Run } from "../run.ts";
import { defineAll } from "../values/args.ts";
import { equals, inOrder, sorted } from "../values/compare.ts";
import { Dict, keyOf, Range, reversedOf, View } from "../values/dict.ts";
import { index } from "../values/numbers.ts";
import { each, isTrue, iterate, listOf, size, tryIterate, typeName } from "../values/protocol.ts";
import { like } from "../values/markup.ts";
import { charactersOf, concatText, derived, isStr, textOf } from "../values/text.ts";
import { type Callable, Iter, orElse, Tuple, Undefined, type Value } from "../values/types.ts";
import { attributeGetter, attributesGetter } from "./attribute_path.ts";

type Optional = Value | undefined;

/** A text in small letters; anything else as it is. */
function folded(value: Value): Value {
  return isStr(value) ? derived(textOf(value).toLowerCase(), value) : value;
}

function keyGetter(run: Run, attribute: Value, isCaseSensitive: boolean): (value: Value) => Value {
  const get = attributeGetter(run, attribute);
  return isCaseSensitive ? get : (value) => folded(get(value));
}

function extreme(run: Run, value: Value, order: "<" | ">", isCaseSensitive: boolean, attribute: Value): Value {
  const get = keyGetter(run, attribute, isCaseSensitive);
  let best: { value: Value; key: Value } | undefined;
  for (const one of each(value, run)) {
    const key = get(one);
    if (best === undefined || inOrder(key, order, best.key, run)) best = { value: one, key };
  }
  return orElse(best?.value, () => new Undefined("No aggregated item, sequence was empty."));
}

function sort(run: Run, value: Value, reverse: boolean, isCaseSensitive: boolean, attribute: Value): Value[] {
  const get = attributesGetter(run, attribute);
  return sorted(
    listOf(value, run),
    (one) => get(one).map((part) => isCaseSensitive ? part : folded(part)),
    reverse,
    run,
  );
}

function dictSort(run: Run, value: Value, isCaseSensitive: boolean, by: Value, reverse: boolean): Value[] {
  const at = isStr(by) ? ["key", "value"].indexOf(textOf(by)) : -1;
  if (at < 0) throw new JinjaError("ValueError", 'You can only sort by either "key" or "value"');
  if (!(value instanceof Dict)) return typeError(`'${typeName(value)}' object has no attribute 'items'`);
  const key = (pair: Value): Value => {
    const part = (pair instanceof Tuple ? pair.items[at] : undefined) ?? null;
    return isCaseSensitive ? part : folded(part);
  };
  return sorted(value.entries().map((pair) => new Tuple(pair)), key, reverse, run);
}

function* unique(
  run: Run,
  value: Value,
  isCaseSensitive: boolean,
  attribute: Value,
): Generator<Value, void, undefined> {
  const get = keyGetter(run, attribute, isCaseSensitive);
  const seen = new Set<string>();
  for (const one of each(value, run)) {
    const found = get(one);
    if (isStr(found)) run.text(textOf(found).length);
    const key = keyOf(found);
    if (seen.has(key)) continue;
    seen.add(key);
    yield one;
  }
}

function groupBy(run: Run, value: Value, attribute: Value, other: Value, isCaseSensitive: boolean): Value[] {
  const get = attributeGetter(run, attribute, other);
  const key = (one: Value): Value => isCaseSensitive ? get(one) : folded(get(one));
  const groups: { key: Value; items: Value[] }[] = [];
  for (const one of sorted(listOf(value, run), key, false, run)) {
    const group = groups.at(-1);
    const found = key(one);
    if (group !== undefined && equals(group.key, found, run)) group.items.push(one);
    else groups.push({ key: found, items: [one] });
  }
  return groups.map(({ key: found, items }) =>
    new Tuple([isCaseSensitive ? found : get(items[0] ?? null), items], ["grouper", "list"])
  );
}

function* batch(run: Run, value: Value, count: number, fill: Value): Generator<Value, void, undefined> {
  let part: Value[] = [];
  for (const one of each(value, run)) {
    if (part.length === count) {
      yield part;
      part = [];
    }
    part.push(one);
  }
  if (part.length === 0) return;
  if (fill !== null && part.length < count) {
    run.list(count);
    while (part.length < count) part.push(fill);
  }
  yield part;
}

function* slices(run: Run, value: Value, count: number, fill: Value): Generator<Value, void, undefined> {
  const items = listOf(value, run);
  if (count === 0) throw new JinjaError("ZeroDivisionError", "integer division or modulo by zero");
  const [length, extra] = [Math.floor(items.length / count), items.length % count];
  let start = 0;
  for (let at = 0; at < count; at++) {
    run.charge(1);
    const end = start + length + (at < extra ? 1 : 0);
    const part = items.slice(start, end);
    if (fill !== null && at >= extra) part.push(fill);
    start = end;
    yield part;
  }
}

function reverse(run: Run, value: Value): Value {
  if (isStr(value)) {
    run.text(textOf(value).length);
    return like(value, concatText([...charactersOf(value)].reverse()));
  }
  if (Array.isArray(value)) return reversedOf(value, "list_reverseiterator");
  if (value instanceof Tuple) return reversedOf(value.items, "reversed");
  if (value instanceof Dict || value instanceof View) {
    return reversedOf(listOf(value, run), `${value.type}_reversekeyiterator`);
  }
  if (value instanceof Range) return reversedOf(listOf(value, run), "range_iterator");
  if (tryIterate(value, run) === undefined) throw new JinjaError("TypeError", "argument must be iterable");
  return listOf(value, run).reverse();
}

function last(run: Run, value: Value): Value {
  const isReversible = isStr(value) || Array.isArray(value) || value instanceof Tuple || value instanceof Dict ||
    value instanceof View || value instanceof Range;
  if (!isReversible && !(value instanceof Undefined)) return typeError(`'${typeName(value)}' object is not reversible`);
  return like(value, orElse(listOf(value, run).at(-1), () => new Undefined("No last item, sequence was empty.")));
}

function* pairs(run: Run, value: Value): Generator<Value, void, undefined> {
  if (value instanceof Undefined) return;
  if (!(value instanceof Dict)) return typeError("Can only get item pairs from a mapping.");
  for (const pair of value.entries()) {
    run.charge(1);
    yield new Tuple(pair);
  }
}

function sum(run: Run, value: Value, attribute: Value, start: Value): Value {
  if (isStr(start)) return typeError("sum() can't sum strings [use ''.join(seq) instead]");
  const get = attributeGetter(run, attribute);
  let total: Value = start as Value;
  for (const one of each(value, run)) total = binary(run, "+", total, get(one));
  return total;
}

/** Jinja's filters of lists and dicts. */
export const sequenceFilters: ReadonlyMap<string, Callable> = defineAll({
  length: ["obj", 1, (run, value: Value) => BigInt(size(value, run))],
  count: ["obj", 1, (run, value: Value) => BigInt(size(value, run))],
  list: ["value", 1, (run, value: Value) => listOf(value, run)],
  items: ["value", 1, (run, value: Value) => new Iter(pairs(run, value))],
  first: ["seq", 1, (run, value: Value) => {
    const next = iterate(value, run).next();
    return next.done === true ? new Undefined("No first item, sequence was empty.") : next.value;
  }],
  last: ["seq", 1, last],
  reverse: ["value", 1, reverse],
  min: [
    "value case_sensitive attribute",
    1,
    (run, value: Value, sensitive: Optional, attribute: Value = null) =>
      extreme(run, value, "<", flag(run, sensitive), attribute),
  ],
  max: [
    "value case_sensitive attribute",
    1,
    (run, value: Value, sensitive: Optional, attribute: Value = null) =>
      extreme(run, value, ">", flag(run, sensitive), attribute),
  ],
  sum: [
    "iterable attribute start",
    1,
    (run, value: Value, attribute: Value = null, start: Value = 0n) => sum(run, value, attribute, start),
  ],
  sort: [
    "value reverse case_sensitive attribute",
    1,
    (run, value: Value, reversed: Optional, sensitive: Optional, attribute: Value = null) =>
      sort(run, value, flag(run, reversed), flag(run, sensitive), attribute),
  ],
  dictsort: [
    "value case_sensitive by reverse",
    1,
    (run, value: Value, sensitive: Optional, by: Value = "key", reversed: Optional) =>
      dictSort(run, value, flag(run, sensitive), by, flag(run, reversed)),
  ],
  unique: [
    "value case_sensitive attribute",
    1,
    (run, value: Value, sensitive: Optional, attribute: Value = null) =>
      new Iter(unique(run, value, flag(run, sensitive), attribute)),
  ],
  groupby: [
    "value attribute default case_sensitive",
    2,
    (run, value: Value, attribute: Value, other: Value = null, sensitive: Optional) =>
      groupBy(run, value, attribute, other, flag(run, sensitive)),
  ],
  batch: [
    "value linecount fill_with",
    2,
    (run, value: Value, count: Value, fill: Value = null) => new Iter(batch(run, value, index(count), fill)),
  ],
  slice: [
    "value slices fill_with",
    2,
    (run, value: Value, count: Value, fill: Value = null) => new Iter(slices(run, value, index(count), fill)),
  ],
  default: ["value default_value boolean", 1, defaultTo],
  d: ["value default_value boolean", 1, defaultTo],
  attr: ["obj name", 2, (run, value: Value, name: Value) => {
    if (!isStr(name)) return typeError(`attribute name must be string, not '${typeName(name)}'`);
    return getAttributeOnly(run, value, textOf(name));
  }],
});

function defaultTo(run: Run, value: Value, other: Value = "", boolean: Value = false): Value {
  return value instanceof Undefined || (isTrue(boolean, run) && !isTrue(value, run)) ? other : value;
}
