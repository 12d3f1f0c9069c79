import type { Native, Owner, Pointer } from "../../../ffi/mod.ts";
import { DisposedError } from "../../errors.ts";

/** An object of ggml that lives in native memory. */
export interface NativeObject<T extends string> {
  /** The libraries that it came from. */
  readonly native: Native;
  /** Its address, for the raw layer. Throws DisposedError once it was disposed. */
  readonly unsafePointer: Pointer<T>;
}

/** What a {@linkcode Handle} is made from. */
export interface HandleParts<T extends string> {
  /** What it is, for messages: `"the backend CPU"`. */
  readonly what: string;
  /** Its address. */
  readonly pointer: Pointer<T>;
  /** Frees it. Called once, when it was disposed and no work holds it. */
  readonly free: (pointer: Pointer<T>) => void;
}

/**
 * The one owner of something in native memory. After `dispose` each use throws DisposedError; the memory itself goes when the last work that
 * holds it has ended.
 */
export class Handle<T extends string> implements Owner, Disposable {
  readonly #parts: HandleParts<T>;
  #holds = 0;
  #disposed = false;
  #freed = false;

  /** Takes over what was made. */
  constructor(parts: HandleParts<T>) {
    this.#parts = parts;
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

  /** Whether work holds it. */
  get busy(): boolean {
    return this.#holds > 0;
  }

  /** Throws DisposedError after `dispose`. */
  assertAlive(): void {
    if (!this.#disposed) return;
    throw new DisposedError(`${this.#parts.what} was disposed; make another one`, {
      value: this.#parts.what,
      expected: "an object in use",
    });
  }

  /** Keeps the memory until the function that it gives is called, even when it is disposed meanwhile. Throws DisposedError after `dispose`. */
  retain(): () => void {
    this.assertAlive();
    this.#holds++;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds--;
      this.#sweep();
    };
  }

  /** Ends its use; a second call does nothing. */
  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#sweep();
  }

  #sweep(): void {
    if (!this.#disposed || this.#holds > 0 || this.#freed) return;
    this.#freed = true;
    this.#parts.free(this.#parts.pointer);
  }
}
