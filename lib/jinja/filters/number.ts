import { JinjaError, typeError } from "../errors.ts";
import { binary, unary } from "../operators.ts";
import type { Run } from "../run.ts";
import { defineAll } from "../values/args.ts";
import { asNumber, floatToInt, index, parseFloatText, parseInteger, round, toFloat } from "../values/numbers.ts";
import { isStr, textOf } from "../values/text.ts";
import { typeName, undefinedError } from "../values/protocol.ts";
import { type Callable, Undefined, type Value } from "../values/types.ts";

function toInt(run: Run, value: Value, other: Value, base: Value): Value {
  if (value instanceof Undefined) return undefinedError(value);
  try {
    if (isStr(value)) {
      const parsed = parseInteger(textOf(value), index(base), run);
      if (parsed !== undefined) return parsed;
      const float = parseFloatText(textOf(value));
      return float === undefined || !Number.isFinite(float) ? other : BigInt(Math.trunc(float));
    }
    const number = asNumber(value);
    if (number === undefined) return other;
    return typeof number === "bigint" ? number : floatToInt(number);
  } catch (error) {
    if (error instanceof JinjaError && (error.kind === "ValueError" || error.kind === "TypeError")) return other;
    throw error;
  }
}

function float(value: Value, other: Value): Value {
  if (value instanceof Undefined) return undefinedError(value);
  try {
    return toFloat(value);
  } catch (error) {
    if (error instanceof JinjaError && (error.kind === "ValueError" || error.kind === "TypeError")) return other;
    throw error;
  }
}

function roundBy(run: Run, value: Value, precision: Value, method: Value): Value {
  const name = isStr(method) ? textOf(method) : "";
  if (name === "common") return round(value, precision, run);
  if (name !== "ceil" && name !== "floor") {
    throw new JinjaError("ValueError", "method must be common, ceil or floor");
  }
  const power = binary(run, "**", 10n, precision);
  const product = binary(run, "*", value, power);
  const number = asNumber(product);
  if (number === undefined) return typeError(`must be real number, not ${typeName(product)}`);
  const whole = typeof number === "number" ? floatToInt(Math[name](number)) : number;
  return binary(run, "/", whole, power);
}

/** Jinja's filters of numbers. */
export const numberFilters: ReadonlyMap<string, Callable> = defineAll({
  abs: ["x", 1, (run, value: Value) => {
    const number = asNumber(value);
    if (number === undefined) return unary(run, "+", value);
    if (typeof number === "number") return Math.abs(number);
    return number < 0n ? -number : number;
  }],
  int: [
    "value default base",
    1,
    (run, value: Value, other: Value = 0n, base: Value = 10n) => toInt(run, value, other, base),
  ],
  float: ["value default", 1, (_run, value: Value, other: Value = 0) => float(value, other)],
  round: [
    "value precision method",
    1,
    (run, value: Value, precision: Value = 0n, method: Value = "common") => roundBy(run, value, precision, method),
  ],
});
