import type { PieceSink } from "../generation/generation.ts";
import type { ChatEvent } from "./turn.ts";

/** The number of seeds: `LLAMA_DEFAULT_SEED`, which asks for a random one, is the next. */
const SEEDS = 0xffff_ffff;
/** The golden ratio's part of 2^32: seeds of the same run that are far apart. */
const SEED_STEP = 0x9e37_79b9;

/** Returns the seed of a further attempt: the same for the same first seed. */
export function attemptSeed(first: number, attempt: number): number {
  return (first + attempt * SEED_STEP) % SEEDS;
}

/** What an attempt gives, held back until it is known whether the attempt counts. */
export class HeldOutput {
  readonly #items: ({ readonly piece: string } | { readonly event: ChatEvent })[] = [];
  /** Takes pieces of text. */
  readonly sink: PieceSink;

  /** For a turn whose own sink is this. */
  constructor({ wanted }: PieceSink) {
    this.sink = { wanted, push: (piece) => void this.#items.push({ piece }) };
  }

  /** Takes an event. */
  readonly emit = (event: ChatEvent): void => void this.#items.push({ event });

  /** Gives everything on, in its order. */
  release(sink: PieceSink, emit: (event: ChatEvent) => void): void {
    for (const item of this.#items) {
      if ("piece" in item) sink.push(item.piece);
      else emit(item.event);
    }
  }
}
