import type { Pointer } from "../../../ffi/mod.ts";
import { ItemQueue } from "../../support/item_queue.ts";
import { gateStates, type Watch } from "../thread/schedule.ts";

/** Nodes that a computation on a native thread shows, one at a time: it waits until the next one is asked for. */
export class NodeStream implements AsyncIterable<Pointer<"ggml_tensor">> {
  /** Input for the thread. */
  readonly watch: Watch;
  readonly #word: Int32Array<SharedArrayBuffer>;
  readonly #shown = new ItemQueue<Pointer<"ggml_tensor">>("this computation");
  #ended = false;
  #stopped = false;

  /** A stream of these nodes. */
  constructor(nodes: readonly Pointer<"ggml_tensor">[]) {
    const gate = new SharedArrayBuffer(4);
    this.#word = new Int32Array(gate);
    this.watch = { nodes, gate };
  }

  /** Whether it was left before its end. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Takes what the thread shows. */
  add(node: Pointer<"ggml_tensor"> | undefined): void {
    if (node === undefined) return;
    if (this.#stopped) return this.#say(gateStates.stop);
    this.#shown.push(node);
  }

  /** Ends it when the computation ends. */
  endWith(run: Promise<unknown>): void {
    const end = (): void => {
      this.#ended = true;
      this.#shown.end();
    };
    run.then(end, end);
  }

  /** Lets the computation end without showing more. */
  stop(): void {
    if (this.#ended) return;
    this.#stopped = true;
    this.#say(gateStates.stop);
  }

  /** The nodes in the order in which they are computed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Pointer<"ggml_tensor">, void, void> {
    for await (const node of this.#shown.iterate()) {
      yield node;
      this.#say(gateStates.go);
    }
  }

  #say(state: number): void {
    Atomics.store(this.#word, 0, state);
    Atomics.notify(this.#word, 0);
  }
}
