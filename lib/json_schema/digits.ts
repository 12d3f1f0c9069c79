/**
 * Digits between bounds, as grammars.
 *
 * @module
 */

import { chars, choice, empty, type Expr, never, optional, repeat, sequence, text } from "./gbnf.ts";

/** Digits behind the point: enough for any number that `JSON.stringify` writes without an exponent. */
export const FRACTION_DIGITS = 22;
/** Decimals are counted in these parts. */
export const scale: bigint = 10n ** BigInt(FRACTION_DIGITS);
/** Any digit. */
export const digit: Expr = chars([0x30, 0x39]);

/** Returns the grammar of whole numbers between two bounds, none negative. */
export function wholes(from: bigint, to: bigint): Expr {
  if (from > to) return never;
  const options: Expr[] = [];
  for (let size = String(from).length; size <= String(to).length; size++) {
    const first = size === 1 ? 0n : 10n ** BigInt(size - 1);
    const last = 10n ** BigInt(size) - 1n;
    const low = from > first ? from : first;
    const high = to < last ? to : last;
    // All numbers of several lengths at once.
    if (size > 1 && low === first && high === last) {
      let until = size;
      while (10n ** BigInt(until + 1) - 1n <= to) until++;
      options.push(sequence(chars([0x31, 0x39]), repeat(digit, size - 1, until - 1)));
      size = until;
    } else if (low <= high) options.push(sameLength(String(low), String(high)));
  }
  return choice(...options);
}

/** Digits between two numbers of the same length. */
function sameLength(low: string, high: string): Expr {
  if (low === high) return text(low);
  if (/^0*$/.test(low) && /^9*$/.test(high)) return repeat(digit, low.length, low.length);
  const [a, b] = [Number(low[0]), Number(high[0])];
  if (a === b) return sequence(text(low.slice(0, 1)), sameLength(low.slice(1), high.slice(1)));
  const rest = low.length - 1;
  if (rest === 0) return digits(a, b);
  const options: Expr[] = [];
  const lowRest = low.slice(1);
  const highRest = high.slice(1);
  const whole = [/^0*$/.test(lowRest) ? a : a + 1, /^9*$/.test(highRest) ? b : b - 1] as const;
  if (whole[0] > a) options.push(sequence(digits(a, a), sameLength(lowRest, "9".repeat(rest))));
  if (whole[0] <= whole[1]) options.push(sequence(digits(...whole), repeat(digit, rest, rest)));
  if (whole[1] < b) options.push(sequence(digits(b, b), sameLength("0".repeat(rest), highRest)));
  return choice(...options);
}

function digits(from: number, to: number): Expr {
  return from === to ? text(String(from)) : chars([0x30 + from, 0x30 + to]);
}

/** Returns the grammar of decimals between two bounds in parts, none negative. */
export function decimals(from: bigint, to: bigint): Expr {
  if (from > to) return never;
  const [lowWhole, highWhole] = [from / scale, to / scale];
  const low = String(from % scale).padStart(FRACTION_DIGITS, "0");
  const high = String(to % scale).padStart(FRACTION_DIGITS, "0");
  const [zeros, nines] = ["0".repeat(FRACTION_DIGITS), "9".repeat(FRACTION_DIGITS)];
  if (lowWhole === highWhole) return sequence(text(String(lowWhole)), behindPoint(low, high));
  const all = [low === zeros ? lowWhole : lowWhole + 1n, high === nines ? highWhole : highWhole - 1n] as const;
  const options: Expr[] = [];
  if (all[0] > lowWhole) options.push(sequence(text(String(lowWhole)), behindPoint(low, nines)));
  if (all[0] <= all[1]) options.push(sequence(wholes(...all), anyFraction));
  if (all[1] < highWhole) options.push(sequence(text(String(highWhole)), behindPoint(zeros, high)));
  return choice(...options);
}

/** The point and at least one digit behind it, or neither where the lower bound lets it end. */
function behindPoint(low: string, high: string): Expr {
  const some = sequence(text("."), fraction(low, high, 0, true, true));
  return isZeros(low) ? optional(some) : some;
}

/** The digits from a place on, as long as they equal those of the lower bound, the upper one, or both; missing digits are zeros. */
function fraction(low: string, high: string, at: number, asLow: boolean, asHigh: boolean): Expr {
  if (at === FRACTION_DIGITS) return empty;
  const [lowRest, highRest] = [low.slice(at), high.slice(at)];
  const canEnd = !asLow || isZeros(lowRest);
  const least = at > 0 && canEnd ? 0 : 1;
  const free = canEnd && (!asHigh || /^9*$/.test(highRest));
  if (free) return repeat(digit, least, FRACTION_DIGITS - at);
  if (asHigh && isZeros(highRest)) return repeat(text("0"), least, FRACTION_DIGITS - at);
  const a = asLow ? Number(lowRest[0]) : 0;
  const b = asHigh ? Number(highRest[0]) : 9;
  const next = (from: number, to: number, sameLow: boolean, sameHigh: boolean) =>
    from > to ? never : sequence(digits(from, to), fraction(low, high, at + 1, sameLow, sameHigh));
  const options = a === b ? [next(a, a, asLow, asHigh)] : [
    asLow ? next(a, a, true, false) : never,
    next(asLow ? a + 1 : a, asHigh ? b - 1 : b, false, false),
    asHigh ? next(b, b, false, true) : never,
  ];
  return choice(...(least === 0 ? [empty] : []), ...options);
}

function isZeros(digits: string): boolean {
  return /^0*$/.test(digits);
}

/** A point and any digits, or neither. */
export const anyFraction: Expr = optional(sequence(text("."), repeat(digit, 1, FRACTION_DIGITS)));
