/**
 * Properties of Unicode's characters, the same in every runtime.
 *
 * Runtimes know different versions of Unicode. Only characters that Unicode 16.0 has assigned are told apart by their properties, so that a pattern with
 * `\p{…}` gives the same grammar everywhere; others aren't written.
 *
 * @module
 */

import { type CharSet, charSet, differenceOf, everyPoint, intersectionOf } from "../gbnf/char_set.ts";

/** Thrown for a pattern that can't be turned into a grammar; the message says why. */
export class PatternError extends Error {}

/** Properties that differ too much from one version of Unicode to the next. */
const unstable = /^(?:Diacritic|Dia|(?:Script_Extensions|scx)=.*)$/;
/** A property that differs from one version to the next for symbols that aren't emoji. */
const pictographic = /\\p\{(?:Extended_Pictographic|ExtPict)\}/i;
/** Where these symbols are. */
const SYMBOLS: CharSet = [0x2300, 0x27bf, 0x1f000, 0x1faff];

/**
 * The characters that Unicode 16.0 has assigned, without the few whose properties Unicode 17.0 changed: for each range the distance of its first one from the
 * last one before and, behind a hyphen, from the first one to its last one, both in base 36.
 */
const ASSIGNED = `
0-ic 2-69 3-5 5-6 2 2-j 2-b0 2-11 3-1d 3-2 2-1i 9-q 5-5 c-7h 2-1n 3-2s f-1m 3-1c 3-e 2-r 3 2-a 6-u 2-1 6-6k
2-7 3-1 3-l 2-6 2 4-3 3-8 3-1 3-3 9 5-1 2-4 3-o 3-2 2-5 5-1 3-l 2-6 2-1 2-1 2-1 3 2-4 5-1 3-2 4 8-3 2 8-g b-2
2-8 2-2 2-l 2-6 2-1 2-4 3-9 2-2 2-2 3 g-3 3-b 8-6 2-2 2-7 3-1 3-l 2-6 2-1 2-4 3-8 3-1 3-2 8-2 5-1 2-4 3-h b-1
2-5 4-2 2-3 4-1 2 2-1 4-1 4-2 4-b 5-4 4-2 2-3 3 7 f-k 6-c 2-2 2-m 2-f 3-8 2-2 2-3 8-1 2-2 3 3-3 3-9 8-l 2-2
2-m 2-9 2-4 3-8 2-2 2-3 8-1 7-1 2-3 3-9 2-2 d-c 2-2 2-1e 2-2 2-5 5-f 3-p 2-2 2-h 4-n 2-8 2 3-6 4 5-5 2 2-7 7-9
3-2 d-1l 5-s 12-1 2 2-4 2-n 2 2-m 3-4 2 2-6 2-9 3-3 x-1z 2-z 5-12 2-z 2-e 2-c 12-5h 2 6 3-ag 2-3 3-6 2 2-3
3-14 2-3 3-w 2-3 3-6 2 2-3 3-e 2-1k 2-3 3-1u 3-v 4-p 7-2d 3-5 3-ik 4-2g 8-l a-n a-j d-c 2-2 2-1 d-2l 3-9 7-9
7-p 7-2g 8-16 6-1x b-u 2-b 5-b 5 4-15 3-4 c-17 5-p 7-a 4-1p 3-1s 2-s 3-a 7-9 7-d 3-u 1e-24 2-4l 9-1n 4-e 4-1p
6-16 3-a 9-16 6-et 3-5 3-11 3-5 3-7 2 2 2 2-u 3-1g 2-e 2-d 3-5 2-i 3-2 2-8 2-2s 2-b 3-q 2-c 4-w g-w g-3v 5-ih
n-a m-1eb 3-v 2-9o 6-18 2 6 3-1j 8-1 f-n a-6 2-6 2-6 2-6 2-6 2-6 2-6 2-6 2-3h z-p 2-2g d-5x r-27 2-2d 3-2u
6-16 2-2l 2-2d a-1b 2-mlo 4-1i a-9n l-53 9-5p 3-1 5-6 m-1m 4-9 7-1j 9-1x 9-b 7-37 c-t 4-25 2-a 5-w 2-1i a-d
3-9 3-2u p-r b-5 3-5 3-5 a-6 2-6 2-1n 5-3h 3-9 7-8mb d-m 5-1c 1l1-57x 3-2x 13-6 d-4 6-p 2-4 2 2-1 2-1 2-3g
h-cc 3-1h 8 x-15 7-1e 2-i 2-3 5-4 2-3q 3 2-59 4-5 3-5 3-5 3-2 4-6 2-6 b-4 3-b 2-p 2-i 2-1 2-e 3-d z-3e 6-2
5-18 4-2f 2-c 4 1c-19 3n-s 4-1c g-r 5-z a-t 6-16 6-t 2-10 5-d 17-4d 3-9 7-z 5-z 5-13 9-1f c-b 2-e 2-6 2-1 2-a
2-e 2-6 2-1 4-1f d-8m a-l b-7 p-5 2-15 2-8 1y-5 3 2-17 2-1 4 3-m 2-1z 9-8 1d-i 2-1 6-w 4-q 6 1t-1j 5-j 3-1d
2-1 6-7 2-2 2-s 3-2 5-9 8-8 8-1r x-12 5-b a-1h 4-s 3-q 6-p 8-3 d-6 29-20 1k-1e e-1e 8-19 9-9 7-11 4-s 9-1 5t-u
2-15 2-2 3-1 h-2 1k-17 9-15 n-p 13-r l-m a-25 5-z a-1v b 3-o 8-9 7-1g 2-h 9-12 a-2n 2-j c-h 2-1a 1r-6 2 2-3
2-e 2-a 7-1m 6-9 7-3 2-7 3-1 3-l 2-6 2-1 2-4 2-9 3-1 3-2 3 7 6-6 3-6 4-4 c-9 2 3 2-11 2-9 2 3 2-3 2-9 2-1 9-1
u-2j 2-4 v-1z 9-9 4n-1h 3-11 z-1w c-9 7-c k-1l 7-9 7-j t-q 3-e 5-m 56-1n 2t-2a d-7 3 3-7 2-1 2-t 2-1 3-b a-9
1z-7 3-19 3-a s-1z 9-2a e-20 8-9 53-x f-9 7-8 2-18 2-d b-s 4-v 3-l 2-d 22-6 2-1 2-17 4 2-1 2-8 9-9 7-5 2-1
2-10 2-1 2-5 8-9 8n-o 8-g 2-14 4-s 2e g-1d e-pm 2v-32 2-4 c-5f 219-2q e-ut b-32y 6-g6 5a2-1l 1c7-fs 8-u 2-9
5-28 2-9 7-t 3-5 b-1x b-9 2-6 2-k 6-i c1-1l 5j-2i 2u-22 5-1k 8-g 1t-4 c-1 f-4qf 9-yd 16-9 6w8-3 2-6 2-1 2-82 g
u-2 3 f-3 9-az 1s5-2y 6-c 4-8 8-9 3-7 319-6x 7-c3 25-19 3-m a-37 1p-6t b-12 3-5d m-1x 3f-j d-j d-2e a-o 3s-2c
2-1y 2-1 3 3-1 3-3 2-b 2 2-6 2-1s 2-3 3-7 2-6 2-r 2-3 2-4 2 4-6 2-9f 3-83 3-jh g-4 2-e up-u 7-5 5y-6 2-g 3-6
2-1 2-4 6-1p y 35-18 4-d 3-9 5-1 8x-u i-1l 6 cx-15 5z-16 5 dd-6 2-3 2-1 2-e 2-5g 3-f 16-23 5-9 5-1 lu-1v 25-1o
5f-3 2-q 2-1 2 3 2-9 2-3 2 2 7 5 2 2 2-2 2-1 2 3 2 2 2 2 2-1 2 3-3 2-6 2-3 2-3 2 2-9 2-g 6-2 2-4 2-g 1h-1
7j-17 5-2r d-e 3-e 2-e 2-10 b-4t 1l-s e-17 5-8 8-1 f-5 4b-rb 5-g 4-c 4-3a 5-2m 7-b 5 g-b 5-1j 9-9 7-13 9-t 3-b
5-1 1r-9f d-d 3-c 4-9 6-1j 8-e 3-a 7-8 8-42 2-2t sn-wyn x-37d 7-65 3-4g1 f-5rk g-h9 1wj-f1 15v-3t6 6-38f f976
v-2n 3l-6n 1e6p-1ekd 3-1ekd
`;

let assigned: CharSet | undefined;

/** Returns the characters that may be written where patterns ask for properties; `undefined` where none of them does. */
export function pointsToldApart(patterns: readonly string[]): CharSet | undefined {
  if (!patterns.some((source) => /\\p\{/i.test(source))) return undefined;
  if (!patterns.some((source) => pictographic.test(source))) return assignedPoints();
  return differenceOf(assignedPoints(), differenceOf(SYMBOLS, propertyPoints("Emoji")));
}

/** Returns the characters that Unicode has assigned. */
export function assignedPoints(): CharSet {
  if (assigned !== undefined) return assigned;
  let at = 0;
  const ranges = ASSIGNED.trim().split(/\s+/).map((range): [number, number] => {
    const [gap = "", more = "0"] = range.split("-");
    const first = at + Number.parseInt(gap, 36);
    at = first + Number.parseInt(more, 36);
    return [first, at];
  });
  return assigned = charSet(...ranges);
}

const properties = new Map<string, CharSet>();
let everyText: string | undefined;

/** Returns the assigned characters with a property, such as `L` or `Script=Greek`. */
export function propertyPoints(property: string): CharSet {
  let set = properties.get(property);
  if (set !== undefined) return set;
  if (property === "Any") return everyPoint;
  if (unstable.test(property)) {
    throw new PatternError(`it has \\p{${property}}, which means other characters in other versions of Unicode`);
  }
  everyText ??= textOf(assignedPoints());
  const ranges: [number, number][] = [];
  for (const [run] of everyText.matchAll(new RegExp(`\\p{${property}}+`, "gu"))) {
    // A run may span gaps between the ranges.
    for (const char of run) {
      const point = char.codePointAt(0) as number;
      const last = ranges.at(-1);
      if (last !== undefined && last[1] === point - 1) last[1] = point;
      else ranges.push([point, point]);
    }
  }
  properties.set(property, set = intersectionOf(charSet(...ranges), assignedPoints()));
  return set;
}

function textOf(set: CharSet): string {
  const parts: string[] = [];
  for (let range = 0; range < set.length; range += 2) {
    const points: number[] = [];
    for (let point = set[range] as number; point <= (set[range + 1] as number); point++) {
      points.push(point);
      if (points.length === 4096) parts.push(String.fromCodePoint(...points.splice(0)));
    }
    parts.push(String.fromCodePoint(...points));
  }
  return parts.join("");
}
