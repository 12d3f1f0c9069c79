import { allocatePool } from "./allocate.ts";
import { integer, options, type RulesOf } from "../../../base/options.ts";
import { definePicture, sizePicture } from "../../../base/inspect.ts";
import { type Native, open, type Pointer } from "../../../ffi/mod.ts";
import { checkBoolean, checkText, isArray, isInstance } from "../../../base/check.ts";
import { brands } from "../brands.ts";
import { checkNative } from "./address.ts";
import { AdoptedContext, ContextCore, type ContextParts } from "./context_core.ts";
import { allContexts } from "./context_registry.ts";
import type { NativeObject } from "./handle.ts";
import type { Tensor } from "./tensor.ts";
import { flatten, type FlatValues, type TensorInput } from "./write.ts";
import { checkShape, typeByName, type TypeName } from "./types.ts";

/** Options of {@linkcode GgmlContext}. */
export interface GgmlContextOptions {
  /** Capacity in tensors, intermediate ones of compound operators included. 1 to 16,777,216, default 2,048. */
  maxTensors?: number | undefined;
  /**
   * Bytes for the data of its tensors. 0, the default, gives a context whose tensors have no memory until an allocator gives them some.
   * C: `!ggml_init_params.no_alloc`.
   */
  dataBytes?: number | undefined;
}

/**
 * Owns tensors: their descriptions, and with the option `dataBytes` their data too. Its memory is JavaScript's own, so a view of it can't go wrong.
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
  readonly #core: ContextCore;

  /**
   * Opens the libraries and creates a context.
   *
   * Throws InvalidArgumentError for a bad option and AllocationError when there isn't that much memory.
   */
  static async create(options?: GgmlContextOptions): Promise<GgmlContext> {
    return new GgmlContext(await open(), options);
  }

  /** Creates a context with libraries that are open. Throws as {@linkcode GgmlContext.create} does. */
  constructor(native: Native, options?: GgmlContextOptions) {
    this.native = checkNative(native);
    const parts = isInstance(options, AdoptedContext) ? options : makeContext(native, options);
    this.#core = new ContextCore(this, native, parts);
    brands.context.add(this, this.#core);
    allContexts.add(this);
  }

  /** Its address, for the raw layer. Throws DisposedError. */
  get unsafePointer(): Pointer<"ggml_context"> {
    return this.#core.handle.pointer;
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#core.handle.disposed;
  }

  /** Throws DisposedError after `dispose`. */
  assertAlive(): void {
    this.#core.handle.assertAlive();
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
   * ContextFullError when there is no capacity. C: `ggml_new_tensor`.
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
    const made = this.#core.build([], (context) => this.native.lib.ggml_new_tensor(context, id, count, dimensions));
    return name === undefined ? made : made.setName(name);
  }

  /**
   * Returns a new tensor that holds these numbers; needs a context with `dataBytes`. Nested arrays give its shape, the innermost being its rows. The type is
   * that of a typed array, `"i64"` for bigints, and `"f32"` for numbers.
   *
   * Throws InvalidArgumentError for what isn't a number and for arrays of several lengths, and as {@linkcode GgmlContext.tensor} does.
   *
   * ```ts
   * import assert from "node:assert/strict";
   * import { GgmlContext } from "./context.ts";
   *
   * using context = await GgmlContext.create({ dataBytes: 1024 });
   * const matrix = context.from([[1, 2, 3], [4, 5, 6]]);
   * assert.deepEqual(matrix.shape, [3, 2, 1, 1]);
   * assert.deepEqual([...matrix.read()], [1, 2, 3, 4, 5, 6]);
   * assert.throws(() => context.from([[1, 2], [3]]), { code: "INVALID_ARGUMENT" });
   * ```
   */
  from(values: TensorInput, shape?: readonly number[]): Tensor {
    const { flat, shape: given } = flatten("the values", values);
    return this.tensor(typeOfValues(flat), shape ?? given).write(shape === undefined ? values : flat as TensorInput);
  }

  /** Its tensors, in the order in which they were made. C: `ggml_get_first_tensor`, `ggml_get_next_tensor`. */
  *tensors(): Generator<Tensor> {
    const { lib } = this.native;
    for (
      let at = lib.ggml_get_first_tensor(this.unsafePointer);
      at !== null;
      at = lib.ggml_get_next_tensor(this.unsafePointer, at)
    ) {
      yield this.#core.wrap(at);
    }
  }

  /** A tensor by its name, the first one that has it; `undefined` when there is none. C: `ggml_get_tensor`. */
  get(name: string): Tensor | undefined {
    const found = this.native.lib.ggml_get_tensor(this.unsafePointer, checkText("the name", name));
    return found === null ? undefined : this.#core.wrap(found);
  }

  /**
   * Forgets all of its tensors, so that its memory is used anew; they throw DisposedError from now on. Throws GraphError while one of them is computed.
   * C: `ggml_reset`.
   */
  reset(): void {
    this.#core.reset();
  }

  /** Frees it with its tensors; a second call does nothing. What still computes with them ends first. */
  dispose(): void {
    if (this.disposed) return;
    allContexts.delete(this);
    this.#core.dispose();
  }

  /** {@linkcode GgmlContext.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  static {
    definePicture(
      GgmlContext,
      "GgmlContext",
      (context) =>
        `${sizePicture(context.usedBytes)} of ${sizePicture(context.byteLength)}${context.noAlloc ? ", no data" : ""}`,
    );
  }
}

const contextSpec = options(
  "GgmlContext",
  {
    maxTensors: integer({ min: 1, max: 1 << 24, default: 2048 }),
    dataBytes: integer({ min: 0, max: 2 ** 40, default: 0 }),
  } satisfies RulesOf<GgmlContextOptions>,
);

const arrayTypes: Readonly<Record<string, TypeName>> = {
  Float32Array: "f32",
  Float64Array: "f64",
  Float16Array: "f16",
  Int8Array: "i8",
  Int16Array: "i16",
  Int32Array: "i32",
  BigInt64Array: "i64",
};

function typeOfValues(values: FlatValues["flat"]): TypeName {
  return isArray(values) ? typeof values[0] === "bigint" ? "i64" : "f32" : arrayTypes[values.constructor.name] ?? "f32";
}

/** A context over one that native code owns, such as the tensors that `gguf_init_from_file` made; `free` is called when it is disposed. */
export function adoptContext(
  native: Native,
  pointer: Pointer<"ggml_context">,
  free: (pointer: Pointer<"ggml_context">) => void,
): GgmlContext {
  return new GgmlContext(native, new AdoptedContext(pointer, free) as GgmlContextOptions);
}

function makeContext(
  native: Native,
  options: GgmlContextOptions | undefined,
): ContextParts {
  const { maxTensors: count, dataBytes: bytes } = contextSpec.check(options);
  const { lib } = native;
  // Each tensor's data begins at a multiple of 16.
  const size = count * (Number(lib.ggml_tensor_overhead()) + (bytes > 0 ? 16 : 0)) + bytes;
  const pool = allocatePool(native, size, "a context");
  const params = native.struct("ggml_init_params");
  params.mem_size = BigInt(size);
  params.mem_buffer = pool.address;
  params.no_alloc = bytes === 0;
  const free = (one: Pointer<"ggml_context">): void => {
    lib.ggml_free(one);
    pool.release();
  };
  return { pointer: lib.ggml_init(params), free };
}
