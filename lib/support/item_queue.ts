import { InvalidArgumentError } from "../../base/errors.ts";

/** Items that come one by one, for one reader. Those that come before the reader does wait for it. */
export class ItemQueue<Item> {
  readonly #name: string;
  #items: Item[] = [];
  #wake: (() => void) | undefined;
  #end: { readonly error?: unknown } | undefined;
  #iterated = false;

  /** Makes an empty queue; messages call it by this name, such as "this generation". */
  constructor(name: string) {
    this.#name = name;
  }

  /** Adds items; after the end they are dropped. */
  push(...items: readonly Item[]): void {
    if (this.#end !== undefined) return;
    this.#items.push(...items);
    this.#wake?.();
  }

  /** Ends the iteration after the items that are there. */
  end(): void {
    this.#finish({});
  }

  /** Ends the iteration with an error after the items that are there. */
  fail(error: unknown): void {
    this.#finish({ error });
  }

  /**
   * Returns the items as they come. They can be iterated once: a second call throws {@linkcode InvalidArgumentError}.
   *
   * @param leave called when the iterator is returned from, also before its first step, and when it ends; the iterator waits for it.
   */
  iterate(leave: () => Promise<void> = () => Promise.resolve()): AsyncGenerator<Item, void, undefined> {
    if (this.#iterated) {
      throw new InvalidArgumentError(
        `${this.#name} was already iterated; keep the items of the first iteration, or await the result`,
        { value: "a second iteration", expected: "one iteration" },
      );
    }
    this.#iterated = true;
    const items = this.#iterate(leave);
    const end = items.return.bind(items);
    // A generator that hasn't started runs no `finally`, and one that waits for an item gets to its own only when that has come.
    items.return = async (value) => {
      this.#items = [];
      this.#end = {};
      this.#wake?.();
      const left = leave();
      const ended = await end(value);
      await left;
      return ended;
    };
    return items;
  }

  #finish(end: { readonly error?: unknown }): void {
    this.#end ??= end;
    this.#wake?.();
  }

  async *#iterate(leave: () => Promise<void> = () => Promise.resolve()): AsyncGenerator<Item, void, undefined> {
    try {
      for (;;) {
        const item = this.#items.shift();
        if (item !== undefined) yield item;
        else if (this.#end !== undefined) break;
        else await new Promise<void>((resolve) => this.#wake = resolve);
      }
      if ("error" in this.#end) throw this.#end.error;
    } finally {
      await leave();
    }
  }
}
