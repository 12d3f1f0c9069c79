import type { Interpreter } from "@huggingface/jinja";
import type { Budget } from "./interpreter.ts";
import { overLimit } from "./limits.ts";

/** A value of the interpreter. */
export type Value = ReturnType<Interpreter["evaluate"]>;

/** Lists and objects within one another, deeper than which none may be. */
const MAX_DEPTH = 100;

interface Weight {
  readonly characters: number;
  readonly depth: number;
  /** Whether it stays so: what a namespace holds can change. */
  readonly fixed: boolean;
}

/**
 * How large values are when they are written out. Lists can hold the same list many times over, so that a few steps make one whose text no memory can
 * hold.
 */
export class Weights {
  readonly #budget: Budget;
  #known = new WeakMap<object, Weight>();

  /** Walking takes steps of the budget. */
  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Characters of a value. Throws ChatTemplateError for too many. */
  of(value: Value): number {
    return this.#weigh(value, 0).characters;
  }

  /** Forgets what it found: a list has changed. */
  forget(): void {
    this.#known = new WeakMap();
  }

  /** How deep its lists and objects are nested. */
  depthOf(value: Value): number {
    return this.#weigh(value, 0).depth;
  }

  #weigh(value: Value, level: number): Weight {
    const inner: unknown = value.value;
    if (typeof inner === "string") return this.#admit({ characters: inner.length, depth: 0, fixed: true });
    if (typeof inner !== "object" || inner === null) return plain;
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    if (level > MAX_DEPTH) throw overLimit("lists within one another", MAX_DEPTH);
    const weight = this.#sum(inner as Value[] | Map<string, Value>, level, value.type !== "NamespaceValue");
    if (weight.fixed) this.#known.set(value, weight);
    return weight;
  }

  #sum(inner: readonly Value[] | ReadonlyMap<string, Value>, level: number, isFixed: boolean): Weight {
    let characters = 2;
    let depth = 0;
    let fixed = isFixed;
    const add = (value: Value | undefined, key: string): void => {
      this.#budget.charge(1);
      const weight = value === undefined ? plain : this.#weigh(value, level + 1);
      characters += weight.characters + key.length + 2;
      depth = Math.max(depth, weight.depth);
      fixed &&= weight.fixed;
      this.#budget.admit(characters);
    };
    if (inner instanceof Map) { for (const [key, value] of inner) add(value, key); }
    else for (const value of inner as readonly Value[]) add(value, "");
    return { characters, depth: depth + 1, fixed };
  }

  #admit(weight: Weight): Weight {
    this.#budget.admit(weight.characters);
    return weight;
  }
}

/** A number, a truth value, nothing, or a function. */
const plain: Weight = { characters: 8, depth: 0, fixed: true };
