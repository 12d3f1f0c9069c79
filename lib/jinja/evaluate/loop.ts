import { typeError } from "../errors.ts";
import type { Run } from "../run.ts";
import { equals } from "../values/compare.ts";
import { iterate, sizeOf } from "../values/protocol.ts";
import { type Args, Func, Obj, orElse, Tuple, Undefined, type Value } from "../values/types.ts";

/** What `loop` is in a loop: looks ahead as far as it is asked to, and no farther. */
export class Loop extends Obj {
  override readonly type = "LoopContext";
  readonly #given: Value;
  readonly #run: Run;
  readonly #depth: number;
  readonly #recurse: ((iterable: Value, depth: number) => Value) | undefined;
  #rest: Iterator<Value, void, undefined>;
  #index = -1;
  #length: number | undefined;
  #after: { readonly value: Value } | undefined;
  #isAtEnd = false;
  #before: Value | undefined;
  #current: Value | undefined;
  #changed: Tuple | undefined;

  /** Over a value; `recurse` renders the loop over another, for a recursive one. */
  constructor(
    given: Value,
    run: Run,
    depth: number,
    recurse: ((iterable: Value, depth: number) => Value) | undefined,
  ) {
    super();
    this.#given = given;
    this.#run = run;
    this.#depth = depth;
    this.#recurse = recurse;
    this.#rest = iterate(given, run);
  }

  /** Goes to the next element; `undefined` at the end. */
  next(): { readonly value: Value } | undefined {
    const next = this.#peek();
    this.#after = undefined;
    if (next === undefined) return undefined;
    this.#index++;
    this.#before = this.#current;
    this.#current = next.value;
    return next;
  }

  #peek(): { readonly value: Value } | undefined {
    if (this.#after !== undefined || this.#isAtEnd) return this.#after;
    const next = this.#rest.next();
    if (next.done === true) this.#isAtEnd = true;
    else this.#after = { value: next.value };
    return this.#after;
  }

  override size(): number {
    this.#length ??= sizeOf(this.#given, this.#run) ?? this.#count();
    return this.#length;
  }

  /** Counts what is left, and keeps it. */
  #count(): number {
    const rest: Value[] = [];
    for (let next = this.#rest.next(); next.done !== true; next = this.#rest.next()) {
      this.#run.list(1);
      rest.push(next.value);
    }
    this.#rest = rest.values() as Iterator<Value, void, undefined>;
    return rest.length + this.#index + 1 + (this.#after === undefined ? 0 : 1);
  }

  override attribute(name: string): Value | undefined {
    const index = this.#index;
    switch (name) {
      case "index":
        return BigInt(index + 1);
      case "index0":
        return BigInt(index);
      case "revindex":
        return BigInt(this.size() - index);
      case "revindex0":
        return BigInt(this.size() - index - 1);
      case "first":
        return index === 0;
      case "last":
        return this.#peek() === undefined;
      case "length":
        return BigInt(this.size());
      case "depth":
        return BigInt(this.#depth + 1);
      case "depth0":
        return BigInt(this.#depth);
      case "previtem":
        return index === 0 ? new Undefined("there is no previous item") : this.#before;
      case "nextitem":
        return orElse(this.#peek()?.value, () => new Undefined("there is no next item"));
      case "cycle":
        return new Func("cycle", ({ positional }) => {
          if (positional.length === 0) typeError("no items for cycling given");
          return positional[index % positional.length] ?? null;
        });
      case "changed":
        return new Func("changed", ({ positional }) => this.#hasChanged(new Tuple(positional)));
      default:
        return undefined;
    }
  }

  #hasChanged(value: Tuple): boolean {
    if (this.#changed !== undefined && equals(this.#changed, value, this.#run)) return false;
    this.#changed = value;
    return true;
  }

  override call({ positional: [iterable] }: Args): Value {
    if (this.#recurse === undefined) {
      return typeError("The loop must have the 'recursive' marker to be called recursively.");
    }
    return this.#recurse(orElse(iterable, () => typeError("loop() takes what it goes over")), this.#depth + 1);
  }

  override isTrue(): boolean {
    return this.size() > 0;
  }

  override repr(): string {
    return `<LoopContext ${this.#index + 1}/${this.size()}>`;
  }
}
