import type { PieceSink } from "../generation/generation.ts";
import type { ChatEvent } from "./turn.ts";

/** The output of an attempt, held back until it is known whether the attempt counts. */
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
