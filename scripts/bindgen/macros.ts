import type { ConstantDecl, SkippedMacro } from "./model.ts";

/** The macros of the bound headers: those with a value, and the others with the reason why they have none. */
export function parseMacros(
  text: string,
  isBound: (header: string) => boolean,
): { constants: ConstantDecl[]; skipped: SkippedMacro[] } {
  const bodies = new Map<string, { header: string; body: string; isFunction: boolean }>();
  let header = "";
  for (const line of text.split("\n")) {
    const marker = /^# \d+ "([^"]*)"/.exec(line);
    if (marker !== null) header = marker[1]!.replace(/^.*[/\\]/, "");
    const undefined_ = /^#undef (\w+)/.exec(line);
    if (undefined_ !== null) bodies.delete(undefined_[1]!);
    const define = /^#define (\w+)(\([^)]*\))?\s*(.*)$/.exec(line);
    if (define !== null) {
      bodies.set(define[1]!, {
        header,
        body: define[3]!.trim(),
        isFunction: define[2] !== undefined && line[8 + define[1]!.length] === "(",
      });
    }
  }
  const constants: ConstantDecl[] = [];
  const skipped: SkippedMacro[] = [];
  for (const [name, macro] of bodies) {
    if (!isBound(macro.header)) continue;
    const value = macro.isFunction
      ? undefined
      : evaluate(macro.body, (other) => bodies.get(other)?.isFunction === false ? bodies.get(other)!.body : undefined);
    if (value !== undefined) constants.push({ name, header: macro.header, value });
    else {skipped.push({
        name,
        header: macro.header,
        reason: macro.isFunction ? "function-like" : macro.body === "" ? "empty" : "no constant expression",
      });}
  }
  return { constants, skipped };
}

/** The value of a constant expression of literals, other macros, parentheses, signs and `<<`, `|`, `+`, `-`, `*`; undefined when it is none. */
export function evaluate(
  body: string,
  lookUp: (name: string) => string | undefined,
  depth = 0,
): number | bigint | string | undefined {
  if (depth > 16 || body === "") return undefined;
  const strings = /^"((?:[^"\\]|\\.)*)"$/.exec(body);
  if (strings !== null) return JSON.parse(`"${strings[1]}"`) as string;
  const integer = /^(0[xX][0-9a-fA-F]+|\d+)[uUlL]*$/.exec(body);
  if (integer !== null) return narrow(BigInt(/^0\d/.test(integer[1]!) ? `0o${integer[1]!.slice(1)}` : integer[1]!));
  const float = /^(\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)[fF]?$/.exec(body);
  if (float !== null) return Number(float[1]);
  if (/^\w+$/.test(body)) {
    const other = lookUp(body);
    return other === undefined ? undefined : evaluate(other, lookUp, depth + 1);
  }
  if (body.startsWith("(") && closes(body) === body.length - 1) {
    return evaluate(body.slice(1, -1).trim(), lookUp, depth + 1);
  }
  for (const operator of ["|", "<<", "+", "-", "*"]) {
    const at = splitAt(body, operator);
    if (at <= 0) continue;
    const left = evaluate(body.slice(0, at).trim(), lookUp, depth + 1);
    const right = evaluate(body.slice(at + operator.length).trim(), lookUp, depth + 1);
    return typeof left === "number" && typeof right === "number" ? apply(operator, left, right) : undefined;
  }
  if (body.startsWith("-")) {
    const value = evaluate(body.slice(1).trim(), lookUp, depth + 1);
    return typeof value === "number" || typeof value === "bigint" ? -value : undefined;
  }
  return undefined;
}

function apply(operator: string, left: number, right: number): number {
  switch (operator) {
    case "|":
      return Number(BigInt(left) | BigInt(right));
    case "<<":
      return left * 2 ** right;
    case "+":
      return left + right;
    case "-":
      return left - right;
    default:
      return left * right;
  }
}

function narrow(value: bigint): number | bigint {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

function closes(body: string): number {
  let depth = 0;
  for (let i = 0; i < body.length; i++) {
    if (body[i] === "(") depth++;
    if (body[i] === ")" && --depth === 0) return i;
  }
  return -1;
}

/** The last place of a binary operator outside parentheses, or -1. */
function splitAt(body: string, operator: string): number {
  let depth = 0;
  for (let i = body.length - 1; i > 0; i--) {
    if (body[i] === ")") depth++;
    if (body[i] === "(") depth--;
    if (depth === 0 && body.startsWith(operator, i) && /[\w)]\s*$/.test(body.slice(0, i))) return i;
  }
  return -1;
}
