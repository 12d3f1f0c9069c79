import { InvalidArgumentError, Lifetime, type Native, open, type Pointer } from "../../../ffi/mod.ts";
import { AllocationError } from "../../errors.ts";
import { checkBoolean, checkInteger, checkOptions, checkText, isInstance } from "../../support/check.ts";
import { brands } from "../brands.ts";
import { allContexts } from "./context_registry.ts";
import { measure } from "./measure.ts";
import { Handle, type NativeObject } from "./handle.ts";
import { Tensor } from "./tensor.ts";
import { HandedOut } from "./handed_out.ts";
import { ContextFullError, GraphError } from "./errors.ts";
import { checkShape, typeByName, type TypeName } from "./types.ts";

/** How a {@linkcode GgmlContext} is made. */
export interface GgmlContextOptions {
  /** How many tensors it has room for, those between the operators of a compound one included. 1 to 16,777,216, default 2,048. */
  maxTensors?: number | undefined;
  /**
   * Bytes for the data of its tensors. 0, the default, gives a context whose tensors have no memory until an allocator gives them some.
   * C: `!ggml_init_params.no_alloc`.
   */
  dataBytes?: number | undefined;
}

/** A function of ggml that makes a tensor in the context that it is given. */
export type TensorMaker = (context: Pointer<"ggml_context">) => Pointer<"ggml_tensor"> | null;

/** Tensors that a single function of ggml makes at most, with some to spare. */
const MOST_TENSORS = 16;

/**
 * Owns tensors: what describes them, and with the option `dataBytes` their data too. Its memory is JavaScript's own, so a view of it can't go wrong.
 *
 * Dispose it when its tensors are no longer needed, best by `using`; a tensor used after that throws DisposedError. C: `struct ggml_context`,
 * `ggml_init`, `ggml_free`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { computeSync, GgmlContext, Graph, ops } from "../mod.ts";
 *
 * using context = await GgmlContext.create({ dataBytes: 1 << 20 });
 * const a = context.tensor("f32", [3]).write([1, 2, 3]);
 * const b = context.tensor("f32", [3]).write([10, 20, 30]);
 * const sum = ops.add(context, a, b);
 * using graph = new Graph(context).forward(sum);
 * computeSync(graph);
 * assert.deepEqual([...sum.read()], [11, 22, 33]);
 * ```
 */
export class GgmlContext implements NativeObject<"ggml_context">, Disposable {
  /** The libraries that it came from. */
  readonly native: Native;
  readonly #handle: Handle<"ggml_context">;
  readonly #uses = new Map<GgmlContext, Lifetime>();
  #lifetime = new Lifetime();
  readonly #views = new HandedOut();
  readonly #owned: Disposable[];
  /** What owns the memory of its tensors: it lives as long as a tensor can be reached. */
  readonly #memory = new Set<object>();
  readonly #resetListeners = new Set<() => void>();

  /**
   * Makes a context once the libraries are open.
   *
   * Throws InvalidArgumentError for a bad option and AllocationError when there isn't that much memory.
   */
  static async create(options?: GgmlContextOptions): Promise<GgmlContext> {
    return new GgmlContext(await open(), options);
  }

  /**
   * A context over one that native code owns, such as the tensors that `gguf_init_from_file` made; `free` is called when it is disposed.
   *
   * @internal
   */
  static adopt(
    native: Native,
    pointer: Pointer<"ggml_context">,
    free: (pointer: Pointer<"ggml_context">) => void,
  ): GgmlContext {
    return new GgmlContext(native, undefined, { pointer, free });
  }

  /** Makes a context with libraries that are open. Throws as {@linkcode GgmlContext.create} does. */
  constructor(
    native: Native,
    options?: GgmlContextOptions,
    adopted?: { pointer: Pointer<"ggml_context">; free: (pointer: Pointer<"ggml_context">) => void },
  ) {
    brands.context.add(this);
    this.native = native;
    const { pointer, free } = adopted ?? makeContext(native, options);
    const owned: Disposable[] = [];
    this.#owned = owned;
    this.#handle = new Handle({
      what: "the context",
      pointer,
      free: (one) => {
        free(one);
        for (const resource of owned) resource[Symbol.dispose]();
      },
    });
    allContexts.add(this);
  }

  /** Its address, for the raw layer. Throws DisposedError. */
  get unsafePointer(): Pointer<"ggml_context"> {
    return this.#handle.pointer;
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#handle.disposed;
  }

  /** Throws DisposedError after `dispose`. */
  assertAlive(): void {
    this.#handle.assertAlive();
  }

  /** Bytes in use. C: `ggml_used_mem`. */
  get usedBytes(): number {
    return Number(this.native.lib.ggml_used_mem(this.unsafePointer));
  }

  /** Its bytes in all. C: `ggml_get_mem_size`. */
  get byteLength(): number {
    return Number(this.native.lib.ggml_get_mem_size(this.unsafePointer));
  }

  /** Bytes of its largest tensor. C: `ggml_get_max_tensor_size`. */
  get largestTensorBytes(): number {
    return Number(this.native.lib.ggml_get_max_tensor_size(this.unsafePointer));
  }

  /** Whether tensors that are made from now on get no memory for their data. C: `ggml_get_no_alloc`, `ggml_set_no_alloc`. */
  get noAlloc(): boolean {
    return this.native.lib.ggml_get_no_alloc(this.unsafePointer);
  }

  set noAlloc(value: boolean) {
    this.native.lib.ggml_set_no_alloc(this.unsafePointer, checkBoolean("noAlloc", value));
  }

  /**
   * A new tensor.
   *
   * Throws InvalidArgumentError for an unknown type or a bad dimension, TensorShapeError when the first dimension isn't a multiple of the type's block,
   * ContextFullError when there is no room. C: `ggml_new_tensor`.
   *
   * ```ts
   * import assert from "node:assert/strict";
   * import { GgmlContext } from "./context.ts";
   *
   * using context = await GgmlContext.create({ maxTensors: 10 });
   * const weights = context.tensor("q4_0", [64, 3], "weights");
   * assert.deepEqual(weights.shape, [64, 3, 1, 1]);
   * assert.equal(weights.byteLength, 3 * 2 * 18);
   * assert.throws(() => context.tensor("q4_0", [65]), { code: "TENSOR_SHAPE" });
   * ```
   */
  tensor(type: TypeName, shape: readonly number[], name?: string): Tensor {
    const { id } = typeByName("the tensor's type", type);
    const full = checkShape("the tensor's shape", shape, type);
    const dimensions = BigInt64Array.from(full, BigInt);
    const count = shape.length;
    const made = this.build([], (context) => this.native.lib.ggml_new_tensor(context, id, count, dimensions));
    return name === undefined ? made : made.setName(name);
  }

  /** A tensor of one dimension that holds these numbers; needs a context with `dataBytes`. Type `"f32"` for numbers and Float32Array, `"i32"` for Int32Array. */
  from(values: readonly number[] | Float32Array | Int32Array, shape?: readonly number[]): Tensor {
    const type = isInstance(values, Int32Array) ? "i32" : "f32";
    return this.tensor(type, shape ?? [values.length]).write(values);
  }

  /**
   * Calls a function of ggml that makes tensors in this context, once there is known to be room for them, and wraps what it gives. The operators are
   * made with it. Throws ContextFullError, and DisposedError when this context or one of an operand was disposed.
   *
   * @internal
   */
  build(operands: readonly Tensor[], make: TensorMaker): Tensor {
    const { unsafePointer } = this;
    for (const operand of operands) this.use(operand.context);
    this.#checkRoom(make);
    const made = make(unsafePointer);
    if (made === null) throw new ContextFullError("ggml made no tensor", { expected: "a tensor" });
    return this.wrap(made);
  }

  /**
   * What its tensors live by, until it is disposed or reset.
   *
   * @internal
   */
  get lifetime(): Lifetime {
    return this.#lifetime;
  }

  /**
   * A tensor of this context, or of one that it uses, by its address.
   *
   * @internal
   */
  wrap(pointer: Pointer<"ggml_tensor">): Tensor {
    return new Tensor(this, this.#lifetime, pointer);
  }

  /**
   * Notes that tensors of this context refer to those of another one, which must outlive it.
   *
   * @internal
   */
  use(other: GgmlContext): void {
    if (other === this) return;
    other.assertAlive();
    if (other.native !== this.native) {
      throw new InvalidArgumentError("the tensors are of two sets of libraries", { expected: "tensors of one set" });
    }
    this.#uses.set(other, other.#lifetime);
  }

  /** Its tensors, in the order in which they were made. C: `ggml_get_first_tensor`, `ggml_get_next_tensor`. */
  *tensors(): Generator<Tensor> {
    const { lib } = this.native;
    for (
      let at = lib.ggml_get_first_tensor(this.unsafePointer);
      at !== null;
      at = lib.ggml_get_next_tensor(this.unsafePointer, at)
    ) {
      yield this.wrap(at);
    }
  }

  /** A tensor by its name, the first one that has it; `undefined` when there is none. C: `ggml_get_tensor`. */
  get(name: string): Tensor | undefined {
    const found = this.native.lib.ggml_get_tensor(this.unsafePointer, checkText("the name", name));
    return found === null ? undefined : this.wrap(found);
  }

  /**
   * Forgets all of its tensors, so that its memory is used anew; they throw DisposedError from now on. Throws GraphError while one of them is computed.
   * C: `ggml_reset`.
   */
  reset(): void {
    this.assertAlive();
    if (this.#handle.locked) {
      throw new GraphError("the context's tensors are in use by a computation; await that before you reset it", {
        value: "computing",
        expected: "a context that nothing computes with",
      });
    }
    for (const listener of [...this.#resetListeners]) listener();
    this.native.lib.ggml_reset(this.unsafePointer);
    this.#memory.clear();
    this.#lifetime.end("a reset of the context");
    this.#lifetime = new Lifetime();
    this.#uses.clear();
    this.releaseViews();
  }

  /**
   * Retains its memory, and that of the contexts it uses, until the returned function is called. Throws DisposedError when one of them was disposed or
   * reset.
   *
   * @internal
   */
  retain(): () => void {
    const releases = [...this.reached()].map((context) => context.#handle.retain());
    return () => releases.forEach((release) => release());
  }

  /**
   * Retains it as {@linkcode GgmlContext.retain} does for a computation: it and the contexts it uses can't be reset meanwhile.
   *
   * @internal
   */
  lock(): () => void {
    const releases = [...this.reached()].map((context) => context.#handle.lock());
    return () => releases.forEach((release) => release());
  }

  /**
   * Keeps what owns the memory of its tensors, as long as this object is reachable and not reset.
   *
   * @internal
   */
  keepMemory(owner: object): void {
    this.#memory.add(owner);
  }

  /**
   * Calls a function before its tensors are forgotten.
   *
   * @internal
   */
  onReset(listener: () => void): void {
    this.#resetListeners.add(listener);
  }

  /**
   * Ends what {@linkcode GgmlContext.onReset} began.
   *
   * @internal
   */
  offReset(listener: () => void): void {
    this.#resetListeners.delete(listener);
  }

  /**
   * This context and all that it uses. Throws DisposedError when one of them was disposed or reset.
   *
   * @internal
   */
  reached(into: Set<GgmlContext> = new Set()): Set<GgmlContext> {
    this.assertAlive();
    if (into.has(this)) return into;
    into.add(this);
    for (const [other, lifetime] of this.#uses) {
      lifetime.assertAlive();
      other.reached(into);
    }
    return into;
  }

  /**
   * Remembers memory that was handed out without a copy: it is detached (its length becomes 0) when the memory goes.
   *
   * @internal
   */
  handOut(buffer: ArrayBuffer): void {
    this.#views.add(buffer, this);
  }

  /**
   * Takes over what lives as long as this context; it is disposed after it, once no computation needs it.
   *
   * @internal
   */
  adopt(resource: Disposable): void {
    this.#owned.push(resource);
  }

  /**
   * Detaches what {@linkcode GgmlContext.handOut} was given.
   *
   * @internal
   */
  releaseViews(): void {
    this.#views.detach();
  }

  /** Frees it with its tensors; a second call does nothing. What still computes with them ends first. */
  dispose(): void {
    if (this.disposed) return;
    allContexts.delete(this);
    this.#lifetime.end("its context");
    this.releaseViews();
    this.#memory.clear();
    this.#handle.dispose();
  }

  /** {@linkcode GgmlContext.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  #checkRoom(make: TensorMaker): void {
    const { lib } = this.native;
    const free = this.byteLength - this.usedBytes;
    if (this.noAlloc && free >= MOST_TENSORS * Number(lib.ggml_tensor_overhead())) return;
    const needed = measure(this.native, make, !this.noAlloc);
    if (needed <= free) return;
    throw new ContextFullError(
      `the context has ${free} of ${this.byteLength} bytes left, and ${needed} are needed; make it with more maxTensors or dataBytes`,
      { value: free, expected: `${needed} bytes` },
    );
  }
}

function makeContext(
  native: Native,
  options: GgmlContextOptions | undefined,
): { pointer: Pointer<"ggml_context">; free: (pointer: Pointer<"ggml_context">) => void } {
  const { maxTensors = 2048, dataBytes = 0 } = checkOptions("GgmlContext", options, ["maxTensors", "dataBytes"]);
  const count = checkInteger("maxTensors", maxTensors, { min: 1, max: 1 << 24 });
  const bytes = checkInteger("dataBytes", dataBytes, { min: 0, max: 2 ** 40 });
  const { lib } = native;
  // Each tensor's data begins at a multiple of 16.
  const size = count * (Number(lib.ggml_tensor_overhead()) + (bytes > 0 ? 16 : 0)) + bytes;
  const pool = allocate(native, size);
  const pointer = lib.ggml_init(
    native.assign(native.struct("ggml_init_params"), {
      mem_size: BigInt(size),
      mem_buffer: pool,
      no_alloc: bytes === 0,
    }),
  );
  const kept: { pool: Uint8Array | undefined } = { pool };
  const free = (one: Pointer<"ggml_context">): void => {
    lib.ggml_free(one);
    kept.pool = undefined;
  };
  return { pointer, free };
}

function allocate(native: Native, size: number): Uint8Array<ArrayBuffer> {
  try {
    return native.allocate(size, 64);
  } catch (cause) {
    throw new AllocationError(`there are no ${size} bytes of memory for a context; ask for less`, {
      value: size,
      expected: "less",
      cause,
    });
  }
}
