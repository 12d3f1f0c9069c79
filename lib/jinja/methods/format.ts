/**
 * Python's `str.format`, with its language of fields and specifications.
 *
 * @module
 */

import { JinjaError, typeError, valueError } from "../errors.ts";
import type { Run } from "../run.ts";
import { getAttribute, getItem } from "../attributes.ts";
import { asInt, asNumber, intToFloat } from "../values/numbers.ts";
import { typeName } from "../values/protocol.ts";
import { converted, quoted, str } from "../values/repr.ts";
import { concatText, derived, isStr, lengthOf, sliceText, type Str, textOf, unitsAt } from "../values/text.ts";
import { type Args, orElse, type Value } from "../values/types.ts";
import { floatFormat, grouped } from "./number_format.ts";
import { repeat } from "./string_parts.ts";

/** Gives the value of a field by its name or number. */
type Lookup = (name: string) => Value;

/** Python's `str.format`. */
export function formatText(run: Run, pattern: Str, { positional, named }: Args): Str {
  let next = 0;
  let style: "auto" | "manual" | undefined;
  const lookup = (name: string): Value => {
    if (name !== "" && !/^\d+$/.test(name)) {
      return orElse(named.get(name), () => fail("KeyError", quoted(name)));
    }
    const used = name === "" ? "auto" : "manual";
    if (style !== undefined && style !== used) {
      return valueError("cannot switch between manual field specification and automatic field numbering");
    }
    style = used;
    return orElse(
      positional[name === "" ? next++ : Number(name)],
      () => fail("IndexError", "Replacement index out of range for positional args tuple"),
    );
  };
  return fill(run, pattern, lookup, 2);
}

/** Python's `str.format_map`. */
export function formatMap(run: Run, pattern: Str, mapping: Value): Str {
  return fill(run, pattern, (name) => getItem(run, mapping, name), 2);
}

function fail(kind: "KeyError" | "IndexError", message: string): never {
  throw new JinjaError(kind, message);
}

function fill(run: Run, pattern: Str, lookup: Lookup, depth: number): Str {
  if (depth < 0) return valueError("Max string recursion exceeded");
  const text = textOf(pattern);
  const parts: Str[] = [];
  let at = 0;
  while (at < text.length) {
    run.charge(1);
    const brace = nextBrace(text, at);
    parts.push(sliceText(pattern, at, brace));
    if (brace === text.length) break;
    const character = text[brace];
    if (text[brace + 1] === character) {
      parts.push(sliceText(pattern, brace, brace + 1));
      at = brace + 2;
      continue;
    }
    if (character === "}") return valueError("Single '}' encountered in format string");
    const end = fieldEnd(text, brace + 1);
    parts.push(field(run, text.slice(brace + 1, end), lookup, depth));
    at = end + 1;
  }
  const whole = concatText(parts);
  run.text(textOf(whole).length);
  return whole;
}

function nextBrace(text: string, from: number): number {
  const [open, close] = [text.indexOf("{", from), text.indexOf("}", from)];
  return Math.min(open < 0 ? text.length : open, close < 0 ? text.length : close);
}

function fieldEnd(text: string, from: number): number {
  let depth = 1;
  let inBrackets = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === "[") inBrackets = true;
    else if (character === "]") inBrackets = false;
    if (inBrackets) continue;
    if (character === "{") depth++;
    if (character === "}" && --depth === 0) return at;
  }
  return valueError(
    from === text.length ? "Single '{' encountered in format string" : "expected '}' before end of string",
  );
}

function field(run: Run, body: string, lookup: Lookup, depth: number): Str {
  const match = /^([^.[!:]*)((?:\.[^.[!:]+|\[[^\]]+\])*)(?:!(.))?(?::(.*))?$/s.exec(body);
  if (match === null) return valueError("Invalid format string");
  const [, name = "", path = "", conversion, spec = ""] = match;
  let value = lookup(name);
  for (const [, attribute, key] of path.matchAll(/\.([^.[]+)|\[([^\]]+)\]/g)) {
    value = attribute === undefined
      ? getItem(run, value, /^\d+$/.test(key ?? "") ? BigInt(key ?? "") : key ?? "")
      : getAttribute(run, value, attribute);
  }
  if (conversion !== undefined) {
    if (!"rsa".includes(conversion)) valueError(`Unknown conversion specifier ${conversion}`);
    value = converted(value, conversion, run);
  }
  return formatValue(run, value, textOf(fill(run, spec, lookup, depth - 1)));
}

/** A format specification, read. */
interface Spec {
  readonly fill: string;
  readonly align: string | undefined;
  readonly sign: string;
  readonly alternate: boolean;
  readonly width: number;
  readonly group: string;
  readonly precision: number | undefined;
  readonly kind: string;
}

/** Python's `format()`. */
export function formatValue(run: Run, value: Value, spec: string): Str {
  if (spec === "") return str(value, run);
  const match = /^(?:(.)?([<>=^]))?([-+ ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/su.exec(spec);
  if (match === null) return valueError(`Invalid format specifier '${spec}' for object of type '${typeName(value)}'`);
  const [, fillCharacter, align, sign = "-", alternate, zero, width = "0", group = "", precision, kind = ""] = match;
  run.text(Number(width));
  if (!isStr(value)) run.bits(4 * Number(precision ?? 0));
  const isZero = zero !== undefined && align === undefined;
  const read: Spec = {
    fill: fillCharacter ?? (zero !== undefined ? "0" : " "),
    align: align ?? (isZero && !isStr(value) ? "=" : undefined),
    sign,
    alternate: alternate !== undefined,
    width: Number(width),
    group,
    precision: precision === undefined ? undefined : Number(precision),
    kind,
  };
  if (isStr(value)) return formatString(run, value, read);
  return formatNumber(run, value, read);
}

function formatString(run: Run, value: Str, { fill: filling, align = "<", width, group, precision, kind }: Spec): Str {
  if (group !== "") valueError(`Cannot specify '${group}' with 's'.`);
  if (kind !== "" && kind !== "s") valueError(`Unknown format code '${kind}' for object of type 'str'`);
  if (align === "=") valueError("'=' alignment not allowed in string format specifier");
  const text = textOf(value);
  const cut = precision === undefined ? value : sliceText(value, 0, unitsAt(text, precision));
  return aligned(run, cut, filling, align, width);
}

function aligned(run: Run, value: Str, filling: string, align: string, width: number): Str {
  const missing = width - lengthOf(textOf(value));
  if (missing <= 0) return value;
  const left = align === "<" ? 0 : align === ">" ? missing : Math.floor(missing / 2);
  return concatText([repeat(run, filling, left), value, repeat(run, filling, missing - left)]);
}

function formatNumber(run: Run, value: Value, spec: Spec): Str {
  const number = asNumber(value);
  if (number === undefined) {
    return typeError(`unsupported format string passed to ${typeName(value)}.__format__`);
  }
  const { sign, body } = digits(number, spec);
  const marks = { "-": sign, "+": sign === "-" ? "-" : "+", " ": sign === "-" ? "-" : " " }[spec.sign] ?? sign;
  const { align = ">", fill: filling, width } = spec;
  if (align === "=") {
    const missing = Math.max(0, width - lengthOf(marks + body));
    return derived(marks + repeat(run, filling, missing) + body);
  }
  return aligned(run, marks + body, filling, align, width);
}

function digits(number: bigint | number, spec: Spec): { sign: string; body: string } {
  const { kind, group, alternate, precision } = spec;
  const int = asInt(number);
  if (int !== undefined && !"eEfFgG%".includes(kind || "d")) {
    if (precision !== undefined) valueError("Precision not allowed in integer format specifier");
    const size = int < 0n ? -int : int;
    const radix = { "": 10, d: 10, n: 10, b: 2, o: 8, x: 16, X: 16 }[kind];
    if (kind === "c") return { sign: "", body: String.fromCodePoint(Number(int)) };
    if (radix === undefined) return valueError(`Unknown format code '${kind}' for object of type 'int'`);
    const plain = size.toString(radix);
    const prefix = alternate && radix !== 10 ? `0${kind}` : "";
    const text = grouped(kind === "X" ? plain.toUpperCase() : plain, group, radix === 10 ? 3 : 4);
    return { sign: int < 0n ? "-" : "", body: prefix + text };
  }
  const float = typeof number === "bigint" ? intToFloat(number) : number;
  if (kind !== "" && !"eEfFgGn%".includes(kind)) valueError(`Unknown format code '${kind}' for object of type 'float'`);
  const isNegative = float < 0 || Object.is(float, -0);
  return {
    sign: isNegative ? "-" : "",
    body: grouped(floatFormat(Math.abs(float), kind, precision, alternate), group, 3),
  };
}
