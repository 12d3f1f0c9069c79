/**
 * Python's `%` of a text and values.
 *
 * @module
 */

import { JinjaError, typeError, valueError } from "../errors.ts";
import type { Run } from "../run.ts";
import { Dict, Range } from "../values/dict.ts";
import { asNumber, floatToInt, index, intToFloat, toFloat } from "../values/numbers.ts";
import { typeName } from "../values/protocol.ts";
import { converted, quoted } from "../values/repr.ts";
import { escape, Markup, markup, plain } from "../values/markup.ts";
import { concatText, isStr, lengthOf, sliceText, type Str, textOf, unitsAt } from "../values/text.ts";
import { orElse, Tuple, Undefined, type Value } from "../values/types.ts";
import { floatFormat } from "./number_format.ts";
import { repeat } from "./string_parts.ts";

/** Where the values of a pattern come from. */
class Values {
  readonly #given: Value;
  readonly #items: readonly Value[];
  #next = 0;

  constructor(given: Value) {
    this.#given = given;
    this.#items = given instanceof Tuple ? given.items : [given];
  }

  next(): Value {
    return orElse(this.#items[this.#next++], () => typeError("not enough arguments for format string"));
  }

  named(name: string): Value {
    this.#next = this.#items.length;
    if (!(this.#given instanceof Dict)) return typeError("format requires a mapping");
    const value = this.#given.get(name);
    if (value === undefined) throw new JinjaError("KeyError", quoted(name));
    return value;
  }

  finish(): void {
    // What has elements by key counts as a mapping, of which not all is written.
    const given = this.#given;
    const isMapping = Array.isArray(given) || given instanceof Dict || given instanceof Range ||
      given instanceof Undefined;
    if (this.#next < this.#items.length && !isMapping) {
      typeError("not all arguments converted during string formatting");
    }
  }
}

/** Python's `pattern % values`. */
export function percent(run: Run, pattern: Str, given: Value): Str {
  const values = new Values(given);
  const isMarkup = pattern instanceof Markup;
  const text = textOf(pattern);
  const parts: Str[] = [];
  let end = 0;
  const field = /%(?:\(([^)]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?[hlL]?(.)?/gsu;
  for (const match of text.matchAll(field)) {
    run.charge(1);
    const [whole, name, flags = "", width, precision, kind] = match;
    parts.push(sliceText(pattern, end, match.index));
    end = match.index + whole.length;
    if (kind === undefined) return valueError("incomplete format");
    if (kind === "%") {
      parts.push("%");
      continue;
    }
    let wanted = width === "*" ? index(values.next()) : Number(width ?? 0);
    const left = flags.includes("-") || wanted < 0;
    wanted = Math.abs(wanted);
    const places = precision === "*" ? index(values.next()) : precision === undefined ? undefined : Number(precision);
    run.text(wanted);
    if (!"sra".includes(kind)) run.bits(4 * (places ?? 0));
    const value = name === undefined ? values.next() : values.named(name);
    const converted = convert(run, value, kind, { flags, precision: places, isMarkup });
    const missing = wanted - lengthOf(converted.sign + textOf(converted.body));
    const isZero = flags.includes("0") && !left && converted.isNumber;
    if (isZero) parts.push(converted.sign, repeat(run, "0", missing), converted.body);
    else {
      parts.push(...left ? [] : [repeat(run, " ", missing)], converted.sign, converted.body);
      if (left) parts.push(repeat(run, " ", missing));
    }
  }
  values.finish();
  parts.push(sliceText(pattern, end, text.length));
  const result = concatText(parts);
  run.text(textOf(result).length);
  return isMarkup ? markup(result) : result;
}

interface Converted {
  readonly sign: string;
  readonly body: Str;
  readonly isNumber: boolean;
}

/** How a value is written. */
interface Style {
  readonly flags: string;
  readonly precision: number | undefined;
  readonly isMarkup: boolean;
}

function convert(run: Run, value: Value, kind: string, { flags, precision, isMarkup }: Style): Converted {
  if ("sra".includes(kind)) {
    const written = kind === "s" && isMarkup && isStr(value) ? value : converted(value, kind, run);
    const text = isMarkup ? plain(escape(written, run)) : written;
    const body = precision === undefined ? text : sliceText(text, 0, unitsAt(textOf(text), precision));
    return { sign: "", body, isNumber: false };
  }
  if (kind === "c") return { sign: "", body: character(value), isNumber: false };
  if ("diuoxX".includes(kind)) return integer(value, kind, flags, precision);
  if (!"eEfFgG".includes(kind)) return valueError(`unsupported format character '${kind}'`);
  const number = asNumber(value);
  if (number === undefined) return typeError(`must be real number, not ${typeName(value)}`);
  const float = typeof number === "bigint" ? intToFloat(number) : toFloat(number);
  const isNegative = float < 0 || Object.is(float, -0);
  return {
    sign: signOf(isNegative, flags),
    body: floatFormat(Math.abs(float), kind, precision ?? 6, flags.includes("#")),
    isNumber: true,
  };
}

function signOf(isNegative: boolean, flags: string): string {
  if (isNegative) return "-";
  return flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
}

function integer(value: Value, kind: string, flags: string, precision: number | undefined): Converted {
  const number = asNumber(value);
  const isDecimal = "diu".includes(kind);
  if (number === undefined || (typeof number === "number" && !isDecimal)) {
    return typeError(
      `%${kind} format: ${isDecimal ? "a real number" : "an integer"} is required, not ${typeName(value)}`,
    );
  }
  const int = typeof number === "number" ? floatToInt(number) : number;
  const radix = { o: 8, x: 16, X: 16 }[kind] ?? 10;
  const digits = (int < 0n ? -int : int).toString(radix).padStart(precision ?? 0, "0");
  const prefix = flags.includes("#") && radix !== 10 ? `0${kind}` : "";
  return {
    sign: signOf(int < 0n, flags) + prefix,
    body: kind === "X" ? digits.toUpperCase() : digits,
    isNumber: true,
  };
}

function character(value: Value): Str {
  if (typeof value === "bigint") return String.fromCodePoint(Number(value));
  if (isStr(value) && lengthOf(textOf(value)) === 1) return value;
  return typeError("%c requires int or char");
}
