import { typeError } from "../errors.ts";
import type { Run } from "../run.ts";
import { isStr, textOf } from "./text.ts";
import { Iter, Obj, Tuple, Undefined, type Value } from "./types.ts";

const ids = new WeakMap<object, number>();
let nextId = 0;

/** A number that tells an object from all others. */
function idOf(value: object): number {
  const known = ids.get(value) ?? ++nextId;
  ids.set(value, known);
  return known;
}

/** What a value is found by in a dict or set: equal values give the same. Throws Python's TypeError for lists and dicts. */
export function keyOf(value: Value): string {
  if (isStr(value)) return `s${textOf(value)}`;
  if (typeof value === "boolean") return value ? "n1" : "n0";
  if (typeof value === "bigint") return `n${value}`;
  if (typeof value === "number") return Number.isInteger(value) ? `n${BigInt(value)}` : `n${value}`;
  if (value === null) return "None";
  if (value instanceof Undefined) return "Undefined";
  if (value instanceof Tuple) {
    return `t${value.items.map((one) => keyOf(one)).map((key) => `${key.length}:${key}`).join("")}`;
  }
  if (Array.isArray(value)) typeError("unhashable type: 'list'");
  if (value instanceof Dict) typeError("unhashable type: 'dict'");
  return `o${idOf(value)}`;
}

/** A dict: keeps the order in which keys came. */
export class Dict extends Obj {
  override readonly type = "dict";
  readonly #entries = new Map<string, readonly [Value, Value]>();

  /** Of pairs of a key and its value. */
  constructor(entries: Iterable<readonly [Value, Value]> = []) {
    super();
    for (const [key, value] of entries) this.set(key, value);
  }

  /** Sets a key's value. */
  set(key: Value, value: Value): void {
    const found = keyOf(key);
    this.#entries.set(found, [this.#entries.get(found)?.[0] ?? key, value]);
  }

  /** A key's value. */
  get(key: Value): Value | undefined {
    return this.#entries.get(keyOf(key))?.[1];
  }

  /** Removes a key. */
  delete(key: Value): void {
    this.#entries.delete(keyOf(key));
  }

  /** The keys. */
  keys(): Value[] {
    return Array.from(this.#entries.values(), ([key]) => key);
  }

  /** The keys with their values. */
  entries(): (readonly [Value, Value])[] {
    return [...this.#entries.values()];
  }

  override size(): number {
    return this.#entries.size;
  }
  override iterate(): Iterator<Value, void, undefined> {
    return this.keys().values() as Iterator<Value, void, undefined>;
  }
  override item(key: Value): Value | undefined {
    return this.get(key);
  }
  override contains(key: Value): boolean {
    return this.#entries.has(keyOf(key));
  }
}

/** What `keys()`, `values()` and `items()` of a dict give. */
export class View extends Obj {
  override readonly type: string;
  /** The dict. */
  readonly dict: Dict;
  readonly #part: "keys" | "values" | "items";

  /** Of a part of a dict. */
  constructor(dict: Dict, part: "keys" | "values" | "items") {
    super();
    this.dict = dict;
    this.#part = part;
    this.type = `dict_${part}`;
  }

  /** What it shows. */
  list(run: Run): Value[] {
    run.list(this.dict.size());
    return this.dict.entries().map(([key, value]) => {
      if (this.#part === "keys") return key;
      return this.#part === "values" ? value : new Tuple([key, value]);
    });
  }

  override size(): number {
    return this.dict.size();
  }
  override iterate(run: Run): Iterator<Value, void, undefined> {
    return this.list(run).values() as Iterator<Value, void, undefined>;
  }
}

/** What `range()` gives. */
export class Range extends Obj {
  override readonly type = "range";
  /** The first number. */
  readonly start: number;
  /** The number before which it ends. */
  readonly stop: number;
  /** From each number to the next. */
  readonly step: number;

  /** From `start` to before `stop`. */
  constructor(start: number, stop: number, step: number) {
    super();
    this.start = start;
    this.stop = stop;
    this.step = step;
  }

  override size(): number {
    return Math.max(0, Math.ceil((this.stop - this.start) / this.step));
  }
  /** The number at an index that it has. */
  at(index: number): bigint {
    return BigInt(this.start + index * this.step);
  }
  override *iterate(): Iterator<Value, void, undefined> {
    for (let at = 0, size = this.size(); at < size; at++) yield this.at(at);
  }
  override repr(): string {
    return `range(${this.start}, ${this.stop}${this.step === 1 ? "" : `, ${this.step}`})`;
  }
}

/** Elements in their reverse order, as `reversed()` gives them. */
export function reversedOf(items: readonly Value[], type: string): Iter {
  return new Iter([...items].reverse().values() as Iterator<Value, void, undefined>, type);
}
