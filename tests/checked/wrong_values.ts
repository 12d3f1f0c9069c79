/** Calls with one argument of a wrong kind. */

import type { Native, StructName } from "../../ffi/mod.ts";
import { functionShape, type Parameter } from "../../ffi/requirements/parameters.ts";

/** Arguments of which one is wrong. */
export interface WrongCall {
  readonly parameter: string;
  readonly values: readonly unknown[];
}

/** An address that no check reads. */
const SOMEWHERE = 1n << 40n;

/** For each parameter of a function the values that it must not have, beside others that pass. */
export function wrongValues(native: Native, name: string): WrongCall[] {
  const { parameters } = functionShape(name);
  return parameters.flatMap((parameter, at) => {
    const before = parameters.map((one) => passing(native, one));
    return wrong(parameter).map((value) => ({ parameter: parameter.name, values: before.with(at, value) }));
  });
}

function passing(native: Native, { code, enumName }: Parameter): unknown {
  if (enumName !== undefined) return 0;
  if (code === "b") return false;
  if (/^[iuf]/.test(code)) return code.endsWith("64") && !code.startsWith("f") ? 0n : 0;
  return code.startsWith("{") ? native.struct(code.slice(1, -1) as StructName) : SOMEWHERE;
}

function wrong({ code, isNullable, enumName }: Parameter): unknown[] {
  if (enumName !== undefined) return [12_345, -7, "0", null, 0.5];
  if (code.startsWith("{")) return [null, {}, SOMEWHERE];
  if (code === "b") return [1, "true", null];
  if (code.startsWith("f")) return ["1", null, 1n];
  if (/^[iu]/.test(code)) return integerErrors(code);
  return [undefined, 5n, -1n, 1n << 64n, {}, ...(isNullable ? [] : [null, 0n])];
}

function integerErrors(code: string): unknown[] {
  const bits = BigInt(code.slice(1));
  const isWide = bits === 64n;
  const [least, most] = code.startsWith("u")
    ? [0n, (1n << bits) - 1n]
    : [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n];
  const outside = [least - 1n, most + 1n];
  return [NaN, 0.5, "1", null, ...outside.map((value) => isWide ? value : Number(value))];
}
