/**
 * Arrays, as grammars.
 *
 * @module
 */

import { SchemaTooComplexError, UnsupportedKeywordError } from "../errors.ts";
import type { SchemaDocument, SchemaNode } from "./document.ts";
import type { Feasibility } from "./feasible.ts";
import { choice, empty, type Expr, isNever, never, optional, sequence, text } from "./gbnf.ts";
import { canonicalJson, type JsonValue } from "./json.ts";
import { type ArrayRules, type ContainsRules, mergeLeaf } from "./merge.ts";
import type { Rules } from "./rules.ts";
import { validate } from "./validate.ts";

/** Context of the grammar of an array. */
export interface ArrayContext {
  readonly document: SchemaDocument;
  readonly rules: Rules;
  readonly feasible: Feasibility;
  /** White space. */
  readonly space: Expr;
  /** The grammar of the values that are valid for some schemas. */
  value(nodes: readonly SchemaNode[], hint: string): Expr;
  /** Where a keyword stands. */
  place(keyword: string): string;
  /** For the names of rules. */
  readonly hint: string;
}

/** Places in an array, with what is counted there. */
const MAX_PLACES = 5000;
/** Values of which any order may be written; more are written in the order in which the schema names them. */
const MAX_UNORDERED = 6;

/** A place in an array: how many items are written, and what was found in them. */
interface Place {
  readonly written: number;
  /** Number of items that count for each `contains`. */
  readonly counts: readonly number[];
  /** The values that are written, where no two may be equal, by their numbers. */
  readonly used: readonly number[];
}

/** An item that may be written next, and the place behind it. */
interface Step {
  readonly item: Expr;
  readonly to: Place;
}

/** Writes the grammar of one array. */
export class ArrayWriter {
  readonly #context: ArrayContext;

  /** For one array. */
  constructor(context: ArrayContext) {
    this.#context = context;
  }

  /** Returns the grammar of the arrays that keep to rules. */
  write(rules: ArrayRules): Expr {
    const { space } = this.#context;
    const needsUnique = rules.unique && rules.max > 1 && !this.#areAllDifferent(rules);
    const inner = needsUnique || rules.contains.length > 0 ? this.#counted(rules, needsUnique) : this.#plain(rules);
    return isNever(inner) ? never : sequence(text("["), space, inner, text("]"));
  }

  #plain({ first, rest, min, max }: ArrayRules): Expr {
    const { rules, feasible, hint, space, value, place } = this.#context;
    const possible = first.findIndex((item) => feasible.problem(item) !== undefined);
    const count = possible < 0 ? first.length : possible;
    const others = rest === undefined || possible >= 0 || feasible.problem(rest) !== undefined
      ? undefined
      : value(rest, `${hint}-item`);
    const most = others === undefined ? Math.min(max, count) : max;
    const comma = sequence(text(","), space);
    /** Returns the grammar of the rest once `done` items are written. */
    const after = (done: number): Expr => {
      if (done >= most) return empty;
      if (done >= count) {
        const more = rules.add(`${hint}-more`, sequence(comma, others ?? never));
        return rules.repeated(hint, more, Math.max(0, min - done), most - done, place("maxItems"));
      }
      const more = sequence(comma, value(first[done] ?? [], `${hint}-${done}`), after(done + 1));
      return done < min ? more : optional(rules.add(`${hint}-from-${done}`, more));
    };
    const some = most === 0
      ? empty
      : sequence(count > 0 ? value(first[0] ?? [], `${hint}-0`) : others ?? never, after(1), space);
    return min === 0 && most > 0 ? optional(rules.add(`${hint}-items`, some)) : some;
  }

  /** Whether no two items can be equal anyway. */
  #areAllDifferent({ first, rest, max }: ArrayRules): boolean {
    if (rest !== undefined && max > first.length) return false;
    return first.every((one, at) =>
      first.slice(at + 1).every((other) => this.#context.feasible.wide.problem([...one, ...other]) !== undefined)
    );
  }

  /** With what is counted: each place knows it. */
  #counted(array: ArrayRules, unique: boolean): Expr {
    const { rules, hint, space } = this.#context;
    const comma = sequence(text(","), space);
    const steps = unique ? this.#uniqueSteps(array) : (place: Place) => this.#containsSteps(array, place);
    const canEnd = ({ written, counts }: Place) =>
      written >= array.min && array.contains.every(({ min }, at) => (counts[at] ?? 0) >= min);
    const known = new Map<string, Expr>();
    const states = new Map<string, { name: string; place: Place }>();
    const nameOf = (place: Place): string => {
      const key = `${place.written} ${place.counts.join()} ${place.used.join()}`;
      let state = states.get(key);
      if (state === undefined) {
        states.set(key, state = { name: rules.name(`${hint}-at`), place });
        if (states.size > MAX_PLACES) this.#tooMany();
      }
      return state.name;
    };
    const start: Place = { written: 0, counts: array.contains.map(() => 0), used: [] };
    const begin = nameOf(start);
    for (const { name, place } of states.values()) {
      const options = steps(place).map(({ item, to }) =>
        sequence(place.written > 0 ? comma : empty, item, { kind: "rule", name: nameOf(to) })
      );
      const end = canEnd(place) ? [place.written > 0 ? space : empty] : [];
      known.set(name, choice(...options.filter((option) => !isNever(option)), ...end));
    }
    for (const [name, body] of known) rules.set(name, body);
    return { kind: "rule", name: begin };
  }

  #tooMany(): never {
    const path = this.#context.place("contains");
    throw new SchemaTooComplexError(`the schema's ${path} takes more than ${MAX_PLACES} places; have smaller counts`, {
      path,
      expected: `at most ${MAX_PLACES} places`,
    });
  }

  /** Each item counts for some of what must be contained, or for none. */
  #containsSteps(array: ArrayRules, place: Place): Step[] {
    const { feasible, value, hint } = this.#context;
    const { written } = place;
    if (written >= array.max) return [];
    const nodes = array.first[written] ?? array.rest;
    if (nodes === undefined) return [];
    const steps: Step[] = [];
    for (let mask = 0; mask < 1 << array.contains.length; mask++) {
      const more = this.#counting(array.contains, place, mask);
      if (more === undefined) continue;
      const item = [...nodes, ...more.nodes];
      if (feasible.problem(item) !== undefined) continue;
      steps.push({
        item: value(item, `${hint}-item`),
        to: { ...place, written: this.#next(array, written), counts: more.counts },
      });
    }
    return steps;
  }

  /** Returns the schemas of an item that counts for those in the mask; `undefined` where that is not needed or not allowed. */
  #counting(
    contains: readonly ContainsRules[],
    { written, counts }: Place,
    mask: number,
  ): { nodes: SchemaNode[]; counts: number[] } | undefined {
    const nodes: SchemaNode[] = [];
    const next = [...counts];
    for (const [at, { node, min, max, from }] of contains.entries()) {
      const count = counts[at] ?? 0;
      const counted = (mask >> at) % 2 === 1;
      if (counted) {
        // Once there are enough, and no more are too many, nothing needs to be counted.
        if (written < from || count >= max || (max === Infinity && count >= min)) return undefined;
        nodes.push(node);
        next[at] = count + 1;
      } else if (max !== Infinity && written >= from) nodes.push(this.#context.document.not(node));
    }
    return { nodes, counts: next };
  }

  /** Beyond the last place that differs, it makes no difference how many are written. */
  #next({ first, min, max, contains }: ArrayRules, written: number): number {
    const last = max === Infinity ? Math.max(1, first.length, min, ...contains.map(({ from }) => from)) : max;
    return Math.min(written + 1, last);
  }

  /** Items of which each is one of some values. */
  #uniqueSteps(array: ArrayRules): (place: Place) => Step[] {
    const { document } = this.#context;
    const places = [...array.first, ...(array.rest === undefined ? [] : [array.rest])].map((nodes) =>
      this.#values(nodes)
    );
    const all = [...new Map(places.flat().map((value) => [canonicalJson(value), value])).values()];
    const allowed = places.map((values) => new Set(values.map(canonicalJson)));
    const ordered = all.length > MAX_UNORDERED;
    return ({ written, counts, used }) => {
      if (written >= array.max) return [];
      const here = allowed[Math.min(written, allowed.length - 1)];
      if (here === undefined || (array.rest === undefined && written >= array.first.length)) return [];
      return all.flatMap((value, number): Step[] => {
        const taken = ordered ? number <= (used[0] ?? -1) : used.includes(number);
        if (taken || !here.has(canonicalJson(value))) return [];
        const next = array.contains.map(({ node, from }, at) =>
          (counts[at] ?? 0) + (written >= from && validate(document, node, value) === undefined ? 1 : 0)
        );
        if (array.contains.some(({ max }, at) => (next[at] ?? 0) > max)) return [];
        const uses = ordered ? [number] : [...used, number].sort((a, b) => a - b);
        return [{ item: text(JSON.stringify(value)), to: { written: written + 1, counts: next, used: uses } }];
      });
    };
  }

  /** The values that are valid for some schemas, which must be few. */
  #values(nodes: readonly SchemaNode[]): JsonValue[] {
    const { feasible, document, place } = this.#context;
    const leaves = feasible.leaves.of(nodes).filter((leaf) => feasible.leafProblem(leaf) === undefined);
    return leaves.flatMap((leaf) => {
      const { values, types } = mergeLeaf(document, leaf, true);
      if (values !== undefined) return values;
      const few = [...types].every((type) => type === "null" || type === "boolean");
      if (few) {
        return [null, true, false].filter((value) =>
          nodes.every((node) => validate(document, node, value) === undefined)
        );
      }
      const path = place("uniqueItems");
      throw new UnsupportedKeywordError(
        `the schema's ${path} can't be expressed by a grammar unless the items are of an enum; give them one, allow one item only, or use schemaMode "validate"`,
        { path, value: true, expected: "items of an enum, or maxItems 1" },
      );
    });
  }
}
