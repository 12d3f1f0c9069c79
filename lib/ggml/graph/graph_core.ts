import type { Lifetime, Pointer } from "../../../ffi/mod.ts";
import { brands } from "../brands.ts";
import type { GgmlContext } from "../tensor/context.ts";
import { GraphError } from "../tensor/errors.ts";
import { Handle } from "../tensor/handle.ts";

/** The owner of the memory of a graph's tensors. */
export interface GraphMemory {
  /** Whether it was disposed. */
  readonly disposed: boolean;
  /** Retains the memory until the returned function is called. */
  retain(): () => void;
}

/** What gave a graph's tensors memory and operands of its own. */
export interface GraphHolder {
  /** Takes them back. */
  forgetGraph(): void;
}

/** A native graph, and what frees it. */
export interface GraphParts {
  /** Its address. */
  readonly pointer: Pointer<"ggml_cgraph">;
  /** Frees it. */
  readonly free: () => void;
}

/** Internals of a {@linkcode Graph}: who computes it, and whether it has changed. */
export class GraphCore {
  /** The native graph. */
  readonly handle: Handle<"ggml_cgraph">;
  /** The owner of the memory of its tensors, when a graph allocator does: a computation retains it. */
  owner: GraphMemory | undefined;
  /** Number of changes. */
  version = 0;
  /** Lifetime of its tensors, once it has some. */
  lifetime: Lifetime | undefined;
  readonly #context: GgmlContext;
  #changing = false;
  #holder: GraphHolder | undefined;

  /** Takes over a native graph. */
  constructor(context: GgmlContext, parts: GraphParts) {
    this.#context = context;
    this.handle = new Handle({ what: "the graph", ...parts });
  }

  /** Notes who gives its tensors memory and operands: whoever did before takes them back first. With `undefined` nobody does. */
  setHolder(holder: GraphHolder | undefined): void {
    const before = this.#holder;
    this.#holder = holder;
    if (holder !== undefined && before !== holder) before?.forgetGraph();
  }

  /** Throws DisposedError once it or a context that it uses was disposed or reset. */
  assertAlive(): void {
    brands.context.of(this.#context).reached();
    this.lifetime?.assertAlive();
    this.handle.assertAlive();
  }

  /** Throws GraphError while it is computed. */
  assertUnlocked(doing: string): void {
    if (!this.handle.locked) return;
    throw new GraphError(
      `the graph is in use by a computation or a plan; await or dispose that before you ${doing} it`,
      { value: "computing", expected: "a graph that nothing computes" },
    );
  }

  /**
   * Retains it as {@linkcode GraphCore.retain} does, for work that gives its tensors other memory and operands: nothing may compute it meanwhile. Throws
   * GraphError while something does.
   */
  retainAlone(doing: string): () => void {
    this.assertUnlocked(doing);
    const settle = brands.context.of(this.#context).beginAllocating();
    const release = this.retain();
    this.#changing = true;
    return () => {
      this.#changing = false;
      release();
      settle();
    };
  }

  /**
   * Retains it with its context and tensors for a computation: nothing of it may be changed until the returned function is called. Throws GraphError while
   * it is allocated.
   */
  retain(): () => void {
    if (this.#changing) {
      throw new GraphError("the graph is being allocated; compute it afterwards", {
        value: "being allocated",
        expected: "a graph that nothing changes",
      });
    }
    const memory = this.owner?.disposed === false ? [this.owner.retain()] : [];
    const releases = [brands.context.of(this.#context).lock(), this.handle.lock(), ...memory];
    return () => releases.forEach((release) => release());
  }

  /** Retains the memory of the graph and its tensors until the returned function is called; it may be changed meanwhile. */
  retainMemory(): () => void {
    const releases = [brands.context.of(this.#context).retain(), this.handle.retain()];
    return () => releases.forEach((release) => release());
  }
}
