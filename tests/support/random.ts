/** Random numbers that are the same for the same seed, in each run and runtime. */

import { random } from "../../csrc/probe/layouts.ts";

/**
 * Whole numbers from 0 to below a limit, which is 1 to 2 ** 32.
 *
 * @param seed a whole number; its lower 32 bits count.
 */
export function randomBelow(seed: number): (limit: number) => number {
  return random(seed);
}

/**
 * Numbers from 0 to below 1, of 32 bits.
 *
 * @param seed a whole number; its lower 32 bits count.
 */
export function randomNumbers(seed: number): () => number {
  const next = random(seed);
  return () => next(2 ** 32) / 2 ** 32;
}
