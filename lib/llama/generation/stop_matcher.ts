/** The result of {@linkcode StopMatcher.push}. */
export interface StopMatch {
  /** Text that can be emitted: no stop string can begin in it. */
  text: string;
  /** The stop string that was found and ends the generation. */
  stop: string | undefined;
}

/**
 * Finds stop strings in a stream of text, also across the boundaries of its pieces. It holds back only text that may be the beginning of a stop string.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { StopMatcher } from "./stop_matcher.ts";
 *
 * const matcher = new StopMatcher(["END"]);
 * assert.deepEqual(matcher.push("one E"), { text: "one ", stop: undefined });
 * assert.deepEqual(matcher.push("ND two"), { text: "", stop: "END" });
 * ```
 */
export class StopMatcher {
  readonly #stops: readonly string[];
  #held = "";

  /** Makes a matcher for these strings, none of which is empty. */
  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** Takes the next piece of the stream; none may follow a stop string. */
  push(piece: string): StopMatch {
    if (this.#stops.length === 0) return { text: piece, stop: undefined };
    const text = this.#held + piece;
    const found = this.#first(text);
    if (found !== undefined) {
      this.#held = "";
      return { text: text.slice(0, found.at), stop: found.stop };
    }
    const keep = this.#heldBack(text);
    this.#held = text.slice(text.length - keep);
    return { text: text.slice(0, text.length - keep), stop: undefined };
  }

  /** Returns the text that was held back, at the end of the stream. */
  flush(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }

  /** Returns the stop string that begins first; of several at one index the longest. */
  #first(text: string): { at: number; stop: string } | undefined {
    let best: { at: number; stop: string } | undefined;
    for (const stop of this.#stops) {
      const at = text.indexOf(stop);
      if (at < 0) continue;
      if (best === undefined || at < best.at || (at === best.at && stop.length > best.stop.length)) best = { at, stop };
    }
    return best;
  }

  /** Returns the length of the longest suffix of the text that a stop string begins with. */
  #heldBack(text: string): number {
    let longest = 0;
    for (const stop of this.#stops) {
      for (let length = Math.min(stop.length - 1, text.length); length > longest; length--) {
        if (text.endsWith(stop.slice(0, length))) longest = length;
      }
    }
    return longest;
  }
}
