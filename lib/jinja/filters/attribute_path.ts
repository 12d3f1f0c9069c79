import { getItem } from "../attributes.ts";
import type { Run } from "../run.ts";
import { isStr, textOf } from "../values/text.ts";
import { Undefined, type Value } from "../values/types.ts";

/** The steps of a path such as `address.lines.0`. */
function steps(path: Value): Value[] {
  if (path === null) return [];
  if (!isStr(path)) return [path];
  return textOf(path).split(".").map((part) => /^\p{Nd}+$/u.test(part) ? BigInt(part) : part);
}

function follow(run: Run, path: readonly Value[], value: Value, other: Value): Value {
  return path.reduce((one, step) => {
    const next = getItem(run, one, step);
    return next instanceof Undefined && other !== null ? other : next;
  }, value);
}

/** What gives an attribute of a value by its path; the value itself for None. */
export function attributeGetter(run: Run, path: Value, other: Value = null): (value: Value) => Value {
  const parts = steps(path);
  return (value) => follow(run, parts, value, other);
}

/** What gives a list of attributes of a value, by their paths with commas between. */
export function attributesGetter(run: Run, paths: Value): (value: Value) => Value[] {
  const all = isStr(paths) ? textOf(paths).split(",") : [paths];
  const split = all.map(steps);
  return (value) => split.map((path) => follow(run, path, value, null));
}
