import { JinjaLimitError } from "./errors.ts";
import type { Callable } from "./values/types.ts";

/** How much one rendering may take. */
export interface RunLimits {
  /** Steps: an expression evaluated is one, and so are some dozens of characters handled. */
  readonly steps: number;
  /** Expressions within expressions, and lists within lists. */
  readonly depth: number;
  /** Characters of one text. */
  readonly characters: number;
  /** Numbers of a `range`. */
  readonly range: number;
  /** Milliseconds in all. */
  readonly milliseconds: number;
}

/** The functions that templates know. */
export interface Library {
  /** The filters, by name. */
  readonly filters: ReadonlyMap<string, Callable>;
  /** The tests, by name. */
  readonly tests: ReadonlyMap<string, Callable>;
  /** The methods of Python's types, by the type's name and theirs. */
  readonly methods: ReadonlyMap<string, ReadonlyMap<string, Callable>>;
}

/** Characters handled that count as a step. */
const CHARACTERS_PER_STEP = 64;
/** Comparisons of characters, at the worst, that count as a step. */
const COMPARISONS_PER_STEP = 256;
/** Steps between two looks at the clock. */
const STEPS_PER_LOOK = 4096;
/** Bits of an integer. */
const MAX_BITS = 65_536;

/** One rendering: counts what the template does, and throws {@linkcode JinjaLimitError} when that is too much. */
export class Run {
  /** The limits. */
  readonly limits: RunLimits;
  /** The functions that the template knows. */
  readonly library: Library;
  readonly #check: () => void;
  readonly #end: number;
  #left: number;
  #nextLook: number;
  #depth = 0;

  /** `check` is called every few thousand steps, and throws when the work was cancelled. */
  constructor(limits: RunLimits, check: () => void, library: Library) {
    this.limits = limits;
    this.library = library;
    this.#check = check;
    this.#left = limits.steps;
    this.#nextLook = limits.steps - STEPS_PER_LOOK;
    this.#end = performance.now() + limits.milliseconds;
  }

  /** Takes steps. */
  charge(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new JinjaLimitError("steps", this.limits.steps);
    if (this.#left > this.#nextLook) return;
    this.#nextLook = this.#left - STEPS_PER_LOOK;
    this.#check();
    if (performance.now() > this.#end) throw new JinjaLimitError("milliseconds", this.limits.milliseconds);
  }

  /** Takes the steps of handling so many characters, and refuses a text that is as long. */
  text(characters: number): void {
    if (characters > this.limits.characters) {
      throw new JinjaLimitError("characters of text", this.limits.characters);
    }
    this.charge(characters / CHARACTERS_PER_STEP);
  }

  /** Takes the steps of searching a text for another. */
  search(characters: number, sought: number): void {
    this.charge(characters / CHARACTERS_PER_STEP + characters * sought / COMPARISONS_PER_STEP);
  }

  /** Takes the steps of making a list, tuple or dict with so many elements. */
  list(elements: number): void {
    this.charge(elements);
  }

  /** Refuses an integer of more bits. */
  bits(bits: number): void {
    if (!(bits <= MAX_BITS)) throw new JinjaLimitError("bits of an integer", MAX_BITS);
    this.charge(bits / COMPARISONS_PER_STEP);
  }

  /** Goes into an expression, list or call. */
  enter(): void {
    if (++this.#depth > this.limits.depth) {
      throw new JinjaLimitError("expressions within one another", this.limits.depth);
    }
    this.charge(1);
  }

  /** Comes out again. */
  leave(): void {
    this.#depth--;
  }
}
