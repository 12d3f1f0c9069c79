import { GrammarError } from "../errors.ts";
import type { Grammar, GrammarElement, GrammarRule } from "./mod.ts";
import { parseGrammar } from "./mod.ts";

/** Places where a text can be at once; llama.cpp compares each with each. */
const MAX_PATHS = 20_000;
/** Rules that begin with one another; llama.cpp follows them by recursion. */
const DEEPEST_PATH = 1000;

/** Tokens in a grammar. */
export interface GrammarFacts {
  /** Whether it names tokens, which count whatever their text is. */
  readonly namesTokens: boolean;
  /** The names of tokens in it; each must be one token of the model. */
  readonly tokenNames: readonly string[];
}

/**
 * Checks a grammar in GBNF as llama.cpp reads it, and refuses besides what would make llama.cpp hang or run out of its stack: rules that begin with
 * themselves, also in a roundabout way, groups nested too deep, and too many ways to begin.
 *
 * Throws {@linkcode GrammarError}, which names the line and column.
 */
export function checkGbnf(source: string, root = "root"): GrammarFacts {
  const grammar = parseGrammar(source);
  if (!grammar.names.has(root)) {
    const names = [...grammar.names.keys()].slice(0, 5).join(", ");
    throw new GrammarError(
      `the grammar has no rule ${JSON.stringify(root)}, where it would begin; ${
        names === "" ? "it has none at all" : `it has ${names}`
      }`,
      { value: root, expected: `a rule ${root} ::= …` },
    );
  }
  new PrefixAnalysis(grammar).check();
  const tokens = grammar.rules.flat(2).filter((element) => element.kind === "token");
  const tokenNames = tokens.flatMap(({ token }) => typeof token === "string" ? [token] : []);
  return { namesTokens: tokens.length > 0, tokenNames: [...new Set(tokenNames)] };
}

/** Analysis of the beginnings of rules. */
class PrefixAnalysis {
  readonly #rules: readonly GrammarRule[];
  readonly #names: ReadonlyMap<number, string>;
  readonly #empty: Uint8Array;
  /** Number of ways to begin each rule: 0 for not known, -1 for one that is being looked at. */
  readonly #paths: Int32Array;

  constructor({ rules, names }: Grammar) {
    this.#rules = rules;
    this.#names = new Map([...names].map(([name, rule]) => [rule, name]));
    this.#empty = new Uint8Array(rules.length);
    this.#paths = new Int32Array(rules.length);
    this.#findEmpty();
  }

  check(): void {
    for (const rule of this.#rules.keys()) this.#count(rule, 0, this.#names.get(rule) ?? "root");
  }

  /** From those that can be empty to those that consist of them. */
  #findEmpty(): void {
    for (let found = true; found;) {
      found = false;
      for (let rule = this.#rules.length - 1; rule >= 0; rule--) {
        if (this.#empty[rule] === 1 || !this.#rules[rule]?.some((one) => one.every((part) => this.#canBeEmpty(part)))) {
          continue;
        }
        this.#empty[rule] = 1;
        found = true;
      }
    }
  }

  #canBeEmpty(element: GrammarElement): boolean {
    return element.kind === "rule" && this.#empty[element.rule] === 1;
  }

  #count(rule: number, depth: number, inside: string): number {
    const known = this.#paths[rule] ?? 0;
    if (known > 0) return known;
    const name = this.#names.get(rule) ?? inside;
    if (known < 0) {
      throw new GrammarError(
        `the rule ${name} can begin with itself, which llama.cpp can't read (left recursion); put something before it`,
        {
          value: name,
          expected: "a rule that begins with something else",
        },
      );
    }
    if (depth > DEEPEST_PATH) this.#refuse(name, `begins more than ${DEEPEST_PATH} rules deep`);
    this.#paths[rule] = -1;
    let count = 1;
    for (const sequence of this.#rules[rule] ?? []) {
      for (const element of sequence) {
        count += element.kind === "rule" ? this.#count(element.rule, depth + 1, name) : 1;
        if (!this.#canBeEmpty(element)) break;
      }
    }
    if (count > MAX_PATHS) this.#refuse(name, `can begin in more than ${MAX_PATHS} ways`);
    return this.#paths[rule] = count;
  }

  #refuse(name: string, what: string): never {
    throw new GrammarError(`the grammar's rule ${name} ${what}; write it more simply`, {
      value: name,
      expected: "a simpler rule",
    });
  }
}
