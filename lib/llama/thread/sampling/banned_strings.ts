const encoder = new TextEncoder();

/** Finds the tokens that would complete a banned string. Works on bytes, so that token and character boundaries don't matter. */
export class BannedStrings {
  readonly #strings: readonly string[];
  readonly #pieces: readonly string[];
  readonly #longest: number;
  readonly #completing = new Map<string, readonly number[]>();
  /** The tokens that contain a banned string. */
  readonly whole: readonly number[];
  #tail = "";

  /** `pieces` are the bytes of each token, one character per byte. */
  constructor(strings: readonly string[], pieces: readonly string[]) {
    this.#strings = [...new Set(strings.map((text) => String.fromCharCode(...encoder.encode(text))))].sort((a, b) =>
      a.length - b.length
    );
    this.#pieces = pieces;
    this.#longest = this.#strings.at(-1)?.length ?? 0;
    this.whole = this.#holding();
  }

  /** Records a generated token. */
  push(token: number): void {
    if (this.#longest > 1) this.#tail = (this.#tail + (this.#pieces[token] ?? "")).slice(1 - this.#longest);
  }

  /** Returns the tokens that would complete a string that the text has begun. */
  *completing(): Generator<number> {
    for (const text of this.#strings) {
      for (let length = Math.min(text.length - 1, this.#tail.length); length > 0; length--) {
        if (this.#tail.endsWith(text.slice(0, length))) yield* this.#starting(text.slice(length));
      }
    }
  }

  #holding(): readonly number[] {
    const found: number[] = [];
    for (const [token, piece] of this.#pieces.entries()) {
      for (const text of this.#strings) {
        if (text.length > piece.length) break;
        if (!piece.includes(text)) continue;
        found.push(token);
        break;
      }
    }
    return found;
  }

  #starting(rest: string): readonly number[] {
    let tokens = this.#completing.get(rest);
    if (tokens === undefined) {
      tokens = [...this.#pieces.keys()].filter((token) => this.#pieces[token]?.startsWith(rest));
      this.#completing.set(rest, tokens);
    }
    return tokens;
  }
}
