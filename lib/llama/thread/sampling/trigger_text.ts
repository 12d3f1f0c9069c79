import type { GrammarTriggers } from "../../sampling/grammar.ts";

/** The beginning of a grammar in the text: bytes from inside a token, and the tokens after them. */
export interface TriggerPlace {
  /** The bytes. */
  readonly bytes: Uint8Array;
  /** The tokens. */
  readonly tokens: readonly number[];
}

interface Piece {
  readonly token: number;
  readonly bytes: Uint8Array;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

/** The text before a grammar applies, in which its triggers are searched for. */
export class TriggerText {
  readonly #triggers: GrammarTriggers;
  /** Patterns need the whole text; words only as much as a word is long. */
  readonly #longest: number;
  #pieces: Piece[] = [];
  #length = 0;

  /** Searches for these words and patterns. */
  constructor(triggers: GrammarTriggers) {
    this.#triggers = triggers;
    this.#longest = triggers.patterns.length > 0
      ? Infinity
      : Math.max(0, ...triggers.words.map((word) => encoder.encode(word).length));
  }

  /** Adds a token that isn't a trigger. */
  add(token: number, bytes: Uint8Array): void {
    this.#pieces.push({ token, bytes: bytes.slice() });
    this.#length += bytes.length;
    for (;;) {
      const [first] = this.#pieces;
      if (first === undefined || this.#length - first.bytes.length < this.#longest + 4) return;
      this.#pieces.shift();
      this.#length -= first.bytes.length;
    }
  }

  /** Returns where the grammar begins if this token comes next; `undefined` if nothing triggers it. Waits for the rest of an incomplete character. */
  find(token: number, bytes: Uint8Array): TriggerPlace | undefined {
    const pieces = [...this.#pieces, { token, bytes }];
    const joined = new Uint8Array(this.#length + bytes.length);
    let length = 0;
    for (const piece of pieces) {
      joined.set(piece.bytes, length);
      length += piece.bytes.length;
    }
    if (!endsWhole(joined)) return undefined;
    const start = this.#start(joined);
    return start === undefined ? undefined : place(pieces, start);
  }

  /** Returns the byte index of the first trigger. */
  #start(bytes: Uint8Array): number | undefined {
    const { words, patterns } = this.#triggers;
    const starts: number[] = [];
    const binary = binaryText(bytes);
    for (const word of words) starts.push(binary.indexOf(binaryText(encoder.encode(word))));
    const text = patterns.length > 0 ? decoder.decode(bytes) : "";
    for (const pattern of patterns) {
      const match = pattern.exec(text);
      if (match === null) continue;
      const group = match.indices?.find((range, index) => index > 0 && range !== undefined && range[1] > range[0]);
      starts.push(byteOf(bytes, group?.[0] ?? match.index));
    }
    const found = starts.filter((start) => start >= 0);
    return found.length === 0 ? undefined : Math.min(...found);
  }
}

/** Returns a string of one character per byte. */
function binaryText(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

/** Returns the byte index of a character of the decoded text. */
function byteOf(bytes: Uint8Array, index: number): number {
  const streamed = new TextDecoder("utf-8", { ignoreBOM: true });
  let units = 0;
  let begin = 0;
  for (let at = 0; at < bytes.length; at++) {
    const more = streamed.decode(bytes.subarray(at, at + 1), { stream: true }).length;
    if (units + more > index) return begin;
    if (more > 0) begin = at + 1;
    units += more;
  }
  return begin;
}

/** Whether bytes end at the end of a character. */
function endsWhole(bytes: Uint8Array): boolean {
  const streamed = new TextDecoder("utf-8", { ignoreBOM: true });
  streamed.decode(bytes, { stream: true });
  return streamed.decode() === "";
}

function place(pieces: readonly Piece[], start: number): TriggerPlace {
  let at = 0;
  for (const [index, { bytes }] of pieces.entries()) {
    const end = at + bytes.length;
    if (start === at) return { bytes: new Uint8Array(0), tokens: pieces.slice(index).map(({ token }) => token) };
    if (start < end) {
      return { bytes: bytes.slice(start - at), tokens: pieces.slice(index + 1).map(({ token }) => token) };
    }
    at = end;
  }
  return { bytes: new Uint8Array(0), tokens: [] };
}
