/**
 * Regular languages as trees, with intersection and complement. Trees that are the same are the same object, so that the states of an automaton are just
 * trees: each stands for what may still follow.
 *
 * @module
 */

import { type CharSet, everyPoint, intersectionOf, partsOf, unionOf } from "../gbnf/char_set.ts";
import { countWork } from "./work.ts";

/** A regular language. */
export interface Regex {
  /** Unlike that of any other tree of the same store. */
  readonly id: number;
  /** Its form. */
  readonly shape: Shape;
  /** Whether the empty text is in it. */
  readonly nullable: boolean;
}

type Shape =
  | { readonly kind: "empty" }
  | { readonly kind: "chars"; readonly set: CharSet }
  | { readonly kind: "concat"; readonly first: Regex; readonly rest: Regex }
  | { readonly kind: "or" | "and"; readonly parts: readonly Regex[] }
  | { readonly kind: "not"; readonly of: Regex }
  | { readonly kind: "repeat"; readonly of: Regex; readonly min: number; readonly max: number };

/** Thrown when there are more trees than allowed. */
export class TooManyStates extends Error {}

const MAX_TREES = 200_000;
/** Parts of trees that are looked at: the largest useful patterns take a third of it, and it is spent in about a third of a second. */
const MAX_WORK = 300_000;

/** The same for all patterns of one conversion: it is synchronous, and has to end soon. */
const MAX_WORK_TOGETHER = 1_000_000;

let together = Infinity;

/** Runs a conversion, whose patterns may take some time together. */
export function withWorkLimit<T>(convert: () => T): T {
  const before = together;
  together = MAX_WORK_TOGETHER;
  try {
    return convert();
  } finally {
    together = before;
  }
}

/** Makes trees. */
export class RegexStore {
  readonly #known = new Map<string, Regex>();
  readonly #sets = new Map<string, CharSet>();
  readonly #next = new Map<Regex, readonly Regex[]>();
  #parts: readonly CharSet[] | undefined;
  #work = 0;
  /** No text. */
  readonly never: Regex = this.chars([]);
  /** The empty text. */
  readonly empty: Regex = this.#make("e", { kind: "empty" }, true);
  /** Any one character. */
  readonly anyChar: Regex = this.chars(everyPoint);
  /** Any text. */
  readonly any: Regex = this.repeat(this.anyChar, 0, Infinity);

  #make(key: string, shape: Shape, nullable: boolean): Regex {
    let regex = this.#known.get(key);
    if (regex !== undefined) return regex;
    if (this.#known.size >= MAX_TREES) throw new TooManyStates();
    regex = { id: this.#known.size, shape, nullable };
    this.#known.set(key, regex);
    return regex;
  }

  /** One character. */
  chars(set: CharSet): Regex {
    const key = `c${set.join()}`;
    if (!this.#sets.has(key)) {
      if (this.#parts !== undefined) throw new TypeError("characters were told apart already");
      this.#sets.set(key, set);
    }
    return this.#make(key, { kind: "chars", set }, false);
  }

  /** This text. */
  text(text: string): Regex {
    let result = this.empty;
    for (const char of [...text].reverse()) {
      const point = char.codePointAt(0) ?? 0;
      result = this.concat(this.chars([point, point]), result);
    }
    return result;
  }

  /** One after another. */
  concat(first: Regex, rest: Regex): Regex {
    if (first === this.never || rest === this.never) return this.never;
    if (first === this.empty) return rest;
    if (rest === this.empty) return first;
    this.#spend(1);
    if (first.shape.kind === "concat") return this.concat(first.shape.first, this.concat(first.shape.rest, rest));
    return this.#make(`.${first.id},${rest.id}`, { kind: "concat", first, rest }, first.nullable && rest.nullable);
  }

  /** Any of several. */
  or(...given: readonly Regex[]): Regex {
    const parts = this.#flat("or", given).filter((part) => part !== this.never);
    if (parts.includes(this.any)) return this.any;
    // What is empty adds nothing to what may be empty.
    const full = parts.some((part) => part !== this.empty && part.nullable)
      ? parts.filter((part) => part !== this.empty)
      : parts;
    if (full.length <= 1) return full[0] ?? this.never;
    return this.#make(
      `|${full.map(({ id }) => id).join()}`,
      { kind: "or", parts: full },
      full.some(({ nullable }) => nullable),
    );
  }

  /** All of several. */
  and(...given: readonly Regex[]): Regex {
    const parts = this.#flat("and", given).filter((part) => part !== this.any);
    if (parts.includes(this.never)) return this.never;
    if (parts.includes(this.empty)) return parts.every(({ nullable }) => nullable) ? this.empty : this.never;
    if (parts.length <= 1) return parts[0] ?? this.any;
    return this.#make(
      `&${parts.map(({ id }) => id).join()}`,
      { kind: "and", parts },
      parts.every(({ nullable }) => nullable),
    );
  }

  #spend(work: number): void {
    countWork(work / 8);
    this.#work += work;
    together -= work;
    if (this.#work > MAX_WORK || together < 0) throw new TooManyStates();
  }

  #flat(kind: "or" | "and", given: readonly Regex[]): Regex[] {
    const parts = new Set<Regex>();
    for (const one of given) {
      if (one.shape.kind === kind) one.shape.parts.forEach((part) => parts.add(part));
      else parts.add(one);
    }
    this.#spend(parts.size);
    return [...parts].sort((a, b) => a.id - b.id);
  }

  /** Every text but these. */
  not(of: Regex): Regex {
    if (of === this.never) return this.any;
    if (of === this.any) return this.never;
    if (of.shape.kind === "not") return of.shape.of;
    return this.#make(`!${of.id}`, { kind: "not", of }, !of.nullable);
  }

  /** From `min` to `max` times. */
  repeat(of: Regex, min: number, max: number): Regex {
    if (max === 0 || of === this.empty) return this.empty;
    if (of === this.never) return min === 0 ? this.empty : this.never;
    if (min === 1 && max === 1) return of;
    if (min === 0 && max === Infinity && of.shape.kind === "repeat" && of.shape.min <= 1 && of.shape.max === Infinity) {
      return this.repeat(of.shape.of, 0, Infinity);
    }
    // What may be empty is as good as repeated less often.
    const least = of.nullable ? 0 : min;
    return this.#make(`*${of.id},${least},${max}`, { kind: "repeat", of, min: least, max }, least === 0);
  }

  /** The parts of all characters that the trees tell apart. No tree with other characters can be made from here on. */
  get parts(): readonly CharSet[] {
    return this.#parts ??= partsOf(this.#sets.values());
  }

  /** Returns the languages of the rest after one character of each part. */
  after(regex: Regex): readonly Regex[] {
    let next = this.#next.get(regex);
    if (next === undefined) this.#next.set(regex, next = this.#after(regex));
    return next;
  }

  #after({ shape }: Regex): readonly Regex[] {
    switch (shape.kind) {
      case "empty":
        return this.parts.map(() => this.never);
      case "chars":
        return this.parts.map((part) => intersectionOf(part, shape.set).length > 0 ? this.empty : this.never);
      case "not":
        return each(this.after(shape.of), (one) => this.not(one));
      case "repeat": {
        const again = this.repeat(shape.of, Math.max(0, shape.min - 1), shape.max - 1);
        return each(this.after(shape.of), (one) => this.concat(one, again));
      }
      case "concat": {
        const first = each(this.after(shape.first), (one) => this.concat(one, shape.rest));
        if (!shape.first.nullable) return first;
        const rest = this.after(shape.rest);
        return first.map((one, index) =>
          one === this.never ? rest[index] as Regex : this.or(one, rest[index] as Regex)
        );
      }
      default: {
        const all = shape.parts.map((part) => this.after(part));
        return this.parts.map((_, index) => {
          const parts = all.map((one) => one[index] as Regex);
          return shape.kind === "or" ? this.or(...parts) : this.and(...parts);
        });
      }
    }
  }

  /** Whether a text is in a language. */
  matches(regex: Regex, text: string): boolean {
    let state = regex;
    for (const char of text) {
      const point = char.codePointAt(0) ?? 0;
      const part = this.parts.findIndex((set) => intersectionOf(set, [point, point]).length > 0);
      state = this.after(state)[part] ?? this.never;
    }
    return state.nullable;
  }
}

/** `map` that does the same thing only once in a row. */
function each(list: readonly Regex[], make: (one: Regex) => Regex): Regex[] {
  const done = new Map<Regex, Regex>();
  return list.map((one) => {
    let made = done.get(one);
    if (made === undefined) done.set(one, made = make(one));
    return made;
  });
}

/** A deterministic automaton: from each state, characters lead to other states. The first state is where it starts. */
export interface Automaton {
  /** Where each state's characters lead. Nothing leads to a dead end. */
  readonly edges: readonly (readonly { readonly set: CharSet; readonly to: number }[])[];
  /** The states where a text may end. */
  readonly ends: readonly boolean[];
}

/** The automaton of a language, `undefined` when no text is in it. Throws {@linkcode TooManyStates}. */
export function automatonOf(store: RegexStore, regex: Regex, mostStates: number): Automaton | undefined {
  const states: Regex[] = [regex];
  const numbers = new Map<Regex, number>([[regex, 0]]);
  const targets: number[][] = [];
  for (const state of states) {
    targets.push(
      store.after(state).map((to) => {
        if (to === store.never) return -1;
        let number = numbers.get(to);
        if (number === undefined) {
          numbers.set(to, number = states.length);
          states.push(to);
          if (states.length > mostStates) throw new TooManyStates();
        }
        return number;
      }),
    );
  }
  return minimal(states.map(({ nullable }) => nullable), targets, store.parts);
}

/** Makes the states of an automaton. */
export interface StateSteps<State> {
  /** A text that only equal states have. */
  key(state: State): string;
  /** Where each part of the characters leads; `undefined` for a dead end. */
  next(state: State): readonly (State | undefined)[];
  /** Whether a text may end. */
  ends(state: State): boolean;
}

/** Returns the automaton of states that are made step by step; `undefined` when it allows no text. Throws {@linkcode TooManyStates}. */
export function automatonOfStates<State>(
  start: State,
  steps: StateSteps<State>,
  parts: readonly CharSet[],
  mostStates: number,
): Automaton | undefined {
  const states: State[] = [start];
  const numbers = new Map<string, number>([[steps.key(start), 0]]);
  const targets: number[][] = [];
  for (const state of states) {
    targets.push(
      steps.next(state).map((to) => {
        if (to === undefined) return -1;
        const key = steps.key(to);
        let number = numbers.get(key);
        if (number === undefined) {
          numbers.set(key, number = states.length);
          states.push(to);
          if (states.length > mostStates) throw new TooManyStates();
        }
        return number;
      }),
    );
  }
  return minimal(states.map((state) => steps.ends(state)), targets, parts);
}

/** Joining states takes as many rounds as the longest text that tells two apart; those of counted texts are rarely the same anyway. */
const MAX_JOINED = 400;

/** Joins states that allow the same, and leaves out those that lead nowhere. */
function minimal(
  ends: readonly boolean[],
  targets: readonly number[][],
  parts: readonly CharSet[],
): Automaton | undefined {
  if (ends.length > MAX_JOINED) return build(ends, targets, parts, ends.map((_, state) => state));
  let group: number[] = ends.map((end) => end ? 1 : 0);
  for (let count = 0;;) {
    const groups = new Map<string, number>();
    group = targets.map((row, state) => {
      const key = `${group[state]}:${row.map((to) => to < 0 ? -1 : group[to]).join()}`;
      let number = groups.get(key);
      if (number === undefined) groups.set(key, number = groups.size);
      return number;
    });
    if (groups.size === count) break;
    count = groups.size;
  }
  return build(ends, targets, parts, group);
}

function build(
  ends: readonly boolean[],
  targets: readonly number[][],
  parts: readonly CharSet[],
  group: readonly number[],
): Automaton | undefined {
  const states: number[] = [];
  targets.forEach((_, state) => states[group[state] as number] ??= state);
  const alive = new Set<number>();
  for (let size = -1; size !== alive.size;) {
    size = alive.size;
    for (let number = states.length - 1; number >= 0; number--) {
      const state = states[number] as number;
      if (ends[state] || (targets[state] as number[]).some((to) => to >= 0 && alive.has(group[to] as number))) {
        alive.add(number);
      }
    }
  }
  const first = group[0] as number;
  if (!alive.has(first)) return undefined;
  const order = new Map<number, number>([[first, 0]]);
  const edges: { set: CharSet; to: number }[][] = [];
  for (const number of order.keys()) {
    const sets = new Map<number, CharSet[]>();
    (targets[states[number] as number] as number[]).forEach((to, part) => {
      const target = to < 0 ? -1 : group[to] as number;
      if (!alive.has(target)) return;
      if (!order.has(target)) order.set(target, order.size);
      const of = sets.get(target);
      if (of === undefined) sets.set(target, [parts[part] as CharSet]);
      else of.push(parts[part] as CharSet);
    });
    edges.push([...sets].map(([target, of]) => ({ set: unionOf(...of), to: order.get(target) as number })));
  }
  return { edges, ends: [...order.keys()].map((number) => ends[states[number] as number] as boolean) };
}

/** The lengths of the shortest and the longest text of an automaton; the longest is Infinity where there is none. */
export function lengthsOf({ edges, ends }: Automaton): { shortest: number; longest: number } {
  let shortest = 0;
  for (let states = new Set([0]); ![...states].some((state) => ends[state]); shortest++) {
    states = new Set([...states].flatMap((state) => (edges[state] ?? []).map(({ to }) => to)));
  }
  const into = new Array<number>(edges.length).fill(0);
  for (const row of edges) for (const { to } of row) into[to] = (into[to] ?? 0) + 1;
  const longest = new Array<number>(edges.length).fill(0);
  const order = into[0] === 0 ? [0] : [];
  for (const state of order) {
    for (const { to } of edges[state] ?? []) {
      longest[to] = Math.max(longest[to] ?? 0, (longest[state] ?? 0) + 1);
      into[to] = (into[to] ?? 0) - 1;
      if (into[to] === 0) order.push(to);
    }
  }
  // A state that never comes up is on a circle, or behind one.
  return { shortest, longest: order.length < edges.length ? Infinity : Math.max(...longest) };
}
