/**
 * Reading of text that is still being generated. A parser is a generator that yields where it needs more text, so it is written as if all of the text
 * were there.
 *
 * @module
 */

/** A parser: it yields while it waits for more text. */
export type Parse<T> = Generator<void, T, void>;

/** The number of consumed characters that are kept at most. */
const MAX_CONSUMED = 4096;
const space = /[ \t\n\r]/;

/** Text that comes in pieces, and a parser's position in it. Positions are counted from the start of all text. */
export class Reader {
  #text = "";
  #base = 0;
  #attempts = 0;
  /** The position of the parser. */
  at = 0;
  /** Whether no more text comes. */
  ended = false;

  /** The end of the text so far. */
  get end(): number {
    return this.#base + this.#text.length;
  }

  /** Takes the next piece. */
  push(piece: string): void {
    const consumed = this.at - this.#base;
    if (this.#attempts === 0 && consumed > MAX_CONSUMED) {
      this.#text = this.#text.slice(consumed);
      this.#base = this.at;
    }
    this.#text += piece;
  }

  /** Text between two places, neither of which was dropped. */
  slice(from: number, to?: number): string {
    return this.#text.slice(from - this.#base, to === undefined ? undefined : to - this.#base);
  }

  /** The place of a string from here on, or -1. */
  find(sought: string, from: number = this.at): number {
    const found = this.#text.indexOf(sought, from - this.#base);
    return found < 0 ? -1 : found + this.#base;
  }

  /** The character at a place, "" beyond the end. */
  charAt(place: number): string {
    return this.#text[place - this.#base] ?? "";
  }

  /** Keeps text from here on until {@linkcode Reader.settle}, so that the parser can come back. */
  begin(): number {
    this.#attempts++;
    return this.at;
  }

  /** Ends what {@linkcode Reader.begin} began. */
  settle(): void {
    this.#attempts--;
  }

  /** Returns the next character without consuming it; an empty string at the end of all text. */
  *peek(): Parse<string> {
    while (this.at >= this.end && !this.ended) yield;
    return this.charAt(this.at);
  }

  /** Consumes white space. */
  *skipSpace(): Parse<void> {
    while (space.test(yield* this.peek())) this.at++;
  }

  /** Consumes the longest of these strings that is next; `undefined` when none is. */
  *take(options: readonly string[]): Parse<string | undefined> {
    for (;;) {
      const rest = this.slice(this.at);
      const open = !this.ended && options.some((one) => one.length > rest.length && one.startsWith(rest));
      if (!open) {
        const found = longest(options.filter((one) => rest.startsWith(one)));
        if (found !== undefined) this.at += found.length;
        return found;
      }
      yield;
    }
  }

  /** Consumes white space and then one of these strings; nothing when none is next. */
  *takeAfterSpace(options: readonly string[]): Parse<string | undefined> {
    const from = this.begin();
    try {
      yield* this.skipSpace();
      const found = yield* this.take(options);
      if (found === undefined) this.at = from;
      return found;
    } finally {
      this.settle();
    }
  }

  /**
   * Gives out text up to one of these strings, as far as none of them can begin in it. Stops before the string and says which it is; `undefined` at the
   * end of all text.
   */
  *until(markers: readonly string[], give: (from: number, to: number) => void): Parse<string | undefined> {
    for (;;) {
      const found = this.#first(markers);
      // A longer string may begin at the same place, or one that begins before it may not be whole yet.
      const held = this.ended ? this.end : this.#heldFrom(markers);
      if (found !== undefined && (found.place < held || this.ended)) {
        this.#give(found.place, give);
        return found.marker;
      }
      this.#give(found === undefined ? held : Math.min(held, found.place), give);
      if (this.ended && found === undefined) return undefined;
      yield;
    }
  }

  /** The first of some strings that begins within so many characters; stops before it. Takes nothing when none does. */
  *within(markers: readonly string[], limit: number): Parse<string | undefined> {
    for (;;) {
      const near = this.slice(this.at, this.at + limit);
      const found = markers.map((marker) => [near.indexOf(marker), marker] as const).filter(([place]) => place >= 0)
        .sort(([a], [b]) => a - b)[0];
      if (found !== undefined) {
        this.at += found[0];
        return found[1];
      }
      if (this.ended || near.length >= limit) return undefined;
      yield;
    }
  }

  #give(to: number, give: (from: number, to: number) => void): void {
    if (to <= this.at) return;
    const from = this.at;
    this.at = to;
    give(from, to);
  }

  #first(markers: readonly string[]): { place: number; marker: string } | undefined {
    let best: { place: number; marker: string } | undefined;
    for (const marker of markers) {
      const place = this.find(marker);
      if (place < 0) continue;
      if (best === undefined || place < best.place || (place === best.place && marker.length > best.marker.length)) {
        best = { place, marker };
      }
    }
    return best;
  }

  /** The first place from which on the text is the unfinished beginning of one of the strings; the end of the text when there is none. */
  #heldFrom(markers: readonly string[]): number {
    let from = this.end;
    for (const marker of markers) {
      const most = Math.min(marker.length - 1, this.end - this.at);
      for (let length = most; length > this.end - from; length--) {
        if (marker.startsWith(this.slice(this.end - length))) from = this.end - length;
      }
    }
    return from;
  }
}

function longest(found: readonly string[]): string | undefined {
  return found.reduce<string | undefined>(
    (best, one) => best === undefined || one.length > best.length ? one : best,
    undefined,
  );
}

/** Returns whether a text is only white space. */
export function isSpace(text: string): boolean {
  return /^[ \t\n\r]*$/.test(text);
}
