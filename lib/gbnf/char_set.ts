/**
 * Sets of code points, as sorted ranges that don't touch: `[first, last, first, last, …]`.
 *
 * @module
 */

/** A set of code points. */
export type CharSet = readonly number[];

/** The last code point. */
export const LAST_POINT = 0x10ffff;
/** Every code point. */
export const everyPoint: CharSet = [0, LAST_POINT];
/** No code point. */
export const noPoint: CharSet = [];
/** The halves of surrogate pairs, which no text has. */
export const surrogates: CharSet = [0xd800, 0xdfff];

/** The set of some ranges in any order. */
export function charSet(...ranges: readonly (readonly [number, number])[]): CharSet {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  const set: number[] = [];
  for (const [first, last] of sorted) {
    const end = set.at(-1);
    if (end !== undefined && first <= end + 1) set[set.length - 1] = Math.max(end, last);
    else set.push(first, last);
  }
  return set;
}

/** The set of the code points of a text. */
export function charsOf(text: string): CharSet {
  return charSet(...Array.from(text, (char) => [char.codePointAt(0) ?? 0, char.codePointAt(0) ?? 0] as const));
}

/** The ranges of a set. */
export function rangesOf(set: CharSet): [number, number][] {
  const ranges: [number, number][] = [];
  for (let at = 0; at < set.length; at += 2) ranges.push([set[at] as number, set[at + 1] as number]);
  return ranges;
}

/** Union of sets. */
export function unionOf(...sets: readonly CharSet[]): CharSet {
  return sets.length === 1 ? sets[0] as CharSet : charSet(...sets.flatMap(rangesOf));
}

/** Complement of a set. */
export function complementOf(set: CharSet): CharSet {
  const result: number[] = [];
  let from = 0;
  for (const [first, last] of rangesOf(set)) {
    if (first > from) result.push(from, first - 1);
    from = last + 1;
  }
  if (from <= LAST_POINT) result.push(from, LAST_POINT);
  return result;
}

/** Intersection of two sets. */
export function intersectionOf(a: CharSet, b: CharSet): CharSet {
  const result: number[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const first = Math.max(a[i] as number, b[j] as number);
    const last = Math.min(a[i + 1] as number, b[j + 1] as number);
    if (first <= last) result.push(first, last);
    if ((a[i + 1] as number) < (b[j + 1] as number)) i += 2;
    else j += 2;
  }
  return result;
}

/** Difference of two sets. */
export function differenceOf(a: CharSet, b: CharSet): CharSet {
  return intersectionOf(a, complementOf(b));
}

/** Whether a code point is in a set. */
export function hasPoint(set: CharSet, point: number): boolean {
  let low = 0;
  let high = set.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (point < (set[2 * middle] as number)) high = middle;
    else if (point > (set[2 * middle + 1] as number)) low = middle + 1;
    else return true;
  }
  return false;
}

/** The coarsest parts of all code points of which each set consists: no part is half in a set. */
export function partsOf(sets: Iterable<CharSet>): CharSet[] {
  const borders = new Set<number>([0]);
  const all = [...sets];
  for (const set of all) {
    for (const [first, last] of rangesOf(set)) {
      borders.add(first);
      if (last < LAST_POINT) borders.add(last + 1);
    }
  }
  const starts = [...borders].sort((a, b) => a - b);
  const parts = new Map<string, number[]>();
  starts.forEach((start, index) => {
    const end = (starts[index + 1] ?? LAST_POINT + 1) - 1;
    const key = all.map((set) => hasPoint(set, start) ? "1" : "0").join("");
    const part = parts.get(key);
    if (part === undefined) parts.set(key, [start, end]);
    else if (part.at(-1) === start - 1) part[part.length - 1] = end;
    else part.push(start, end);
  });
  return [...parts.values()];
}
