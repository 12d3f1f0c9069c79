/**
 * What a function requires beside what its parameters say: conditions in TypeScript's own notation, over the names of its parameters.
 *
 * A tensor is a `TensorFacts`, an integer of 64 bits a number, a struct its view; `lib` has the functions, `vocabulary.ts` the other names.
 */
export interface Rule {
  /** The functions. */
  readonly functions: RegExp;
  /** Conditions, in the order in which they are checked. */
  readonly conditions: readonly string[];
  /** What no check before the call can see. */
  readonly unseen: readonly Unseen[];
}

/** A requirement that the arguments don't show. */
export interface Unseen {
  readonly text: string;
  /** The file of the library that sees to it when the library calls; `null` where it never does. */
  readonly seenToBy: string | null;
  /** The test that tries it there. */
  readonly triedBy: string | null;
}

/** A rule whose conditions can all be checked. */
export function requires(functions: RegExp, ...conditions: readonly string[]): Rule {
  return { functions, conditions, unseen: [] };
}

/** A rule of which no argument tells whether it is kept. */
export function trusts(functions: RegExp, text: string, seenToBy: string | null, triedBy: string | null = null): Rule {
  return { functions, conditions: [], unseen: [{ text, seenToBy, triedBy }] };
}
