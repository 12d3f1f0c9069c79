/**
 * Python's values: None is `null`, an int a `bigint`, a float a `number`, a list an array; a str is a {@linkcode Str}.
 *
 * @module
 */

import type { Run } from "../run.ts";
import type { Str } from "./text.ts";

/** Any value of a template. */
export type Value = null | boolean | bigint | number | Str | Value[] | Obj;

/** A value, or another one where there is none: None is one. */
export function orElse<T>(value: T | undefined, other: () => T): T {
  return value === undefined ? other() : value;
}

/** The arguments of a call. */
export interface Args {
  /** Those without a name. */
  readonly positional: readonly Value[];
  /** Those with one. */
  readonly named: ReadonlyMap<string, Value>;
}

/** A function: filters, tests and methods take their operand as the first argument. */
export type Callable = (run: Run, args: Args) => Value;

/** Every value that isn't a JavaScript one. What it can do says which methods it has. */
export abstract class Obj {
  /** The name of its type in Python. */
  abstract readonly type: string;
  /** Its elements, one after the other. */
  iterate?(run: Run): Iterator<Value, void, undefined>;
  /** How many elements it has. */
  size?(run: Run): number;
  /** The element at an index or key; `undefined` when there is none. */
  item?(key: Value, run: Run): Value | undefined;
  /** An attribute other than a method; `undefined` when there is none. */
  attribute?(name: string, run: Run): Value | undefined;
  /** Calls it. */
  call?(args: Args, run: Run): Value;
  /** Whether it has an element. */
  contains?(value: Value, run: Run): boolean;
  /** Whether a condition takes it for true. Default: whether it has elements, or always. */
  isTrue?(run: Run): boolean;
  /** What Python writes for it. */
  repr?(): string;
}

/** What isn't defined. */
export class Undefined extends Obj {
  override readonly type = "Undefined";
  /** What is missing. */
  readonly message: string;

  /** With what the error says when it is used. */
  constructor(message: string) {
    super();
    this.message = message;
  }

  override repr(): string {
    return "Undefined";
  }
  override size(): number {
    return 0;
  }
  override *iterate(): Iterator<Value, void, undefined> {}
}

/** A tuple. */
export class Tuple extends Obj {
  override readonly type = "tuple";
  /** The elements. */
  readonly items: readonly Value[];
  /** The names of the elements, for those that have some. */
  readonly names: readonly string[];

  /** Of elements, with their names. */
  constructor(items: readonly Value[], names: readonly string[] = []) {
    super();
    this.items = items;
    this.names = names;
  }

  override size(): number {
    return this.items.length;
  }
  override iterate(): Iterator<Value, void, undefined> {
    return this.items.values() as Iterator<Value, void, undefined>;
  }
  override attribute(name: string): Value | undefined {
    const at = this.names.indexOf(name);
    return at < 0 ? undefined : this.items[at];
  }
}

/** What gives values once: a generator. */
export class Iter extends Obj {
  override readonly type: string;
  /** The values that are left. */
  readonly values: Iterator<Value, void, undefined>;

  /** Of values, with the name of its type. */
  constructor(values: Iterator<Value, void, undefined>, type = "generator") {
    super();
    this.values = values;
    this.type = type;
  }

  override iterate(): Iterator<Value, void, undefined> {
    return this.values;
  }
  override isTrue(): boolean {
    return true;
  }
}

/** A function or method. */
export class Func extends Obj {
  override readonly type = "function";
  readonly #name: string;
  readonly #call: (args: Args, run: Run) => Value;

  /** With its name. */
  constructor(name: string, call: (args: Args, run: Run) => Value) {
    super();
    this.#name = name;
    this.#call = call;
  }

  override call(args: Args, run: Run): Value {
    return this.#call(args, run);
  }
  override repr(): string {
    return `<function ${this.#name}>`;
  }
}

/** What `namespace()` gives. */
export class Namespace extends Obj {
  override readonly type = "Namespace";
  /** What it holds. */
  readonly values = new Map<string, Value>();

  override attribute(name: string): Value | undefined {
    return this.values.get(name);
  }
  override item(key: Value): Value | undefined {
    return typeof key === "string" ? this.values.get(key) : undefined;
  }
}
