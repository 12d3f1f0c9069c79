/** Arguments for random calls: of the right type, nearly right, or wrong. */

import type { Api, ApiField, ApiType } from "./api.ts";

/** What a generator of values needs. */
export interface ValueSource {
  /** A whole number from 0 to below a limit. */
  readonly below: (limit: number) => number;
  readonly api: Api;
  /** Whether the next value is of another type than it should be. */
  wrong(): boolean;
  /** A value for a parameter or property of this name, where a random one would seldom do; `undefined` for another name. */
  hint(name: string): unknown;
  /** A living or disposed object of a class, if there is any. */
  object(name: string): unknown;
  /** A function that does random things when it is called, and returns a value of a type. */
  callback(result: ApiType): unknown;
  /** A signal that is or gets aborted, or never is. */
  signal(): AbortSignal;
}

const MAX_DEPTH = 6;

const numbers = [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 256, 0.5];
const wrongNumbers = [-1, 1.5, NaN, Infinity, -Infinity, 2 ** 31, 2 ** 32, 2 ** 53, -0, 1e300];
const strings = ["", "a", "b", "f32", "CPU", "x\0y", "\ud800", "é😀", "n".repeat(300), "tensor", "constructor"];
const wrongValues: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => 5,
  () => -1,
  () => NaN,
  () => 7n,
  () => "x",
  () => true,
  () => ({}),
  () => [],
  () => new Array(3),
  () => [undefined],
  () => Symbol("x"),
  () => () => 1,
  () => new Map(),
  () => new Date(0),
  () => Promise.resolve(1),
  () => AbortSignal.abort(),
  () => new Uint8Array(3),
  () => new Float32Array(0),
  () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  () => {
    // It breaks after some reads.
    let left = 3;
    return new Proxy({}, {
      get: () => --left > 0 ? 1 : new Proxy({}, {}),
      ownKeys: () => ["a"],
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }),
    });
  },
  () => Object.create(null),
  () => Object.create(Float32Array.prototype),
  () => Object.create(AbortSignal.prototype),
  () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    return cycle;
  },
];

/** One of several. */
export function pick<T>(below: (limit: number) => number, from: readonly T[]): T {
  const one = from[below(from.length)];
  if (one === undefined && from.length === 0) throw new RangeError("nothing to pick from");
  return one as T;
}

/** A value that is mostly of the wrong type. */
export function wrongValue(below: (limit: number) => number): unknown {
  return pick(below, wrongValues)();
}

/** A value for a parameter or a property: of its type, mostly. */
export function fieldValue({ name, type }: Pick<ApiField, "name" | "type">, source: ValueSource, depth = 0): unknown {
  const hinted = source.below(4) === 0 || source.wrong() ? undefined : source.hint(name);
  return hinted === undefined ? valueOf(type, source, depth) : hinted;
}

/** A value of a type, or of another where `wrong` says so. */
export function valueOf(type: ApiType, source: ValueSource, depth = 0): unknown {
  const { below } = source;
  if (source.wrong()) return wrongValue(below);
  switch (type.kind) {
    case "number":
      return below(10) === 0 ? pick(below, wrongNumbers) : pick(below, numbers);
    case "bigint":
      return BigInt(pick(below, [0, 1, 2, 64, -1]));
    case "string":
      return pick(below, strings);
    case "boolean":
      return below(2) === 0;
    case "null":
      return null;
    case "undefined":
      return undefined;
    case "unknown":
      return pick(below, wrongValues)();
    case "literal":
      return type.value;
    case "array":
      return Array.from({ length: pick(below, [0, 1, 2, 2, 3, 4]) }, () => valueOf(type.of, source, depth + 1));
    case "tuple":
      return type.of.map((one) => valueOf(one, source, depth + 1));
    case "union":
      return valueOf(pick(below, type.of), source, depth + 1);
    case "function":
      return source.callback(type.result);
    case "object":
      return objectOf(type, source, depth);
    case "named":
      return namedValue(type, source, depth);
  }
}

function objectOf(type: ApiType & { kind: "object" }, source: ValueSource, depth: number): unknown {
  if (depth > MAX_DEPTH) return {};
  const bases = type.bases.map((base) => valueOf(base, { ...source, wrong: () => false }, depth + 1));
  const entries = type.fields.filter(({ optional }) => !optional || source.below(3) === 0)
    .map((field) => [field.name, fieldValue(field, source, depth + 1)] as const);
  return Object.assign({}, ...bases, Object.fromEntries(entries));
}

const arrays: Readonly<Record<string, new (length: number) => ArrayBufferView>> = {
  Float32Array,
  Float64Array,
  Int32Array,
  Int16Array,
  Int8Array,
  Uint8Array,
  Uint16Array,
  Uint32Array,
  BigInt64Array,
};

function namedValue({ name, of }: ApiType & { kind: "named" }, source: ValueSource, depth: number): unknown {
  const { below, api } = source;
  const inner = of[0] ?? { kind: "unknown" as const };
  const more = (one: ApiType): unknown => valueOf(one, source, depth + 1);
  // Interfaces that objects of several classes have: one of those is it, and nothing that merely looks like it.
  if (name === "TensorReference") return source.object("Tensor");
  if (name === "GraphReference") return source.object(below(4) === 0 ? "GraphCopy" : "Graph") ?? source.object("Graph");
  if (api.classes.includes(name)) return source.object(name);
  const alias = api.types[name];
  if (alias !== undefined) return depth > MAX_DEPTH ? undefined : more(alias);
  const array = arrays[name];
  if (array !== undefined) return new array(pick(below, [0, 1, 3, 6, 6, 12]));
  switch (name) {
    case "AbortSignal":
      return source.signal();
    case "ArrayBuffer":
      return new ArrayBuffer(below(64));
    case "URL":
      return new URL("file:///nowhere/at/all");
    case "Partial":
    case "Pick":
    case "Omit":
    case "Readonly":
    case "Promise":
    case "PromiseLike":
      return more(inner);
    case "Iterable":
    case "AsyncIterable":
    case "ReadonlyArray":
      return [more(inner), more(inner)];
    case "Record":
      return { a: more(of[1] ?? inner) };
    case "Native":
      return source.object("Native");
    default:
      return pick(below, wrongValues)();
  }
}
