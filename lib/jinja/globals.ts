import { JinjaError, JinjaLimitError, typeError, valueError } from "./errors.ts";
import { dictOf } from "./methods/containers.ts";
import type { Run } from "./run.ts";
import { define } from "./values/args.ts";
import { Range } from "./values/dict.ts";
import { index } from "./values/numbers.ts";
import { str } from "./values/repr.ts";
import { isStr, textOf } from "./values/text.ts";
import { type Args, Func, Namespace, Obj, orElse, type Value } from "./values/types.ts";
import { strftime } from "./strftime.ts";

/** What `cycler()` gives: one of some values after the other, again and again. */
class Cycler extends Obj {
  override readonly type = "Cycler";
  readonly #items: readonly Value[];
  #at = 0;

  constructor(items: readonly Value[]) {
    super();
    this.#items = items;
  }

  override attribute(name: string): Value | undefined {
    const current = this.#items[this.#at] ?? null;
    if (name === "current") return current;
    if (name === "reset") {
      return new Func(name, () => {
        this.#at = 0;
        return null;
      });
    }
    if (name !== "next") return undefined;
    return new Func(name, () => {
      const now = this.#items[this.#at] ?? null;
      this.#at = (this.#at + 1) % this.#items.length;
      return now;
    });
  }
}

/** What `joiner()` gives: nothing the first time it is called, and its text from then on. */
class Joiner extends Obj {
  override readonly type = "Joiner";
  readonly #text: Value;
  #used = false;

  constructor(text: Value) {
    super();
    this.#text = text;
  }

  override call(): Value {
    if (this.#used) return this.#text;
    this.#used = true;
    return "";
  }
}

function range(run: Run, bounds: readonly Value[]): Range {
  const [first = 0, second, step = 1] = bounds.map((bound) => index(bound));
  if (bounds.length === 0 || bounds.length > 3) typeError("range expected 1 to 3 arguments");
  if (step === 0) valueError("range() arg 3 must not be zero");
  const numbers = second === undefined ? new Range(0, first, 1) : new Range(first, second, step);
  if (numbers.size() > run.limits.range) throw new JinjaLimitError("numbers of a range", run.limits.range);
  return numbers;
}

function namespace(run: Run, { positional, named }: Args): Namespace {
  const made = new Namespace();
  for (const from of positional) {
    for (const [key, value] of dictOf(run, from).entries()) if (isStr(key)) made.values.set(textOf(key), value);
  }
  for (const [key, value] of named) made.values.set(key, value);
  return made;
}

/** The functions that every template knows, by name. `now` is what `strftime_now` writes. */
export function globalFunctions(now: Date): ReadonlyMap<string, Value> {
  const functions: Readonly<Record<string, (args: Args, run: Run) => Value>> = {
    range: ({ positional }, run) => range(run, positional),
    namespace: (args, run) => namespace(run, args),
    dict: ({ positional: [from], named }, run) => {
      const dict = dictOf(run, orElse(from, () => []));
      for (const [key, value] of named) dict.set(key, value);
      return dict;
    },
    cycler: ({ positional }) => {
      if (positional.length === 0) throw new JinjaError("TypeError", "at least one item has to be provided");
      return new Cycler(positional);
    },
    joiner: (args, run) => define("joiner", "sep", 0, (_run, text: Value = ", ") => new Joiner(text))(run, args),
    raise_exception: ({ positional: [message] }, run) => {
      throw new JinjaError("TemplateError", textOf(str(orElse(message, () => ""), run)));
    },
    strftime_now: ({ positional: [format] }) => {
      if (format === undefined || !isStr(format)) return typeError("strftime() argument 1 must be str");
      return strftime(now, textOf(format));
    },
  };
  return new Map(Object.entries(functions).map(([name, call]) => [name, new Func(name, call)]));
}
