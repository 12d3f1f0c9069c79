import { definePicture, listPicture } from "../../../base/inspect.ts";
import type { Native, Pointer, StructView } from "../../../ffi/mod.ts";
import { ggml_tensor_flag, Lifetime } from "../../../ffi/mod.ts";
import type { ggml_tensor } from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { checkText, isArray, isInstance, refuse } from "../../../base/check.ts";
import { brands } from "../brands.ts";
import type { GgmlContext } from "./context.ts";
import type { NativeObject } from "./handle.ts";
import { remoteBuffers } from "./remote_buffers.ts";
import { originalOf } from "../indices/freeze.ts";
import { assertWritable } from "../indices/lock.ts";
import { checkBufferAccess } from "./buffer_access.ts";
import { readTensor, readTensorBytes } from "./read.ts";
import { dataOf, isOnHost, type TensorArray, type TensorValues, viewTensor } from "./view.ts";
import { type TensorInput, writeTensor, writeTensorBytes } from "./write.ts";
import { GraphError, TensorShapeError, TensorTypeError } from "./errors.ts";
import { type Shape, typeById, type TypeName } from "./types.ts";

/** A tensor's flag. C: `enum ggml_tensor_flag`. */
export type TensorFlag = "input" | "output" | "param" | "loss" | "compute";

const flagBits: Readonly<Record<TensorFlag, number>> = {
  input: ggml_tensor_flag.GGML_TENSOR_FLAG_INPUT,
  output: ggml_tensor_flag.GGML_TENSOR_FLAG_OUTPUT,
  param: ggml_tensor_flag.GGML_TENSOR_FLAG_PARAM,
  loss: ggml_tensor_flag.GGML_TENSOR_FLAG_LOSS,
  compute: ggml_tensor_flag.GGML_TENSOR_FLAG_COMPUTE,
};

/** The longest name in bytes of UTF-8: `GGML_MAX_NAME` less the NUL. */
const MAX_NAME_BYTES = 63;

let create: (context: GgmlContext, lifetimes: readonly Lifetime[], pointer: Pointer<"ggml_tensor">) => Tensor;

/**
 * A tensor of a {@linkcode GgmlContext}: up to four dimensions, the fastest one first. What is made by an operator has values once a graph with it was
 * computed. Each use after its context was disposed or reset throws DisposedError. C: `struct ggml_tensor`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { GgmlContext } from "./context.ts";
 *
 * using context = await GgmlContext.create({ dataBytes: 4096 });
 * const matrix = context.tensor("f32", [3, 2], "matrix").write([1, 2, 3, 4, 5, 6]);
 * assert.deepEqual(matrix.shape, [3, 2, 1, 1]);
 * assert.deepEqual(matrix.strides, [4, 12, 24, 24]);
 * assert.equal(matrix.read()[3], 4);
 * ```
 */
export class Tensor implements NativeObject<"ggml_tensor"> {
  /** The context that it belongs to, or that refers to it. */
  readonly context: GgmlContext;
  /** The type of its elements. C: `type`. */
  readonly type: TypeName;
  /** Its dimensions, the fastest one first; those that it lacks are 1. C: `ne`. */
  readonly shape: Shape;
  /** The bytes from one element, row, matrix and cube to the next. C: `nb`. */
  readonly strides: Shape;
  readonly #lifetimes: readonly Lifetime[];
  readonly #pointer: Pointer<"ggml_tensor">;
  #struct: StructView<ggml_tensor> | undefined;

  private constructor(context: GgmlContext, lifetimes: readonly Lifetime[], pointer: Pointer<"ggml_tensor">) {
    brands.context.check("context", context);
    if (!isArray(lifetimes) || !isInstance(lifetimes[0], Lifetime) || typeof pointer !== "bigint") {
      refuse("a tensor's address", pointer, "a context's own");
    }
    brands.tensor.add(this, lifetimes);
    this.context = context;
    this.#lifetimes = lifetimes;
    this.#pointer = pointer;
    // A view whose memory went is still among its context's tensors.
    const { type, ne, nb } = this.native.structAt("ggml_tensor", pointer);
    this.type = typeById(type)?.name ?? "f32";
    this.shape = Object.freeze(Array.from(ne, Number)) as unknown as Shape;
    this.strides = Object.freeze(Array.from(nb, Number)) as unknown as Shape;
  }

  /** The libraries that it came from. */
  get native(): Native {
    return this.context.native;
  }

  /** Its address, for the raw layer. Throws DisposedError once its context was disposed or reset. */
  get unsafePointer(): Pointer<"ggml_tensor"> {
    this.assertAlive();
    return this.#pointer;
  }

  /** The struct itself, for the raw layer. */
  get struct(): StructView<ggml_tensor> {
    this.assertAlive();
    return this.#struct ??= this.native.structAt("ggml_tensor", this.#pointer, this);
  }

  /** Throws DisposedError once its context was disposed or reset, or that of the tensor whose memory it shows. */
  assertAlive(): void {
    this.context.assertAlive();
    for (const lifetime of this.#lifetimes) lifetime.assertAlive();
  }

  /** Its name, `""` when it has none. C: `ggml_get_name`. */
  get name(): string {
    return this.native.readCString(this.native.lib.ggml_get_name(this.unsafePointer));
  }

  /** Sets the name, at most 63 bytes of UTF-8. Throws InvalidArgumentError. C: `ggml_set_name`. */
  setName(name: string): this {
    checkText("the name", name);
    const bytes = new TextEncoder().encode(name).length;
    if (bytes > MAX_NAME_BYTES || name.includes("\0")) {
      throw new InvalidArgumentError(
        `the name takes ${bytes} bytes; give one of at most ${MAX_NAME_BYTES}, without NUL`,
        {
          value: name,
          expected: `at most ${MAX_NAME_BYTES} bytes of UTF-8, without NUL`,
        },
      );
    }
    this.native.lib.ggml_set_name(this.unsafePointer, name);
    return this;
  }

  /** Number of dimensions, up to the last one that isn't 1. C: `ggml_n_dims`. */
  get dimensions(): number {
    return this.native.lib.ggml_n_dims(this.unsafePointer);
  }

  /** Number of elements. C: `ggml_nelements`. */
  get elementCount(): number {
    return Number(this.native.lib.ggml_nelements(this.unsafePointer));
  }

  /** Number of rows. C: `ggml_nrows`. */
  get rowCount(): number {
    return Number(this.native.lib.ggml_nrows(this.unsafePointer));
  }

  /** The bytes from its first to its last, gaps between included. C: `ggml_nbytes`. */
  get byteLength(): number {
    return Number(this.native.lib.ggml_nbytes(this.unsafePointer));
  }

  /** The operator that gives its values, such as `"MUL_MAT"`; `"NONE"` for one that holds its own. C: `ggml_op_name`. */
  get op(): string {
    return this.native.readCString(this.native.lib.ggml_op_name(this.struct.op));
  }

  /** The operator, or which of the unary or gated ones it is, such as `"SILU"`. C: `ggml_op_desc`. */
  get opDescription(): string {
    return this.native.readCString(this.native.lib.ggml_op_desc(this.unsafePointer));
  }

  /** The operator as a formula, such as `"X*Y"`; `"none"` for one that holds its own values. C: `ggml_op_symbol`. */
  get opSymbol(): string {
    return this.native.readCString(this.native.lib.ggml_op_symbol(this.struct.op));
  }

  /** The operator's operands; `undefined` where an optional one is left out. Throws DisposedError once the context of one was disposed or reset. C: `src`. */
  get sources(): (Tensor | undefined)[] {
    brands.context.of(this.context).assertSourcesAlive(this.unsafePointer);
    const found = Array.from(
      this.struct.src,
      (at) => at === 0n ? undefined : brands.context.of(this.context).wrap(originalOf(at as Pointer<"ggml_tensor">)),
    );
    return found.slice(0, found.findLastIndex((one) => one !== undefined) + 1);
  }

  /** The tensor whose memory it shares, when it is a view. C: `view_src`. */
  get viewOf(): Tensor | undefined {
    const { view_src } = this.struct;
    return view_src === null ? undefined : brands.context.of(this.context).wrap(view_src);
  }

  /** Offset of its bytes in those of {@linkcode Tensor.viewOf}. C: `view_offs`. */
  get viewOffset(): number {
    return Number(this.struct.view_offs);
  }

  /** Its flags. C: `flags`. */
  get flags(): TensorFlag[] {
    const { flags } = this.struct;
    return (Object.keys(flagBits) as TensorFlag[]).filter((flag) => (flags & flagBits[flag]) !== 0);
  }

  /** Marks it as an input: allocated first, in memory of its own. C: `ggml_set_input`. */
  setInput(): this {
    this.native.lib.ggml_set_input(this.unsafePointer);
    return this;
  }

  /** Marks it as an output: its memory isn't used for others, so that it can be read after the graph. C: `ggml_set_output`. */
  setOutput(): this {
    this.native.lib.ggml_set_output(this.unsafePointer);
    return this;
  }

  /** Marks it as a parameter, for which a backward graph has a gradient. Throws GraphError for the result of an operator. C: `ggml_set_param`. */
  setParam(): this {
    if (this.op !== "NONE") {
      throw new GraphError(
        `only a tensor that holds its own values can be a parameter; this one is the result of ${this.op}`,
        {
          value: this.op,
          expected: "a tensor made by context.tensor",
        },
      );
    }
    this.native.lib.ggml_set_param(this.unsafePointer);
    return this;
  }

  /** Marks it as a loss, from which gradients are taken. Throws TensorShapeError and TensorTypeError unless it is one f32. C: `ggml_set_loss`. */
  setLoss(): this {
    if (this.type !== "f32") {
      throw new TensorTypeError(`a loss is of type f32, not ${this.type}`, { value: this.type, expected: "f32" });
    }
    if (this.elementCount !== 1) {
      throw new TensorShapeError(`a loss is one number, not [${this.shape.join(", ")}]; sum it first`, {
        value: this.shape,
        expected: "[1, 1, 1, 1]",
      });
    }
    this.native.lib.ggml_set_loss(this.unsafePointer);
    return this;
  }

  /** Whether its elements lie one after another, without gaps. C: `ggml_is_contiguous`. */
  get isContiguous(): boolean {
    return this.native.lib.ggml_is_contiguous(this.unsafePointer);
  }

  /** Whether it shares another one's memory. C: `ggml_is_view`. */
  get isView(): boolean {
    return this.native.lib.ggml_is_view(this.unsafePointer);
  }

  /** Whether its values have memory: its context's own, or a buffer's. C: `data`. */
  get isAllocated(): boolean {
    // One without elements may lie in a buffer at no address.
    const { data, buffer } = this.struct;
    return data !== null || buffer !== null;
  }

  /**
   * Its memory as a typed array, not copied: of the elements' type, the bits (Uint16Array) for bf16, the bytes for types that come in blocks. When the
   * context is disposed or the memory freed the array's length becomes 0.
   *
   * Throws NotAllocatedError when it has no memory, TensorLayoutError when it isn't contiguous, UnsupportedOperationError when its memory isn't the
   * processor's.
   */
  view(): TensorArray {
    return viewTensor(this);
  }

  /**
   * A copy of its values in order, whatever the memory's layout: floats of less than 32 bits and types in blocks as Float32Array. Works for every
   * memory. Throws NotAllocatedError. C: `ggml_backend_tensor_get`.
   */
  read(): TensorValues {
    return readTensor(this);
  }

  /** A copy of its bytes as they are, gaps included. Throws NotAllocatedError. */
  readBytes(): Uint8Array<ArrayBuffer> {
    return readTensorBytes(this);
  }

  /**
   * Sets its values, in order: numbers are converted to its type, and quantized where it comes in blocks. Nested arrays have its shape, the innermost being
   * its rows.
   *
   * Throws InvalidArgumentError when there are more or fewer than {@linkcode Tensor.elementCount}, for what isn't a number, and for fractions and numbers
   * out of range where the type is one of integers; NotAllocatedError when it has no memory,
   * TensorLayoutError when it isn't contiguous. C: `ggml_backend_tensor_set`.
   */
  write(values: TensorInput): this {
    writeTensor(this, values);
    return this;
  }

  /** Sets its bytes as they are. Throws as {@linkcode Tensor.write} does. */
  writeBytes(bytes: Uint8Array): this {
    writeTensorBytes(this, bytes);
    return this;
  }

  /** Sets all of its bytes to 0. Throws NotAllocatedError. C: `ggml_set_zero`. */
  zero(): this {
    dataOf(this);
    checkBufferAccess(this.native, this.unsafePointer, "fill");
    assertWritable(this);
    this.native.lib.ggml_set_zero(this.unsafePointer);
    return this;
  }

  /** Its name, type and shape, for messages: `weights f32 [64, 3]`. */
  get label(): string {
    return `${this.name || "tensor"} ${this.type} [${this.shape.slice(0, this.dimensions).join(", ")}]`;
  }

  static {
    create = (context, lifetimes, pointer) => new Tensor(context, lifetimes, pointer);
    definePicture(Tensor, "Tensor", (tensor) => `${tensor.label}${valuesPicture(tensor)}`);
  }
}

/** Whether a tensor's context is in use and wasn't reset since. */
export function isAlive(tensor: Tensor | undefined): boolean {
  try {
    tensor?.assertAlive();
    return tensor !== undefined;
  } catch {
    return false;
  }
}

/** The values of a tensor that lies in the processor's memory, for its picture: as its type and layout allow, without a copy. */
function valuesPicture(tensor: Tensor): string {
  if (!tensor.isAllocated) return ", no memory";
  const { buffer } = tensor.struct;
  if ((buffer !== null && remoteBuffers.has(buffer)) || !isOnHost(tensor)) return `, in ${bufferName(tensor)}`;
  const isLarge = tensor.elementCount > MAX_PICTURED;
  if (isLarge && (!tensor.isContiguous || !isPlain(tensor.type))) return "";
  return ` ${listPicture(isLarge ? tensor.view() : tensor.read())}`;
}

/** Larger tensors are pictured only where that takes no copy. */
const MAX_PICTURED = 1 << 16;

function isPlain(type: TypeName): boolean {
  return ["f32", "f64", "f16", "i8", "i16", "i32", "i64"].includes(type);
}

function bufferName({ native, struct: { buffer } }: Tensor): string {
  return buffer === null ? "a buffer" : native.readCString(native.lib.ggml_backend_buffer_name(buffer));
}

/** Returns the tensor at an address of a context. */
export function createTensor(
  context: GgmlContext,
  lifetimes: readonly Lifetime[],
  pointer: Pointer<"ggml_tensor">,
): Tensor {
  return create(context, lifetimes, pointer);
}
