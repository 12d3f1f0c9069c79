import { JinjaError, typeError, valueError } from "../errors.ts";
import type { Run } from "../run.ts";
import { isStr, textOf, trimSpaces } from "./text.ts";
import { typeName } from "./protocol.ts";
import type { Value } from "./types.ts";

/** A float as Python writes it. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 16) return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  if (power >= 0) {
    const text = BigInt(Math.trunc(value)).toString();
    return Number.isInteger(value) ? `${text}.0` : String(value);
  }
  const sign = value < 0 ? "-" : "";
  return `${sign}0.${"0".repeat(-power - 1)}${digits.replace(/[-.]/g, "")}`;
}

/** A number that Python counts as an int: a bool, too. */
export function asInt(value: Value | undefined): bigint | undefined {
  if (typeof value === "bigint") return value;
  return typeof value === "boolean" ? BigInt(value) : undefined;
}

/** A number; `undefined` for anything else. */
export function asNumber(value: Value | undefined): bigint | number | undefined {
  return typeof value === "number" ? value : asInt(value);
}

/** An int as an index or count. Throws Python's TypeError for anything else. */
export function index(value: Value | undefined): number {
  const int = asInt(value);
  if (int === undefined) return typeError(`'${typeName(value ?? null)}' object cannot be interpreted as an integer`);
  return Number(int);
}

/** An index that may be left out or None. */
export function indexOr(value: Value | undefined, other: number): number {
  return value === undefined || value === null ? other : index(value);
}

/** An int as a float. Throws Python's OverflowError for a larger one. */
export function intToFloat(value: bigint): number {
  const float = Number(value);
  if (Number.isFinite(float)) return float;
  throw new JinjaError("OverflowError", "int too large to convert to float");
}

/** An exact fraction. */
interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

function fractionOf(value: number): Fraction {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const exponent = Number(bits >> 52n & 0x7ffn);
  const mantissa = (bits & 0xfffffffffffffn) | (exponent === 0 ? 0n : 1n << 52n);
  const power = (exponent === 0 ? 1 : exponent) - 1075;
  const over = bits >> 63n === 1n ? -mantissa : mantissa;
  return power >= 0 ? { over: over << BigInt(power), under: 1n } : { over, under: 1n << BigInt(-power) };
}

function roundedQuotient(over: bigint, under: bigint): bigint {
  const negative = over < 0n;
  const size = negative ? -over : over;
  const down = size / under;
  const twice = (size - down * under) * 2n;
  const rounded = twice > under || (twice === under && down % 2n === 1n) ? down + 1n : down;
  return negative ? -rounded : rounded;
}

/** `value * 10 ** digits` as an integer, halves to the even one. */
export function scaled(value: number | bigint, digits: number): bigint {
  const { over, under } = typeof value === "bigint" ? { over: value, under: 1n } : fractionOf(value);
  return digits >= 0
    ? roundedQuotient(over * 10n ** BigInt(digits), under)
    : roundedQuotient(over, under * 10n ** BigInt(-digits));
}

/** Python's `round`. */
export function round(value: Value, digits: Value | undefined, run: Run): Value {
  const number = asNumber(value);
  if (number === undefined) return typeError(`type ${typeName(value)} doesn't define __round__ method`);
  const places = digits === undefined || digits === null ? undefined : index(digits);
  if (typeof number === "bigint") {
    if (places === undefined || places >= 0) return number;
    run.bits(-places * 4);
    return scaled(number, places) * 10n ** BigInt(-places);
  }
  if (!Number.isFinite(number)) {
    if (places !== undefined) return number;
    throw new JinjaError("OverflowError", `cannot convert float ${floatText(number)} to integer`);
  }
  if (places === undefined) return scaled(number, 0);
  if (places > 340) return number;
  if (places < -310) return number * 0;
  const rounded = Number(`${scaled(number, places)}e${-places}`);
  return rounded === 0 && (number < 0 || Object.is(number, -0)) ? -0 : rounded;
}

/** A float as a whole number. Throws Python's errors for infinities and NaN. */
export function floatToInt(value: number): bigint {
  if (Number.isNaN(value)) return valueError("cannot convert float NaN to integer");
  if (Number.isFinite(value)) return BigInt(Math.trunc(value));
  throw new JinjaError("OverflowError", "cannot convert float infinity to integer");
}

/** Decimal digits of any script as ASCII ones. */
function asciiDigits(text: string): string {
  return text.replace(/\P{ASCII}/gu, (character) => {
    if (!/\p{Nd}/u.test(character)) return character;
    let zero = character.codePointAt(0) ?? 0;
    const digit = (() => {
      let count = 0;
      while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && count < 9) {
        zero--;
        count++;
      }
      return count;
    })();
    return String(digit);
  });
}

/** The whole number that a text writes in a base; `undefined` when it writes none. */
export function parseInteger(text: string, base: number, run: Run): bigint | undefined {
  if (base !== 0 && (base < 2 || base > 36)) return valueError("int() base must be >= 2 and <= 36, or 0");
  run.bits(text.length * 6);
  const match = /^([+-]?)(.*)$/s.exec(asciiDigits(trimSpaces(text)).toLowerCase());
  let digits = match?.[2] ?? "";
  let radix = base;
  const prefix = { "0x": 16, "0o": 8, "0b": 2 }[digits.slice(0, 2)];
  if (prefix !== undefined && (base === prefix || base === 0)) {
    radix = prefix;
    digits = digits.slice(2).replace(/^_/, "");
  } else if (base === 0) {
    radix = 10;
    if (/^0[0_]*[1-9]/.test(digits)) return undefined;
  }
  if (!/^[0-9a-z]+(_[0-9a-z]+)*$/.test(digits)) return undefined;
  let value = 0n;
  for (const digit of digits.replaceAll("_", "")) {
    const number = Number.parseInt(digit, 36);
    if (number >= radix) return undefined;
    value = value * BigInt(radix) + BigInt(number);
  }
  return match?.[1] === "-" ? -value : value;
}

/** The float that a text writes; `undefined` when it writes none. */
export function parseFloatText(text: string): number | undefined {
  const plain = asciiDigits(trimSpaces(text)).toLowerCase();
  const named = /^([+-]?)(inf|infinity|nan)$/.exec(plain);
  if (named !== null) {
    const size = named[2] === "nan" ? Number.NaN : Infinity;
    return named[1] === "-" ? -size : size;
  }
  const digits = String.raw`\d+(?:_\d+)*`;
  const valid = new RegExp(`^[+-]?(?:${digits}\\.?(?:${digits})?|\\.${digits})(?:e[+-]?${digits})?$`);
  return valid.test(plain) ? Number(plain.replaceAll("_", "")) : undefined;
}

/** Python's `float()`. */
export function toFloat(value: Value): number {
  const number = asNumber(value);
  if (number !== undefined) return typeof number === "bigint" ? intToFloat(number) : number;
  if (!isStr(value)) return typeError(`float() argument must be a string or a real number, not '${typeName(value)}'`);
  return parseFloatText(textOf(value)) ?? valueError("could not convert string to float");
}

/** Bits of an integer, roughly. */
export function bitsOf(value: bigint): number {
  return value > -0x1f_ffff_ffff_ffffn && value < 0x1f_ffff_ffff_ffffn ? 53 : value.toString(16).length * 4;
}
