import type { Run } from "../run.ts";
import { concatText, type Str, textOf } from "../values/text.ts";
import type { Value } from "../values/types.ts";

/** The names that a part of a template knows: its own, and those around it. */
export class Scope {
  readonly #values = new Map<string, Value>();
  readonly #parent: Scope | undefined;

  /** Within another. */
  constructor(parent?: Scope) {
    this.#parent = parent;
  }

  /** The scope of the whole template: all that is around it are the functions and variables that it was given. */
  get root(): Scope {
    const parent = this.#parent;
    return parent === undefined || parent.#parent === undefined ? this : parent.root;
  }

  /** A name's value. */
  get(name: string): Value | undefined {
    const value = this.#values.get(name);
    return value !== undefined || this.#parent === undefined ? value : this.#parent.get(name);
  }

  /** Sets a name in this scope. */
  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }
}

/** Collects the text that statements write. */
export class Output {
  readonly #run: Run;
  readonly #parts: Str[] = [];
  #length = 0;

  /** For one rendering. */
  constructor(run: Run) {
    this.#run = run;
  }

  /** Writes text. */
  write(text: Str): void {
    const { length } = textOf(text);
    this.#length += length;
    this.#run.text(length);
    if (this.#length > this.#run.limits.characters) this.#run.text(this.#length);
    this.#parts.push(text);
  }

  /** All of it. */
  text(): Str {
    return concatText(this.#parts);
  }
}
