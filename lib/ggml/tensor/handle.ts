import type { Native, Owner, Pointer } from "../../../ffi/mod.ts";
import { DisposedError } from "../../errors.ts";

/** An object of ggml that lives in native memory. */
export interface NativeObject<T extends string> {
  /** The libraries that it came from. */
  readonly native: Native;
  /** Its address, for the raw layer. Throws DisposedError once it was disposed. */
  readonly unsafePointer: Pointer<T>;
}

/** Parts of a {@linkcode Handle}. */
export interface HandleParts<T extends string> {
  /** Description for messages: `"the backend CPU"`. */
  readonly what: string;
  /** Its address. */
  readonly pointer: Pointer<T>;
  /**
   * Frees it. Called once: when it was disposed and no work retains it, or by the finalizer. It must not refer to the handle or to the object that owns
   * it, which would never be collected then; what it does refer to stays in memory until it was called, so dependencies are freed after their users.
   */
  readonly free: (pointer: Pointer<T>) => void;
}

/** Frees what nobody disposed. */
const finalizer = new FinalizationRegistry<HandleParts<never>>(({ pointer, free }) => free(pointer));

/**
 * The one owner of something in native memory. After `dispose` each use throws DisposedError; the memory itself goes when the last work that
 * retains it has ended, or when the handle is collected.
 */
export class Handle<T extends string> implements Owner, Disposable {
  readonly #parts: HandleParts<T>;
  #retained = 0;
  #locked = 0;
  #disposed = false;
  #freed = false;

  /** Takes over what was made. */
  constructor(parts: HandleParts<T>) {
    this.#parts = parts;
    finalizer.register(this, parts as unknown as HandleParts<never>, this);
  }

  /** The address. Throws DisposedError after `dispose`. */
  get pointer(): Pointer<T> {
    this.assertAlive();
    return this.#parts.pointer;
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#disposed;
  }

  /** Whether work retains it. */
  get busy(): boolean {
    return this.#retained > 0;
  }

  /** Whether work needs it as it is. */
  get locked(): boolean {
    return this.#locked > 0;
  }

  /** Throws DisposedError after `dispose`. */
  assertAlive(): void {
    if (!this.#disposed) return;
    throw new DisposedError(`${this.#parts.what} was disposed; make another one`, {
      value: this.#parts.what,
      expected: "an object in use",
    });
  }

  /** Retains the memory until the returned function is called, even when it is disposed meanwhile. Throws DisposedError after `dispose`. */
  retain(): () => void {
    this.assertAlive();
    this.#retained++;
    return once(() => {
      this.#retained--;
      this.#sweep();
    });
  }

  /** Retains the memory, and says by {@linkcode Handle.locked} that nothing of it may be changed, until the returned function is called. */
  lock(): () => void {
    const release = this.retain();
    this.#locked++;
    return once(() => {
      this.#locked--;
      release();
    });
  }

  /** Ends its use; a second call does nothing. */
  dispose(): void {
    this.#disposed = true;
    this.#sweep();
  }

  /** {@linkcode Handle.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  #sweep(): void {
    if (!this.#disposed || this.#retained > 0 || this.#freed) return;
    this.#freed = true;
    finalizer.unregister(this);
    this.#parts.free(this.#parts.pointer);
  }
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    work();
  };
}

/** Retains several things; when one of them can't be retained the others are released again. */
export function retainAll(...retains: readonly (() => () => void)[]): (() => void)[] {
  const releases: (() => void)[] = [];
  try {
    for (const retain of retains) releases.push(retain());
    return releases;
  } catch (error) {
    for (const release of releases) release();
    throw error;
  }
}

const abandoned: (() => void)[] = [];

/** Retains for ever what a lost native thread may still use: the functions that would release it are kept and never called. */
export function abandon(releases: readonly (() => void)[]): void {
  abandoned.push(...releases);
}
