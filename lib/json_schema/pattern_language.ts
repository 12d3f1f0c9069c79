import { dot, PatternError, type PatternNode } from "./pattern.ts";
import type { Regex, RegexStore } from "./regex.ts";

/** Languages of the rest, at the very start of a text and elsewhere. */
interface Rest {
  readonly atStart: Regex;
  readonly later: Regex;
}

/** Repetitions of what asks where it stands are written out, up to this many. */
const MAX_UNROLLED = 20;

/** The language of the texts in which a pattern is found, as `RegExp.prototype.test` does. Throws {@linkcode PatternError}. */
export function languageOf(store: RegexStore, pattern: PatternNode): Regex {
  const found = follow(store, pattern, { atStart: store.any, later: store.any });
  return store.or(found.atStart, store.concat(store.concat(store.anyChar, store.any), found.later));
}

function follow(store: RegexStore, node: PatternNode, rest: Rest): Rest {
  switch (node.kind) {
    case "chars": {
      const result = store.concat(store.chars(node.set), rest.later);
      return { atStart: result, later: result };
    }
    case "start":
      return { atStart: rest.atStart, later: store.never };
    case "end":
      return { atStart: store.and(rest.atStart, store.empty), later: store.and(rest.later, store.empty) };
    case "look": {
      const ahead = follow(store, node.of, { atStart: store.any, later: store.any });
      const side = (regex: Regex) => node.negative ? store.not(regex) : regex;
      return {
        atStart: store.and(side(ahead.atStart), rest.atStart),
        later: store.and(side(ahead.later), rest.later),
      };
    }
    case "sequence":
      return node.parts.reduceRight((after, part) => follow(store, part, after), rest);
    case "choice": {
      const all = node.parts.map((part) => follow(store, part, rest));
      return {
        atStart: store.or(...all.map(({ atStart }) => atStart)),
        later: store.or(...all.map(({ later }) => later)),
      };
    }
    case "repeat": {
      const of = plain(store, node.of);
      return of === undefined
        ? unroll(store, node, rest)
        : repeatPlain(store, store.repeat(of, node.min, node.max), rest);
    }
  }
}

type Repeat = PatternNode & { kind: "repeat" };

function repeatPlain(store: RegexStore, language: Regex, rest: Rest): Rest {
  const later = store.concat(language, rest.later);
  if (rest.atStart === rest.later) return { atStart: later, later };
  // Once a character was read this is no longer the start.
  const some = language.nullable ? store.and(language, store.concat(store.anyChar, store.any)) : language;
  const atStart = store.concat(some, rest.later);
  return { atStart: language.nullable ? store.or(rest.atStart, atStart) : atStart, later };
}

function unroll(store: RegexStore, { of, min, max }: Repeat, rest: Rest): Rest {
  if (min > MAX_UNROLLED || max > MAX_UNROLLED) {
    throw new PatternError("it repeats something with ^, $ or a look ahead inside");
  }
  let result = rest;
  for (let time = max; time > 0; time--) {
    const more = follow(store, of, result);
    result = time > min
      ? { atStart: store.or(more.atStart, rest.atStart), later: store.or(more.later, rest.later) }
      : more;
  }
  return result;
}

/** Its language when that is the same wherever it stands, else `undefined`. */
function plain(store: RegexStore, node: PatternNode): Regex | undefined {
  switch (node.kind) {
    case "chars":
      return store.chars(node.set);
    case "sequence":
    case "choice": {
      const parts = node.parts.map((part) => plain(store, part));
      if (!parts.every((part) => part !== undefined)) return undefined;
      return node.kind === "choice"
        ? store.or(...parts)
        : parts.reduceRight((rest, part) => store.concat(part, rest), store.empty);
    }
    case "repeat": {
      const of = plain(store, node.of);
      return of === undefined ? undefined : store.repeat(of, node.min, node.max);
    }
    default:
      return undefined;
  }
}

/** Splits a pattern `^(?=a)b` into `^(?=a)` and `^b`, which must both be found. */
export function splitAhead(pattern: PatternNode): PatternNode[] {
  if (pattern.kind !== "sequence" || pattern.parts[0]?.kind !== "start") return [pattern];
  const [start, ...rest] = pattern.parts;
  const count = rest.findIndex(({ kind }) => kind !== "look");
  if (count <= 0) return [pattern];
  const looks = rest.slice(0, count).map((look): PatternNode => ({ kind: "sequence", parts: [start, look] }));
  return [...looks, { kind: "sequence", parts: [start, ...rest.slice(count)] }];
}

/**
 * Returns the lengths of the texts that a pattern `^(?=.{1,9}$)` allows, `undefined` for any other pattern. What may follow
 * before the end counts as if it weren't there, which is narrower. The texts have to be of one line besides.
 */
export function lengthsAhead(pattern: PatternNode): { min: number; max: number } | undefined {
  if (pattern.kind !== "sequence" || pattern.parts.length !== 2) return undefined;
  const look = pattern.parts[1];
  if (look?.kind !== "look" || look.negative || look.of.kind !== "sequence") return undefined;
  const { parts } = look.of;
  const [first, ...rest] = parts;
  if (first?.kind !== "repeat" || first.of.kind !== "chars" || first.of.set !== dot) return undefined;
  if (rest.at(-1)?.kind !== "end") return undefined;
  const optional = rest.slice(0, -1).every((part) => part.kind === "repeat" && part.min === 0);
  return optional ? { min: first.min, max: first.max } : undefined;
}
