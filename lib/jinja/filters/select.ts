import { JinjaError, typeError } from "../errors.ts";
import { callFilter, callTest } from "../evaluate/expressions.ts";
import type { Run } from "../run.ts";
import { each, isTrue } from "../values/protocol.ts";
import { isStr, textOf } from "../values/text.ts";
import { type Args, type Callable, Iter, type Value } from "../values/types.ts";
import { attributeGetter } from "./attribute_path.ts";

function nameOf(value: Value): string {
  return isStr(value) ? textOf(value) : typeError("the name of a filter or test is a string");
}

/** What `map` does with each value. */
function mapper(run: Run, [name, ...positional]: readonly Value[], named: ReadonlyMap<string, Value>): (
  value: Value,
) => Value {
  const attribute = named.get("attribute");
  if (name === undefined && attribute !== undefined) {
    const unknown = [...named.keys()].find((key) => key !== "attribute" && key !== "default");
    if (unknown !== undefined) throw new JinjaError("TypeError", `Unexpected keyword argument '${unknown}'`);
    return attributeGetter(run, attribute, named.get("default") ?? null);
  }
  if (name === undefined) throw new JinjaError("TypeError", "map requires a filter argument");
  return (value) => callFilter(run, nameOf(name), value, { positional, named });
}

function* mapped(
  run: Run,
  value: Value,
  rest: readonly Value[],
  named: Args["named"],
): Generator<Value, void, undefined> {
  if (!isTrue(value, run)) return;
  const change = mapper(run, rest, named);
  for (const one of each(value, run)) yield change(one);
}

function* selected(
  run: Run,
  value: Value,
  rest: readonly Value[],
  named: Args["named"],
  { wanted, byAttribute }: { wanted: boolean; byAttribute: boolean },
): Generator<Value, void, undefined> {
  if (!isTrue(value, run)) return;
  const [path] = rest;
  if (byAttribute && path === undefined) throw new JinjaError("TypeError", "Missing parameter for attribute name");
  const get = attributeGetter(run, byAttribute ? path ?? null : null);
  const [test, ...positional] = byAttribute ? rest.slice(1) : rest;
  for (const one of each(value, run)) {
    const found = get(one);
    const holds = test === undefined ? found : callTest(run, nameOf(test), found, { positional, named });
    if (isTrue(holds, run) === wanted) yield one;
  }
}

function selecting(wanted: boolean, byAttribute: boolean): Callable {
  return (run, { positional: [value = null, ...rest], named }) =>
    new Iter(selected(run, value, rest, named, { wanted, byAttribute }));
}

/** Jinja's filters that choose or change the elements of a list by another filter or test. */
export const selectFilters: ReadonlyMap<string, Callable> = new Map<string, Callable>([
  ["map", (run, { positional: [value = null, ...rest], named }) => new Iter(mapped(run, value, rest, named))],
  ["select", selecting(true, false)],
  ["reject", selecting(false, false)],
  ["selectattr", selecting(true, true)],
  ["rejectattr", selecting(false, true)],
]);
