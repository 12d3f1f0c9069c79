/**
 * Numbers between bounds, as grammars of their decimal forms.
 *
 * @module
 */

import { chars, choice, empty, type Expr, isNever, never, optional, repeat, sequence, text } from "./gbnf.ts";

/** The bounds of numbers, both included. */
export interface NumberBounds {
  /** Whether only whole numbers are allowed. */
  readonly integer: boolean;
  /** The least; -Infinity when there is none. */
  readonly min: number;
  /** The most; Infinity when there is none. */
  readonly max: number;
}

/** Digits behind the point: enough for any number that `JSON.stringify` writes without an exponent. */
const FRACTION_DIGITS = 22;
/** Digits before the point where nothing bounds them; longer ones would be no exact numbers. */
const WHOLE_DIGITS = 16;
const scale = 10n ** BigInt(FRACTION_DIGITS);
const digit = chars([0x30, 0x39]);

/** From here on `JSON.stringify` writes exponents. */
const LARGEST_PLAIN = 1e21;

/** The next number above, or below. */
export function nextNumber(value: number, up: boolean): number {
  if (value === 0) return up ? Number.MIN_VALUE : -Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + ((value > 0) === up ? 1n : -1n));
  return view.getFloat64(0);
}

/** Whether bounds are out of what can be written digit by digit. */
export function tooFar({ min, max }: NumberBounds): boolean {
  return min >= LARGEST_PLAIN || max <= -LARGEST_PLAIN;
}

/** The grammar of the numbers between bounds; what allows nothing when there are none. */
export function numberExpr(bounds: NumberBounds): Expr {
  const min = bounds.min <= -LARGEST_PLAIN ? -Infinity : bounds.min;
  const max = bounds.max >= LARGEST_PLAIN ? Infinity : bounds.max;
  if (bounds.integer) return integerExpr(min, max);
  if (min === -Infinity && max === Infinity) return anyNumber;
  const low = min === -Infinity ? undefined : scaled(min, true);
  const high = max === Infinity ? undefined : scaled(max, false);
  return signed(low, high, (from, to) => decimals(from, to), (10n ** BigInt(WHOLE_DIGITS)) * scale - 1n, 0n);
}

function integerExpr(min: number, max: number): Expr {
  const low = min === -Infinity ? undefined : BigInt(Math.ceil(min));
  const high = max === Infinity ? undefined : BigInt(Math.floor(max));
  return signed(low, high, wholes, 10n ** BigInt(WHOLE_DIGITS) - 1n, 1n);
}

/** Both signs. `least` is the least amount that a minus sign may stand before, when zero is within the bounds. */
function signed(
  low: bigint | undefined,
  high: bigint | undefined,
  range: (from: bigint, to: bigint) => Expr,
  usual: bigint,
  least: bigint,
): Expr {
  const options: Expr[] = [];
  const [from, to] = [low ?? -limit(high === undefined ? 0n : -high, usual), high ?? limit(low ?? 0n, usual)];
  if (from < 0n) {
    const first = to < 0n ? -to : least;
    if (first <= -from) options.push(sequence(text("-"), range(first, -from)));
  }
  if (to >= 0n) options.push(range(from > 0n ? from : 0n, to));
  return choice(...options.filter((option) => !isNever(option)));
}

/** How far it goes where nothing bounds it: all numbers of the usual size, or one digit more than the other bound. */
function limit(other: bigint, usual: bigint): bigint {
  return other < usual ? usual : 10n ** BigInt(String(other).length + 1) - 1n;
}

/** A number as a multiple of 10 to the power of −fractionDigits, rounded up or down. */
function scaled(value: number, up: boolean): bigint {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  const digits = BigInt(sign + whole + fraction);
  const shift = Number(exponent) - fraction.length + FRACTION_DIGITS;
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  const floor = digits >= 0n ? digits / divisor : -((-digits + divisor - 1n) / divisor);
  return up && floor * divisor !== digits ? floor + 1n : floor;
}

/** Whole numbers, none negative. */
function wholes(from: bigint, to: bigint): Expr {
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

/** Numbers with a fraction, none negative, both bounds as multiples. */
function decimals(from: bigint, to: bigint): Expr {
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

const anyFraction = optional(sequence(text("."), repeat(digit, 1, FRACTION_DIGITS)));
const anyWhole = choice(text("0"), sequence(chars([0x31, 0x39]), repeat(digit, 0, WHOLE_DIGITS - 1)));
const exponentSign = optional(chars([0x2b, 0x2b, 0x2d, 0x2d]));
const exponentMark = chars([0x45, 0x45, 0x65, 0x65]);

/**
 * Any number that is finite: with an exponent of one or two digits, or of three when one digit is before the point. Longer ones could be infinite, which
 * is no JSON value.
 */
const anyNumber = sequence(
  optional(text("-")),
  choice(
    sequence(anyWhole, anyFraction, optional(sequence(exponentMark, exponentSign, repeat(digit, 1, 2)))),
    sequence(
      digit,
      anyFraction,
      exponentMark,
      choice(
        sequence(exponentSign, chars([0x31, 0x32]), repeat(digit, 2, 2)),
        sequence(exponentSign, text("30"), chars([0x30, 0x37])),
        sequence(text("-3"), digit, digit),
      ),
    ),
  ),
);
