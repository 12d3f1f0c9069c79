/**
 * Numbers between bounds, as grammars of their decimal forms.
 *
 * @module
 */

import { anyFraction, decimals, digit, FRACTION_DIGITS, scale, wholes } from "./digits.ts";
import { chars, choice, type Expr, isNever, optional, repeat, sequence, text } from "./gbnf.ts";
import { decimalOf } from "./multiples.ts";

/** The bounds of numbers, both included. */
export interface NumberBounds {
  /** Whether only whole numbers are allowed. */
  readonly integer: boolean;
  /** The least; -Infinity when there is none. */
  readonly min: number;
  /** The most; Infinity when there is none. */
  readonly max: number;
}

/** Rules for numbers. */
export interface NumberRules extends NumberBounds {
  /** Numbers of which they are multiples. */
  readonly multiples: readonly number[];
  /** Numbers of which they aren't multiples. */
  readonly notMultiples: readonly number[];
  /** Whether whole numbers are forbidden. */
  readonly fraction: boolean;
  /** Numbers that are forbidden. */
  readonly except: readonly number[];
  /** Where the schema is, for errors. */
  readonly path: string;
}

/** Digits before the point where nothing bounds them. */
const WHOLE_DIGITS = 21;
/** From here on `JSON.stringify` writes exponents. */
const LARGEST_PLAIN = 1e21;
const usualWhole = 10n ** BigInt(WHOLE_DIGITS) - 1n;

/** Returns the next number above, or below. */
export function nextNumber(value: number, up: boolean): number {
  if (value === 0) return up ? Number.MIN_VALUE : -Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + ((value > 0) === up ? 1n : -1n));
  return view.getFloat64(0);
}

/** Returns the parts of some bounds that are left without some numbers. */
export function intervalsOf({ integer, min, max, except }: Omit<NumberRules, "path">): NumberBounds[] {
  const borders = [...new Set(except)].filter((value) => value >= min && value <= max).sort((a, b) => a - b);
  const parts: NumberBounds[] = [];
  let low = min;
  for (const border of borders) {
    parts.push({ integer, min: low, max: nextNumber(border, false) });
    low = nextNumber(border, true);
  }
  parts.push({ integer, min: low, max });
  return parts.filter((part) => !isEmpty(part));
}

function isEmpty({ integer, min, max }: NumberBounds): boolean {
  return integer ? Math.ceil(min) > Math.floor(max) : min > max;
}

/** Returns the grammar of the numbers between bounds; what allows nothing when there are none. */
export function numberExpr(bounds: NumberBounds): Expr {
  const { min, max } = bounds;
  if (!bounds.integer && min === -Infinity && max === Infinity) return anyNumber;
  return choice(
    ...[plainExpr(bounds), ...large(bounds)].filter((option) => !isNever(option)),
  );
}

/** Returns the grammar of the numbers between bounds without exponents. */
export function plainExpr({ integer, min, max }: NumberBounds): Expr {
  if (integer) {
    const low = min === -Infinity ? undefined : BigInt(Math.ceil(min));
    const high = max === Infinity ? undefined : BigInt(Math.floor(max));
    return signed(low, high, wholes, usualWhole, 1n);
  }
  const low = min === -Infinity ? undefined : scaled(min, true);
  const high = max === Infinity ? undefined : scaled(max, false);
  return signed(low, high, decimals, (usualWhole + 1n) * scale - 1n, 0n);
}

/** Numbers so large that `JSON.stringify` writes them with an exponent. */
function large({ integer, min, max }: NumberBounds): Expr[] {
  if (integer) return [];
  const options: Expr[] = [];
  if (max >= LARGEST_PLAIN && min <= LARGEST_PLAIN) options.push(exponents(max));
  if (min <= -LARGEST_PLAIN && max >= -LARGEST_PLAIN) {
    const negative = exponents(-min);
    if (!isNever(negative)) options.push(sequence(text("-"), negative));
  }
  return options;
}

/** Numbers from 1e21 to a bound: one digit before the point, and an exponent. */
function exponents(bound: number): Expr {
  const top = bound === Infinity ? 308 : decimalPower(bound);
  const mark = choice(text("e"), text("E"));
  const mantissa = sequence(chars([0x31, 0x39]), anyFraction);
  const below = sequence(mantissa, mark, text("+"), wholes(21n, BigInt(top - 1)));
  if (bound === Infinity) return below;
  const { digits } = decimalOf(bound);
  const most = digits * scale / 10n ** BigInt(String(digits).length - 1);
  const last = sequence(decimals(scale, most), mark, text(`+${top}`));
  return choice(...[below, last].filter((option) => !isNever(option)));
}

/** The power of ten of a number's first digit. */
function decimalPower(value: number): number {
  const { digits, exponent } = decimalOf(value);
  return String(digits).length - 1 + exponent;
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

/** Limit where nothing else bounds a number: all numbers of the usual size, or one digit more than the other bound. */
function limit(other: bigint, usual: bigint): bigint {
  return other < usual ? usual : 10n ** BigInt(String(other).length + 1) - 1n;
}

/** A number as a multiple of 10 to the power of −fractionDigits, rounded up or down. */
function scaled(value: number, up: boolean): bigint {
  const { digits, exponent } = decimalOf(value);
  const shift = exponent + FRACTION_DIGITS;
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  const floor = digits >= 0n ? digits / divisor : -((-digits + divisor - 1n) / divisor);
  return up && floor * divisor !== digits ? floor + 1n : floor;
}

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
