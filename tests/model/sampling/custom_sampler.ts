/** A sampler for the tests, in a module: keeps the tokens whose number leaves no rest. */

import type { SamplerFunction } from "../../../mod.ts";

export default function multiplesOf(divisor: number): SamplerFunction {
  return (candidates) => candidates.keep((token) => token % divisor === 0);
}

/** Fails when it is made. */
export function failing(): SamplerFunction {
  throw new RangeError("made to fail");
}

/** No sampler. */
export const nothing = 1;
