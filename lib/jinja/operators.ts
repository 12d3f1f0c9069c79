import { JinjaError, typeError } from "./errors.ts";
import type { Run } from "./run.ts";
import { percent } from "./methods/percent.ts";
import { repeat } from "./methods/string_parts.ts";
import { asInt, asNumber, bitsOf, index, intToFloat } from "./values/numbers.ts";
import { typeName, undefinedError } from "./values/protocol.ts";
import { escape, like, Markup, markup } from "./values/markup.ts";
import { concatText, isStr, textOf } from "./values/text.ts";
import { Tuple, Undefined, type Value } from "./values/types.ts";

/** An operator of two numbers or lists. */
export type BinaryOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**";

/** Does arithmetic as Python does. */
export function binary(run: Run, operator: BinaryOperator, left: Value, right: Value): Value {
  const [first, second] = [asNumber(left), asNumber(right)];
  if (first !== undefined && second !== undefined) {
    if (typeof first === "bigint" && typeof second === "bigint") return integers(run, operator, first, second);
    return floats(operator, float(first), float(second));
  }
  const result = operator === "+"
    ? added(run, left, right)
    : operator === "*"
    ? multiplied(run, left, right) ?? multiplied(run, right, left)
    : operator === "%" && isStr(left)
    ? percent(run, left, right)
    : undefined;
  return result ?? unsupported(operator === "**" ? "** or pow()" : operator, left, right);
}

function unsupported(operator: string, left: Value, right: Value): never {
  if (left instanceof Undefined) return undefinedError(left);
  if (right instanceof Undefined) return undefinedError(right);
  return typeError(`unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`);
}

function float(value: bigint | number): number {
  return typeof value === "bigint" ? intToFloat(value) : value;
}

function added(run: Run, left: Value, right: Value): Value | undefined {
  if (isStr(left) && isStr(right)) {
    if (left instanceof Markup || right instanceof Markup) {
      const [first, second] = [escape(left, run), escape(right, run)];
      run.text(first.text.length + second.text.length);
      return markup(concatText([first, second]));
    }
    run.text(textOf(left).length + textOf(right).length);
    return typeof left === "string" && typeof right === "string" ? left + right : concatText([left, right]);
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    run.list(left.length + right.length);
    return [...left, ...right];
  }
  if (left instanceof Tuple && right instanceof Tuple) {
    run.list(left.items.length + right.items.length);
    return new Tuple([...left.items, ...right.items]);
  }
  if (isStr(left) && !(right instanceof Undefined)) {
    return typeError(`can only concatenate str (not "${typeName(right)}") to str`);
  }
  return undefined;
}

function multiplied(run: Run, value: Value, times: Value): Value | undefined {
  if (asInt(times) === undefined) return undefined;
  if (isStr(value)) return like(value, repeat(run, value, index(times)));
  const items = Array.isArray(value) ? value : value instanceof Tuple ? value.items : undefined;
  if (items === undefined) return undefined;
  const length = items.length * Math.max(0, index(times));
  run.list(length);
  const repeated = Array.from({ length }, (_, at) => items[at % items.length] ?? null);
  return Array.isArray(value) ? repeated : new Tuple(repeated);
}

function byZero(message: string): never {
  throw new JinjaError("ZeroDivisionError", message);
}

function integers(run: Run, operator: BinaryOperator, left: bigint, right: bigint): Value {
  run.bits(operator === "*" ? bitsOf(left) + bitsOf(right) : Math.max(bitsOf(left), bitsOf(right)));
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      if (right === 0n) return byZero("division by zero");
      return quotientOf(left, right);
    case "//":
      if (right === 0n) return byZero("integer division or modulo by zero");
      return left / right - (left % right !== 0n && left < 0n !== right < 0n ? 1n : 0n);
    case "%": {
      if (right === 0n) return byZero("integer modulo by zero");
      const rest = left % right;
      return rest !== 0n && rest < 0n !== right < 0n ? rest + right : rest;
    }
    case "**":
      return integerPower(run, left, right);
  }
}

const EXACT = 2n ** 53n;

/** The quotient of two integers, rounded once. */
function quotientOf(left: bigint, right: bigint): number {
  const [over, under] = [left < 0n ? -left : left, right < 0n ? -right : right];
  if (over <= EXACT && under <= EXACT) return Number(left) / Number(right);
  const shift = Math.max(0, 70 + under.toString(2).length - over.toString(2).length);
  const shifted = over << BigInt(shift);
  // A bit for the rest decides where the quotient would lie halfway.
  const quotient = shifted / under << 1n | (shifted % under === 0n ? 0n : 1n);
  const size = intToFloat(quotient) / 2 ** (shift + 1);
  return left < 0n === right < 0n ? size : -size;
}

function integerPower(run: Run, base: bigint, exponent: bigint): Value {
  if (exponent < 0n) return floats("**", intToFloat(base), intToFloat(exponent));
  const size = base < 0n ? -base : base;
  if (size > 1n) run.bits(Number(exponent) * size.toString(2).length);
  else return size === 0n || exponent % 2n === 0n ? base ** (exponent === 0n ? 0n : 2n) : base;
  return base ** exponent;
}

function floats(operator: BinaryOperator, left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return right === 0 ? byZero("float division by zero") : left / right;
    case "//":
      return right === 0 ? byZero("float floor division by zero") : floorQuotient(left, right);
    case "%":
      return right === 0 ? byZero("float modulo") : floorRest(left, right);
    case "**":
      return floatPower(left, right);
  }
}

function floorRest(left: number, right: number): number {
  const rest = left % right;
  if (rest === 0) return right < 0 ? -0 : 0;
  return rest < 0 !== right < 0 ? rest + right : rest;
}

function floorQuotient(left: number, right: number): number {
  const quotient = (left - floorRest(left, right)) / right;
  if (quotient === 0) return left / right < 0 || Object.is(left / right, -0) ? -0 : 0;
  const floor = Math.floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

function floatPower(base: number, exponent: number): number {
  if (base === 0 && exponent < 0) return byZero("0.0 cannot be raised to a negative power");
  if (base === 1) return 1;
  if (base === -1 && !Number.isFinite(exponent) && !Number.isNaN(exponent)) return 1;
  const power = base ** exponent;
  if (Number.isNaN(power) && !Number.isNaN(base) && !Number.isNaN(exponent)) {
    return typeError("complex numbers aren't supported in chat templates");
  }
  if (!Number.isFinite(power) && Number.isFinite(base) && Number.isFinite(exponent)) {
    throw new JinjaError("OverflowError", "(34, 'Numerical result out of range')");
  }
  return power;
}

/** `-value`, or `+value`. */
export function unary(run: Run, operator: "-" | "+", value: Value): Value {
  const number = asNumber(value);
  if (number === undefined) {
    if (value instanceof Undefined) return undefinedError(value);
    return typeError(`bad operand type for unary ${operator}: '${typeName(value)}'`);
  }
  run.charge(1);
  return operator === "-" ? -number : number;
}
