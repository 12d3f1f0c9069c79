import type { GgmlContext } from "./context.ts";

/** The contexts that are in use, not kept alive by being here. */
export class ContextRegistry {
  readonly #contexts = new Map<object, WeakRef<GgmlContext>>();
  readonly #keys = new WeakMap<GgmlContext, object>();
  readonly #gone = new FinalizationRegistry<object>((key) => this.#contexts.delete(key));

  /** Adds a context. */
  add(context: GgmlContext): void {
    const key = {};
    this.#keys.set(context, key);
    this.#contexts.set(key, new WeakRef(context));
    this.#gone.register(context, key);
  }

  /** Takes a context out. */
  delete(context: GgmlContext): void {
    const key = this.#keys.get(context);
    if (key !== undefined) this.#contexts.delete(key);
  }

  /** Those that are in use now. */
  *[Symbol.iterator](): Generator<GgmlContext> {
    for (const reference of this.#contexts.values()) {
      const context = reference.deref();
      if (context !== undefined && !context.disposed) yield context;
    }
  }
}

/** Every context in use. */
export const allContexts: ContextRegistry = new ContextRegistry();
