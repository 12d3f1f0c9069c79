import type { Run } from "./run.ts";
import { binary } from "./operators.ts";
import { questions } from "./methods/string_case.ts";
import { defineAll } from "./values/args.ts";
import { equals, inOrder, isIn, isSame, type Order } from "./values/compare.ts";
import { Dict, Range } from "./values/dict.ts";
import { Markup } from "./values/markup.ts";
import { tryIterate } from "./values/protocol.ts";
import { str } from "./values/repr.ts";
import { isStr, textOf } from "./values/text.ts";
import { type Callable, Obj, Tuple, Undefined, type Value } from "./values/types.ts";

type Test = readonly [string, number, (run: Run, ...values: never[]) => Value];

function simple(test: (value: Value, run: Run) => boolean): Test {
  return ["value", 1, (run, value: Value) => test(value, run)];
}

function pair(test: (left: Value, right: Value, run: Run) => boolean): Test {
  return ["value other", 2, (run, left: Value, right: Value) => test(left, right, run)];
}

function order(by: Order): Test {
  return pair((left, right, run) => inOrder(left, by, right, run));
}

function rest(value: Value, by: Value, run: Run): Value {
  return binary(run, "%", value, by);
}

const equal = pair((left, right, run) => equals(left, right, run));
const different = pair((left, right, run) => !equals(left, right, run));
const [less, lessOrEqual, greater, greaterOrEqual] = [order("<"), order("<="), order(">"), order(">=")];

/** Jinja's tests. `filter` and `test` look the name up among these and the filters. */
export const tests: ReadonlyMap<string, Callable> = defineAll({
  odd: simple((value, run) => equals(rest(value, 2n, run), 1n, run)),
  even: simple((value, run) => equals(rest(value, 2n, run), 0n, run)),
  divisibleby: ["value num", 2, (run, value: Value, num: Value) => equals(rest(value, num, run), 0n, run)],
  defined: simple((value) => !(value instanceof Undefined)),
  undefined: simple((value) => value instanceof Undefined),
  filter: simple((value, run) => isStr(value) && run.library.filters.has(textOf(value))),
  test: simple((value, run) => isStr(value) && run.library.tests.has(textOf(value))),
  none: simple((value) => value === null),
  boolean: simple((value) => typeof value === "boolean"),
  true: simple((value) => value === true),
  false: simple((value) => value === false),
  integer: simple((value) => typeof value === "bigint"),
  float: simple((value) => typeof value === "number"),
  number: simple((value) => typeof value === "bigint" || typeof value === "number" || typeof value === "boolean"),
  string: simple(isStr),
  mapping: simple((value) => value instanceof Dict),
  sequence: simple(isSequence),
  iterable: simple((value, run) => tryIterate(value, run) !== undefined),
  callable: simple((value) => (value instanceof Obj && value.call !== undefined) || value instanceof Undefined),
  escaped: simple((value) => value instanceof Markup),
  lower: simple((value, run) => questions["islower"]?.(textOf(str(value, run))) === true),
  upper: simple((value, run) => questions["isupper"]?.(textOf(str(value, run))) === true),
  sameas: ["value other", 2, (_run, value: Value, other: Value) => isSame(value, other)],
  in: ["value seq", 2, (run, value: Value, place: Value) => isIn(value, place, run)],
  "==": equal,
  eq: equal,
  equalto: equal,
  "!=": different,
  ne: different,
  "<": less,
  lt: less,
  lessthan: less,
  "<=": lessOrEqual,
  le: lessOrEqual,
  ">": greater,
  gt: greater,
  greaterthan: greater,
  ">=": greaterOrEqual,
  ge: greaterOrEqual,
});

function isSequence(value: Value): boolean {
  if (isStr(value) || Array.isArray(value)) return true;
  return value instanceof Tuple || value instanceof Dict || value instanceof Range || value instanceof Undefined;
}
