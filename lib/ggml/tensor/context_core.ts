import { Lifetime, type Native, type Pointer } from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { brands } from "../brands.ts";
import type { GgmlContext } from "./context.ts";
import { ContextFullError, GraphError } from "./errors.ts";
import { HandedOut } from "./handed_out.ts";
import { Handle } from "./handle.ts";
import { measure } from "./measure.ts";
import { createTensor, type Tensor } from "./tensor.ts";

/** A function of ggml that makes a tensor in the context that it is given. */
export type TensorMaker = (context: Pointer<"ggml_context">) => Pointer<"ggml_tensor"> | null;

/** A native context, and what frees it. */
export interface ContextParts {
  /** Its address. */
  readonly pointer: Pointer<"ggml_context">;
  /** Frees it. */
  readonly free: (pointer: Pointer<"ggml_context">) => void;
}

/** A native context that something else made. */
export class AdoptedContext implements ContextParts {
  /** Its address. */
  readonly pointer: Pointer<"ggml_context">;
  /** Frees it. */
  readonly free: (pointer: Pointer<"ggml_context">) => void;

  /** Notes it. */
  constructor(pointer: Pointer<"ggml_context">, free: (pointer: Pointer<"ggml_context">) => void) {
    this.pointer = pointer;
    this.free = free;
  }
}

/** Tensors that a single function of ggml makes at most, with some to spare. */
const MAX_TENSORS_MADE = 16;

/** Internals of a {@linkcode GgmlContext}: memory, lifetimes, and who uses whom. */
export class ContextCore {
  /** The native context. */
  readonly handle: Handle<"ggml_context">;
  readonly #context: GgmlContext;
  readonly #native: Native;
  readonly #uses = new Map<GgmlContext, Lifetime>();
  #lifetime = new Lifetime();
  readonly #views = new HandedOut();
  readonly #owned: Disposable[];
  /** The owner of the memory of its tensors: it lives as long as a tensor can be reached. */
  readonly #memory = new Set<object>();
  readonly #resetListeners = new Set<() => void>();

  /** Takes over a native context. */
  constructor(context: GgmlContext, native: Native, { pointer, free }: ContextParts) {
    const owned: Disposable[] = [];
    this.#context = context;
    this.#native = native;
    this.#owned = owned;
    this.handle = new Handle({
      what: "the context",
      pointer,
      free: (one) => {
        free(one);
        for (const resource of owned) resource[Symbol.dispose]();
      },
    });
  }

  /** Lifetime of its tensors, until it is disposed or reset. */
  get lifetime(): Lifetime {
    return this.#lifetime;
  }

  /**
   * Calls a function of ggml that makes tensors in this context, once there is known to be capacity for them, and wraps what it gives. The operators are
   * made with it. Throws ContextFullError, and DisposedError when this context or one of an operand was disposed.
   */
  build(operands: readonly Tensor[], make: TensorMaker): Tensor {
    const { pointer } = this.handle;
    for (const operand of operands) this.use(operand.context);
    this.#checkCapacity(make);
    const made = make(pointer);
    if (made === null) throw new ContextFullError("ggml made no tensor", { expected: "a tensor" });
    return this.wrap(made);
  }

  /** A tensor of this context, or of one that it uses, by its address. */
  wrap(pointer: Pointer<"ggml_tensor">): Tensor {
    return createTensor(this.#context, this.#lifetime, pointer);
  }

  /** Notes that tensors of this context refer to those of another one, which must outlive it. */
  use(other: GgmlContext): void {
    if (other === this.#context) return;
    other.assertAlive();
    if (other.native !== this.#native) {
      throw new InvalidArgumentError("the tensors are of two sets of libraries", { expected: "tensors of one set" });
    }
    this.#uses.set(other, brands.context.of(other).lifetime);
  }

  /** Forgets its tensors. Throws GraphError while one of them is computed. */
  reset(): void {
    this.handle.assertAlive();
    if (this.handle.locked) {
      throw new GraphError("the context's tensors are in use by a computation; await that before you reset it", {
        value: "computing",
        expected: "a context that nothing computes with",
      });
    }
    for (const listener of [...this.#resetListeners]) listener();
    this.#native.lib.ggml_reset(this.handle.pointer);
    this.#memory.clear();
    this.#lifetime.end("a reset of the context");
    this.#lifetime = new Lifetime();
    this.#uses.clear();
    this.releaseViews();
  }

  /** Ends its use. */
  dispose(): void {
    this.#lifetime.end("its context");
    this.releaseViews();
    this.#memory.clear();
    this.handle.dispose();
  }

  /**
   * Retains its memory, and that of the contexts it uses, until the returned function is called. Throws DisposedError when one of them was disposed or
   * reset.
   */
  retain(): () => void {
    const releases = [...this.reached()].map((context) => brands.context.of(context).handle.retain());
    return () => releases.forEach((release) => release());
  }

  /** Retains it as {@linkcode ContextCore.retain} does for a computation: it and the contexts it uses can't be reset meanwhile. */
  lock(): () => void {
    const releases = [...this.reached()].map((context) => brands.context.of(context).handle.lock());
    return () => releases.forEach((release) => release());
  }

  /** This context and all that it uses. Throws DisposedError when one of them was disposed or reset. */
  reached(into: Set<GgmlContext> = new Set()): Set<GgmlContext> {
    this.handle.assertAlive();
    if (into.has(this.#context)) return into;
    into.add(this.#context);
    for (const [other, lifetime] of this.#uses) {
      lifetime.assertAlive();
      brands.context.of(other).reached(into);
    }
    return into;
  }

  /** Keeps what owns the memory of its tensors, as long as the context is reachable and not reset. */
  keepMemory(owner: object): void {
    this.#memory.add(owner);
  }

  /** Calls a function before its tensors are forgotten. */
  onReset(listener: () => void): void {
    this.#resetListeners.add(listener);
  }

  /** Ends what {@linkcode ContextCore.onReset} began. */
  offReset(listener: () => void): void {
    this.#resetListeners.delete(listener);
  }

  /** Takes over what lives as long as this context; it is disposed after it, once no computation needs it. */
  adopt(resource: Disposable): void {
    this.#owned.push(resource);
  }

  /** Remembers memory that was handed out without a copy: it is detached (its length becomes 0) when the memory goes. */
  handOut(buffer: ArrayBuffer): void {
    this.#views.add(buffer, this.#context);
  }

  /** Detaches what {@linkcode ContextCore.handOut} was given. */
  releaseViews(): void {
    this.#views.detach();
  }

  #checkCapacity(make: TensorMaker): void {
    const { lib } = this.#native;
    const { byteLength, usedBytes, noAlloc } = this.#context;
    const free = byteLength - usedBytes;
    if (noAlloc && free >= MAX_TENSORS_MADE * Number(lib.ggml_tensor_overhead())) return;
    const needed = measure(this.#native, make, !noAlloc);
    if (needed <= free) return;
    throw new ContextFullError(
      `the context has ${free} of ${byteLength} bytes left, and ${needed} are needed; make it with more maxTensors or dataBytes`,
      { value: free, expected: `${needed} bytes` },
    );
  }
}
