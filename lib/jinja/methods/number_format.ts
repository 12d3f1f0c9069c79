import { floatText, scaled } from "../values/numbers.ts";

/** Digits with a mark between groups, before the point. */
export function grouped(text: string, mark: string, size: number): string {
  if (mark === "") return text;
  const [, whole = "", rest = ""] = /^([0-9a-fA-F]*)(.*)$/s.exec(text) ?? [];
  const groups: string[] = [];
  for (let end = whole.length; end > 0; end -= size) groups.unshift(whole.slice(Math.max(0, end - size), end));
  return groups.join(mark) + rest;
}

/** A float that isn't negative, with so many digits behind the point. */
function fixed(value: number, precision: number): string {
  const text = scaled(value, precision).toString().padStart(precision + 1, "0");
  return precision === 0 ? text : `${text.slice(0, -precision)}.${text.slice(-precision)}`;
}

/** The decimal exponent of a float when it is rounded to so many digits behind the first, and these digits. */
function scientific(value: number, precision: number): { digits: string; exponent: number } {
  if (value === 0) return { digits: "0".repeat(precision + 1), exponent: 0 };
  let exponent = Number(value.toExponential().split("e")[1]);
  let digits = scaled(value, precision - exponent).toString();
  if (digits.length > precision + 1) digits = scaled(value, precision - ++exponent).toString();
  return { digits, exponent };
}

function exponentText(exponent: number): string {
  return `e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function withPoint(digits: string, at: number): string {
  return at >= digits.length ? digits : `${digits.slice(0, at)}.${digits.slice(at)}`;
}

function general(value: number, precision: number, alternate: boolean): string {
  const wanted = precision === 0 ? 1 : precision;
  const { digits, exponent } = scientific(value, wanted - 1);
  const trim = (text: string): string => alternate || !text.includes(".") ? text : text.replace(/\.?0+$/, "");
  if (exponent < -4 || exponent >= wanted) return trim(withPoint(digits, 1)) + exponentText(exponent);
  return trim(exponent < 0 ? `0.${"0".repeat(-exponent - 1)}${digits}` : withPoint(digits, exponent + 1));
}

/** A float that isn't negative, by one of Python's codes: `e`, `f`, `g`, `%` or none. */
export function floatFormat(value: number, kind: string, precision: number | undefined, alternate: boolean): string {
  if (!Number.isFinite(value)) {
    const text = floatText(value) + (kind === "%" ? "%" : "");
    return /[EFG]/.test(kind) ? text.toUpperCase() : text;
  }
  const lower = kind.toLowerCase();
  let text: string;
  if (lower === "f" || lower === "%") {
    text = lower === "%" ? `${fixed(value * 100, precision ?? 6)}%` : fixed(value, precision ?? 6);
  } else if (lower === "e") {
    const { digits, exponent } = scientific(value, precision ?? 6);
    text = withPoint(digits, 1) + exponentText(exponent);
  } else if (lower === "g" || lower === "n") text = general(value, precision ?? 6, alternate);
  else if (precision === undefined) text = floatText(value);
  else {
    text = general(value, precision, alternate);
    if (/^\d+$/.test(text)) text += ".0";
  }
  return kind === lower ? text : text.toUpperCase();
}
