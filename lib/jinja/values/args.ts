import { typeError } from "../errors.ts";
import type { Run } from "../run.ts";
import type { Args, Callable, Value } from "./types.ts";

/** Does what a function is there for; an argument that wasn't given is `undefined`. */
type Body = (run: Run, ...values: never[]) => Value;

/**
 * Makes a function of its parameters' names, of which the first `required` must be given.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { define } from "./args.ts";
 * import type { Value } from "./types.ts";
 *
 * const or = define("or", "value other", 1, (_run, value: Value, other: Value = 0n) => value ?? other);
 * assert.equal(typeof or, "function");
 * ```
 */
export function define(name: string, parameters: string, required: number, body: Body): Callable {
  const names = parameters.split(" ");
  const call = body as unknown as (run: Run, ...values: (Value | undefined)[]) => Value;
  return (run, args) => call(run, ...bound(name, names, required, args));
}

/** Functions by name, each of its parameters, how many of them are required, and what it does. */
export function defineAll(
  functions: Readonly<Record<string, readonly [parameters: string, required: number, body: Body]>>,
): ReadonlyMap<string, Callable> {
  return new Map(
    Object.entries(functions).map(([name, [parameters, required, body]]) => [
      name,
      define(name, parameters, required, body),
    ]),
  );
}

function bound(name: string, names: readonly string[], required: number, args: Args): (Value | undefined)[] {
  const { positional, named } = args;
  if (positional.length > names.length) {
    typeError(`${name}() takes at most ${names.length} arguments (${positional.length} given)`);
  }
  const values: (Value | undefined)[] = [...positional];
  for (const [key, value] of named) {
    const at = names.indexOf(key);
    if (at < 0) typeError(`${name}() got an unexpected keyword argument '${key}'`);
    if (values[at] !== undefined) typeError(`${name}() got multiple values for argument '${key}'`);
    values[at] = value;
  }
  for (let at = 0; at < required; at++) {
    if (values[at] === undefined) typeError(`${name}() missing a required argument: '${names[at]}'`);
  }
  return values;
}

/** No arguments. */
export const noArgs: Args = { positional: [], named: new Map() };

/** Arguments without names. */
export function argsOf(...positional: Value[]): Args {
  return { positional, named: new Map() };
}
