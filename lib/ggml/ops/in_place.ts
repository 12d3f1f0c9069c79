import { checkBoolean, checkOptions } from "../../../base/check.ts";
import type { InPlaceOptions } from "./check.ts";

/** The option `inPlace` of an operator that has no other. */
export function wantsInPlace(op: string, options: InPlaceOptions | undefined): boolean {
  const { inPlace = false } = checkOptions(op, options, ["inPlace"]);
  return checkBoolean(`${op}: inPlace`, inPlace);
}
