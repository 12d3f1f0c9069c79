/**
 * Multiples of numbers, exactly: by the decimal digits, without rounding.
 *
 * @module
 */

/** A number as a whole number times a power of ten; no zeros at the end unless it is zero. */
export interface Decimal {
  /** All digits. */
  readonly digits: bigint;
  /** The power of ten. */
  readonly exponent: number;
}

/** Returns the shortest decimal that stands for a number. */
export function decimalOf(value: number): Decimal {
  const [, sign = "", whole = "", fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  const all = whole + fraction;
  const digits = all.replace(/0+$/, "");
  if (digits === "") return { digits: 0n, exponent: 0 };
  return {
    digits: BigInt(sign + digits),
    exponent: Number(power) - fraction.length + (all.length - digits.length),
  };
}

/** Whether a number is a multiple of another one, which is above 0. */
export function isMultiple(value: number, of: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(of)) return value % of === 0;
  if (!Number.isFinite(value)) return false;
  const [a, b] = [decimalOf(value), decimalOf(of)];
  const shift = Math.min(a.exponent, b.exponent);
  const scaled = ({ digits, exponent }: Decimal) => digits * 10n ** BigInt(exponent - shift);
  return scaled(a) % scaled(b) === 0n;
}
