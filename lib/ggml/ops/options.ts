/**
 * Rules that the options of operators share.
 *
 * @module
 */

import { checkArray, checkInteger, isArray, type Range } from "../../../base/check.ts";
import { boolean, type Checked, custom, type Option, options, type RulesOf } from "../../../base/options.ts";
import { brands } from "../brands.ts";
import type { Tensor } from "../tensor/tensor.ts";

/** The memory for an operator's result. */
export interface InPlaceOptions {
  /** Write the result into the first operand's memory; the result is a view of it. Default false. */
  inPlace?: boolean | undefined;
}

/** The largest value of a C `int`. */
export const INT_MAX: number = 2 ** 31 - 1;
/** The finite values of a C `float`. */
export const FLOAT: Range = { min: -3.4028234e38, max: 3.4028234e38 };
/** Those of at least 0. */
export const POSITIVE: Range = { min: 0, max: 3.4e38 };
/** Those above 0. */
export const ABOVE_ZERO: Range = { min: 1e-30, max: 3.4e38 };

/** {@linkcode InPlaceOptions}, declared. */
export const inPlaceRules = { inPlace: boolean({ default: false }) } as const satisfies RulesOf<InPlaceOptions>;

const inPlaceSpec = options("an operator", inPlaceRules);

/** Returns whether the result goes into the first operand's memory, for an operator without other options. */
export function wantsInPlace(op: string, given: InPlaceOptions | undefined): boolean {
  return inPlaceSpec.checkOf(op, given).inPlace;
}

/** A tensor. */
export function tensor<const P extends { readonly required?: true }>(presence?: P): Option<Checked<Tensor, P>> {
  return custom<Tensor, P>("a Tensor", (name, value) => brands.tensor.check(name, value as Tensor), presence);
}

/** A number for each of one, two or three axes. */
export interface PerAxis {
  /** Rows. */
  1: [number];
  /** Pictures: the width, the height. */
  2: [number, number];
  /** Bodies: the width, the height, the depth. */
  3: [number, number, number];
}

/** One integer for all axes, or an array of one for each. */
export function perAxis<
  const N extends keyof PerAxis,
  const P extends { readonly required?: true; readonly default?: number },
>(
  axes: N,
  range: Range,
  presence?: P,
): Option<Checked<PerAxis[N], P>> {
  const all = (value: number): PerAxis[N] => Array.from({ length: axes }, () => value) as PerAxis[N];
  const check = (name: string, value: unknown): PerAxis[N] =>
    isArray(value)
      ? checkArray(name, value, (place, one) => checkInteger(place, one, range), { min: axes, max: axes }) as PerAxis[N]
      : all(checkInteger(name, value, range));
  const made: Option<PerAxis[N] | undefined> = custom(`one integer, or an array of ${axes}`, check);
  const given = presence?.default;
  return {
    ...made,
    required: presence?.required === true,
    default: given === undefined ? undefined : all(given),
  } as Option<Checked<PerAxis[N], P>>;
}
