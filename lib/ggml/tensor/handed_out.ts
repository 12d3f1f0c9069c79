/** Keeps what owns the memory of a view as long as the view. */
const owners = new WeakMap<ArrayBuffer, object>();

/** Native memory that was handed out without a copy: views of it keep their owner in memory, and are detached (their length becomes 0) when it goes. */
export class HandedOut {
  #views: WeakRef<ArrayBuffer>[] = [];

  /** Adds a view of memory that `owner` frees when it is collected. */
  add(view: ArrayBuffer, owner: object): void {
    owners.set(view, owner);
    this.#views.push(new WeakRef(view));
    if (this.#views.length % 64 === 0) this.#views = this.#views.filter((one) => one.deref() !== undefined);
  }

  /** Detaches all of them. */
  detach(): void {
    for (const reference of this.#views) {
      const view = reference.deref();
      if (view?.detached === false) view.transfer(0);
    }
    this.#views = [];
  }
}
