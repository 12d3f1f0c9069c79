import { GrammarError } from "../errors.ts";
import { checkGrammar, checkPoint, checkString, checkToken } from "./arguments.ts";
import { type CharSet, hasPoint } from "./char_set.ts";
import type { Grammar, GrammarElement } from "./parse.ts";

/** A place in a rule, and the place behind the rule. Places that are the same are the same object. */
interface Place {
  readonly id: number;
  readonly sequence: readonly GrammarElement[];
  readonly at: number;
  readonly after: Place | null;
}

const MAX_PLACES = 50_000;

/**
 * Follows a text through a grammar, character by character, as llama.cpp's grammar sampler does: it knows at each point which characters may come next
 * and whether the text may end.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { GrammarMatcher, parseGrammar } from "./mod.ts";
 *
 * const matcher = new GrammarMatcher(parseGrammar('root ::= "yes" | "no"'));
 * assert.equal(matcher.accept("ye"), true);
 * assert.equal(matcher.canEnd, false);
 * assert.equal(matcher.accept("s"), true);
 * assert.equal(matcher.canEnd, true);
 * ```
 */
export class GrammarMatcher {
  readonly #grammar: Grammar;
  readonly #sequences: Map<readonly GrammarElement[], number>;
  readonly #known: Map<string, Place>;
  #places = new Set<Place>();
  #canEnd = false;

  /**
   * Starts at a rule, `root` unless another is named; or where another matcher is.
   *
   * Throws {@linkcode GrammarError} when there is no such rule, or it can begin with itself, and {@linkcode InvalidArgumentError} for anything but a grammar.
   */
  constructor(grammar: Grammar | GrammarMatcher, root = "root") {
    if (typeof grammar === "object" && grammar !== null && #grammar in grammar) {
      this.#grammar = grammar.#grammar;
      this.#sequences = grammar.#sequences;
      this.#known = grammar.#known;
      this.#places = grammar.#places;
      this.#canEnd = grammar.#canEnd;
      return;
    }
    checkGrammar(grammar);
    checkString("the rule's name", root);
    this.#grammar = grammar;
    this.#sequences = new Map();
    this.#known = new Map();
    const rule = grammar.names.get(root);
    if (rule === undefined) {
      throw new GrammarError(`the grammar has no rule ${JSON.stringify(root)}; name the one where texts begin`, {
        value: root,
        expected: [...grammar.names.keys()].slice(0, 10).join(", "),
      });
    }
    this.#enter([{ sequence: [{ kind: "rule", rule }], at: 0, after: null }]);
  }

  /** Whether the text may end here. */
  get canEnd(): boolean {
    return this.#canEnd;
  }

  /** Whether anything may follow. */
  get canContinue(): boolean {
    return this.#places.size > 0;
  }

  /** The sets of characters that may come next; one set per path. */
  get next(): CharSet[] {
    return [...this.#places].flatMap(({ sequence, at }) => {
      const element = sequence[at];
      return element?.kind === "chars" ? [element.set] : [];
    });
  }

  /** Takes the next part of the text. False when the grammar doesn't allow it; the matcher is at a dead end then. */
  accept(text: string): boolean {
    checkString("the text", text);
    for (const char of text) if (!this.acceptPoint(char.codePointAt(0) ?? 0)) return false;
    return true;
  }

  /** Takes one code point. */
  acceptPoint(point: number): boolean {
    checkPoint("the code point", point);
    return this.#step((element) => element.kind === "chars" && hasPoint(element.set, point));
  }

  /** Takes one token, for grammars that name tokens: either as such or by its text. */
  acceptToken(token: number, text: string): boolean {
    checkToken("the token", token);
    checkString("the token's text", text);
    const named = [...this.#places].filter(({ sequence, at }) => sequence[at]?.kind === "token");
    const rest = new Set([...this.#places].filter((place) => !named.includes(place)));
    this.#places = new Set(named);
    this.#step((element) => element.kind === "token" && (element.token === token) !== element.except);
    const byToken = this.#places;
    const endsByToken = this.#canEnd;
    this.#places = rest;
    this.accept(text);
    this.#places = new Set([...this.#places, ...byToken]);
    this.#canEnd ||= endsByToken;
    return this.#canEnd || this.#places.size > 0;
  }

  #step(matches: (element: GrammarElement) => boolean): boolean {
    const next: Omit<Place, "id">[] = [];
    for (const { sequence, at, after } of this.#places) {
      if (matches(sequence[at] as GrammarElement)) next.push({ sequence, at: at + 1, after });
    }
    this.#enter(next);
    return this.#canEnd || this.#places.size > 0;
  }

  /** Replaces the places by what these lead to: each ends at a character, or at the end of the text. */
  #enter(places: readonly Omit<Place, "id">[]): void {
    this.#places = new Set();
    this.#canEnd = false;
    const seen = new Set<Place>();
    const todo: Place[] = [];
    const add = (place: Place | null) => {
      if (place === null) this.#canEnd = true;
      else if (!seen.has(place)) {
        seen.add(place);
        todo.push(place);
      }
    };
    for (const { sequence, at, after } of places) add(this.#place(sequence, at, after));
    for (let place = todo.pop(); place !== undefined; place = todo.pop()) {
      if (seen.size > MAX_PLACES) {
        throw new GrammarError(
          "the grammar has too many paths at one point, or a rule that begins with itself",
          {
            value: seen.size,
            expected: `at most ${MAX_PLACES}`,
          },
        );
      }
      const element = place.sequence[place.at] as GrammarElement;
      if (element.kind !== "rule") {
        this.#places.add(place);
        continue;
      }
      const after = this.#place(place.sequence, place.at + 1, place.after);
      for (const sequence of this.#grammar.rules[element.rule] ?? []) add(this.#place(sequence, 0, after));
    }
  }

  /** The one object for a place; the end of a sequence is the place behind it. */
  #place(sequence: readonly GrammarElement[], at: number, after: Place | null): Place | null {
    if (at >= sequence.length) return after;
    let number = this.#sequences.get(sequence);
    if (number === undefined) this.#sequences.set(sequence, number = this.#sequences.size);
    const key = `${number},${at},${after?.id ?? -1}`;
    let place = this.#known.get(key);
    if (place === undefined) this.#known.set(key, place = { id: this.#known.size, sequence, at, after });
    return place;
  }
}

/** Returns whether a grammar allows exactly this text. */
export function matchesGrammar(grammar: Grammar, text: string, root = "root"): boolean {
  checkGrammar(grammar);
  const matcher = new GrammarMatcher(grammar, root);
  return matcher.accept(text) && matcher.canEnd;
}
