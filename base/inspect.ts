/**
 * The picture of an object: one short text for `console.log`, `util.inspect`, `Deno.inspect` and `String()`, in both runtimes.
 *
 * @module
 */

import { GgmlError } from "./errors.ts";

/** The method that `util.inspect` calls, in Node, in Bun and in Deno's `node:util`; Bun's `console.log` calls it too. */
const NODE_INSPECT = Symbol.for("nodejs.util.inspect.custom");
/** The method that `Deno.inspect` and Deno's `console.log` call. */
const DENO_INSPECT = Symbol.for("Deno.customInspect");

/**
 * Gives a class its picture: its name, and what `describe` returns. Call it in a static block, where `describe` sees private fields. The picture never
 * throws: when `describe` does, it says in parentheses that the object is disposed, lost or unavailable.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { inspect } from "node:util";
 * import { definePicture } from "./inspect.ts";
 *
 * class Model {
 *   #name = "SmolLM2";
 *   static {
 *     definePicture(Model, "Model", (model) => `${model.#name}, CPU`);
 *   }
 * }
 * assert.equal(String(new Model()), "Model SmolLM2, CPU");
 * assert.equal(inspect({ model: new Model() }), "{ model: Model SmolLM2, CPU }");
 * ```
 */
export function definePicture<T extends object>(
  type: { readonly prototype: T },
  name: string,
  describe: (object: T) => string,
): void {
  const picture = function (this: T): string {
    return pictureOf(this, type.prototype, name, describe);
  };
  for (const key of ["toString", NODE_INSPECT, DENO_INSPECT]) {
    Object.defineProperty(type.prototype, key, { value: picture, configurable: true, writable: true });
  }
}

function pictureOf<T extends object>(object: T, prototype: T, name: string, describe: (object: T) => string): string {
  if (object === prototype) return `[${name} prototype]`;
  try {
    const text = describe(object);
    return text === "" ? name : `${name} ${text}`;
  } catch (error) {
    return `${name} (${stateOf(error)})`;
  }
}

function stateOf(error: unknown): string {
  if (!(error instanceof GgmlError)) return "unavailable";
  return error.code === "DISPOSED" ? "disposed" : "lost";
}

/** As many values stand in a picture's list before it is cut. */
const MAX_VALUES = 6;
/** As many of the first values stand in a list that is cut. */
const FIRST_VALUES = 3;
/** Digits of a number. */
const DIGITS = 6;

/** Returns the picture of a list: all of a short one, the first and the last values of a long one, such as `[1, 2, 3, …, 6]`. */
export function listPicture(values: ArrayLike<unknown>): string {
  const { length } = values;
  const shown = Array.from(
    { length: length <= MAX_VALUES ? length : FIRST_VALUES },
    (_, at) => valuePicture(values[at]),
  );
  if (length > MAX_VALUES) shown.push("…", valuePicture(values[length - 1]));
  return `[${shown.join(", ")}]`;
}

function valuePicture(value: unknown): string {
  if (typeof value === "number") return String(Number(value.toPrecision(DIGITS)));
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** Returns the picture of a size in bytes, in powers of 1000, such as `98 MB`. */
export function sizePicture(bytes: number | bigint): string {
  let size = Number(bytes);
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (size < 999.5) return `${size < 9.95 && unit !== "B" ? size.toFixed(1) : size.toFixed(0)} ${unit}`;
    size /= 1000;
  }
  return `${size.toFixed(1)} TB`;
}
