import type { JsonValue } from "../../json_schema/json.ts";
import { checkText, isPlainObject, refuse } from "../../../base/check.ts";

/** Lists and objects within one another. */
const MAX_DEPTH = 256;
/** Values in all, each counted wherever it stands: data whose parts are shared may be far larger written out than in memory. */
const MAX_VALUES = 1_000_000;

/** Options of {@linkcode plainData}. */
export interface PlainDataOptions {
  /** Whether objects made by classes are taken too, by their enumerable properties, and numbers that JSON lacks as null. Default false. */
  readonly lenient?: boolean;
}

interface Copied {
  readonly value: JsonValue | undefined;
  readonly count: number;
}

/**
 * Copies a value as plain data that JSON can express. Properties that are `undefined` are left out; an object with `toJSON` stands for what that returns.
 *
 * Throws InvalidArgumentError, which names the place, for anything else: functions, symbols, bigints, arrays with holes, cycles, more than 256
 * levels, revoked Proxies, getters that throw, and half surrogate pairs.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { plainData } from "./plain_data.ts";
 *
 * assert.deepEqual(plainData("arguments", { a: [1], b: undefined }), { a: [1] });
 * assert.throws(() => plainData("arguments", { a: [1, , 2] }), /arguments\.a has a hole at index 1/);
 * ```
 */
export function plainData(where: string, value: unknown, { lenient = false }: PlainDataOptions = {}): JsonValue {
  const copied = new Copier(lenient).copy(where, value, 0);
  return copied.value === undefined
    ? refuse(where, value, "plain data: text, numbers, arrays and objects")
    : copied.value;
}

class Copier {
  readonly #lenient: boolean;
  readonly #open = new Set<object>();
  readonly #known = new Map<object, Copied>();

  constructor(lenient: boolean) {
    this.#lenient = lenient;
  }

  copy(where: string, value: unknown, depth: number): Copied {
    if (value === undefined) return { value, count: 1 };
    if (value === null || typeof value === "boolean") return { value, count: 1 };
    if (typeof value === "string") return { value: checkText(where, value), count: 1 };
    if (typeof value === "number") return { value: this.#number(where, value), count: 1 };
    if (typeof value !== "object") return refuse(where, value, "plain data: text, numbers, arrays and objects");
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    if (this.#open.has(value)) return refuse(where, value, "plain data, which doesn't hold itself");
    if (depth > MAX_DEPTH) return refuse(where, value, `plain data of at most ${MAX_DEPTH} levels`);
    this.#open.add(value);
    const copied = this.#compound(where, value, depth);
    this.#open.delete(value);
    if (copied.count > MAX_VALUES) return refuse(where, value, `plain data of at most ${MAX_VALUES} values`);
    this.#known.set(value, copied);
    return copied;
  }

  #number(where: string, value: number): number | null {
    if (Number.isFinite(value)) return value;
    return this.#lenient ? null : refuse(where, value, "a finite number");
  }

  #compound(where: string, value: object, depth: number): Copied {
    const toJson = read(where, value, "toJSON");
    if (typeof toJson === "function") {
      return this.copy(where, attempt(where, value, () => toJson.call(value) as unknown), depth + 1);
    }
    if (attempt(where, value, () => Array.isArray(value))) return this.#list(where, value as unknown[], depth);
    if (!this.#lenient && !isPlainObject(value)) return refuse(where, value, "a plain object");
    let count = 1;
    const members: [string, JsonValue][] = [];
    for (const key of attempt(where, value, () => Object.keys(value))) {
      const place = `${where}${/^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`}`;
      const member = this.copy(place, read(place, value, key), depth + 1);
      count += member.count;
      if (member.value !== undefined) members.push([checkText(`a name in ${where}`, key), member.value]);
    }
    return { value: Object.fromEntries(members), count };
  }

  #list(where: string, value: unknown[], depth: number): Copied {
    let count = 1;
    const items: JsonValue[] = [];
    const { length } = value;
    if (length > MAX_VALUES) return refuse(where, value, `plain data of at most ${MAX_VALUES} values`);
    for (let index = 0; index < length; index++) {
      if (!attempt(where, value, () => index in value)) {
        return refuse(`${where} has a hole at index ${index}: it`, value, "an array with all its elements");
      }
      const item = this.copy(`${where}[${index}]`, read(`${where}[${index}]`, value, index), depth + 1);
      if (item.value === undefined) return refuse(`${where}[${index}]`, undefined, "a value that JSON can express");
      count += item.count;
      items.push(item.value);
    }
    return { value: items, count };
  }
}

/** Reads a property: a getter or a Proxy may throw. */
function read(where: string, value: object, key: PropertyKey): unknown {
  return attempt(where, value, () => Reflect.get(value, key));
}

function attempt<T>(where: string, value: unknown, run: () => T): T {
  try {
    return run();
  } catch {
    return refuse(where, value, "plain data that can be read");
  }
}
