/**
 * ggml's own GGUF contexts.
 *
 * @module
 */

import { boolean, options } from "../../../base/options.ts";
import { definePicture } from "../../../base/inspect.ts";
import { randomUUID } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { type ggml_type, type gguf_type, type Native, open, type Pointer } from "../../../ffi/mod.ts";
import { GgufWriteError, NotAllocatedError } from "../../errors.ts";
import { checkBoolean, checkOneOf, checkText, refuse } from "../../../base/check.ts";
import { checkAddress } from "../tensor/address.ts";
import { brands } from "../brands.ts";
import { bufferAt } from "../backend/buffers_in_use.ts";
import { ComputeThread } from "../backend/compute_thread.ts";
import type { GgmlContext } from "../tensor/context.ts";
import { ggufValueSizes, type GgufValueType, ggufValueTypes } from "../../gguf/types.ts";
import type { GgufInput, GgufTypedValue } from "../../gguf/values.ts";
import { replaceablePath } from "../../gguf/file_system.ts";
import { filePath, refuseWrite } from "../../gguf/writer.ts";
import { Handle, type NativeObject } from "../tensor/handle.ts";
import {
  type NativeGgufOptions,
  type NativeGgufReader,
  type ReadGguf,
  readGgufByFunction,
  readGgufBytes,
  readGgufFile,
} from "./read.ts";
import { getValue, setValue } from "./values.ts";
import { checkTensorName } from "../../gguf/layout.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { tensorTypes } from "../../gguf/tensor_types.ts";
import { checkBlocks, typeByName, type TypeName } from "../tensor/types.ts";

/** Description of a tensor of a native GGUF context. Plain data. */
export interface NativeGgufTensor {
  /** C: `gguf_get_tensor_name`. */
  readonly name: string;
  /** C: `gguf_get_tensor_type`. */
  readonly type: string;
  /** All four dimensions. C: `gguf_get_tensor_ne`. */
  readonly shape: readonly number[];
  /** C: `gguf_get_tensor_offset`. */
  readonly byteOffset: number;
  /** C: `gguf_get_tensor_size`. */
  readonly byteLength: number;
}

/** The source of the data of a tensor that is written. */
type Data = { readonly tensor: Tensor; readonly address: bigint } | { readonly bytes: Uint8Array } | undefined;

const writeSpec = options("write", { onlyHeader: boolean({ default: false }) });

/**
 * A GGUF context of ggml itself: every function of gguf.h. For files as such {@linkcode GgufFile}, {@linkcode writeGguf} and {@linkcode editGguf} do more
 * and need no native code; this is for tensors that live in ggml.
 *
 * Input is checked in TypeScript first. `gguf_init_from_file_ptr` and `gguf_write_to_file_ptr` take a `FILE *` of C's library, which JavaScript has
 * none of: give a path. C: `struct gguf_context`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { GgmlContext } from "../tensor/context.ts";
 * import { NativeGguf } from "./native_gguf.ts";
 *
 * using context = await GgmlContext.create({ dataBytes: 4096 });
 * const tensor = context.tensor("f32", [2], "numbers").write([1, 2]);
 * using gguf = await NativeGguf.empty();
 * gguf.set("general.name", "two numbers").addTensor(tensor);
 * assert.deepEqual(gguf.get("general.name"), { type: "string", value: "two numbers" });
 * assert.equal(gguf.tensor("numbers").byteLength, 8);
 * ```
 */
export class NativeGguf implements NativeObject<"gguf_context">, Disposable {
  /** The libraries that it came from. */
  readonly native: Native;
  readonly #handle: Handle<"gguf_context">;
  readonly #data = new Map<string, Data>();
  /** The tensors that were read with it; `undefined` for `tensors: "none"`. It goes with this object. */
  readonly context: GgmlContext | undefined;

  private constructor(native: Native, pointer: Pointer<"gguf_context">, context: GgmlContext | undefined) {
    checkAddress(native, pointer);
    this.native = native;
    this.context = context;
    brands.nativeGguf.add(this);
    this.#handle = new Handle({ what: "the GGUF context", pointer, free: (one) => native.lib.gguf_free(one) });
  }

  /** One without keys and tensors. C: `gguf_init_empty`. */
  static async empty(): Promise<NativeGguf> {
    const native = await open();
    return new NativeGguf(native, native.lib.gguf_init_empty() as Pointer<"gguf_context">, undefined);
  }

  /**
   * Reads a file on a native thread. Throws NotGgufError, GgufVersionError, GgufByteOrderError, GgufTruncatedError or GgufFormatError for what is wrong
   * with it, ModelNotFoundError or ModelAccessError for a file that can't be read. C: `gguf_init_from_file`.
   */
  static async fromFile(path: string | URL, options?: NativeGgufOptions): Promise<NativeGguf> {
    return NativeGguf.#of(await readGgufFile(path, options));
  }

  /** Reads bytes, on a native thread: leave them alone meanwhile. Throws as {@linkcode NativeGguf.fromFile} does. C: `gguf_init_from_buffer`. */
  static async fromBytes(bytes: Uint8Array, options?: NativeGgufOptions): Promise<NativeGguf> {
    return NativeGguf.#of(await readGgufBytes(bytes, options));
  }

  /**
   * Reads by a function, on the calling thread, which waits. Throws as {@linkcode NativeGguf.fromFile} does, and what the function throws.
   * C: `gguf_init_from_callback`.
   */
  static async fromReader(reader: NativeGgufReader, options?: NativeGgufOptions): Promise<NativeGguf> {
    return NativeGguf.#of(await readGgufByFunction(reader, options));
  }

  static #of({ native, pointer, context }: ReadGguf): NativeGguf {
    return new NativeGguf(native, pointer, context);
  }

  /** The name of a type of values, such as `"u32"`. C: `gguf_type_name`. */
  static async typeName(type: GgufValueType): Promise<string> {
    const native = await open();
    const id = ggufValueTypes.indexOf(checkOneOf("type", type, ggufValueTypes)) as gguf_type;
    return native.readCString(native.lib.gguf_type_name(id));
  }

  /** The address, for the raw layer. Throws DisposedError. */
  get unsafePointer(): Pointer<"gguf_context"> {
    return this.#handle.pointer;
  }

  /** The version of the format. C: `gguf_get_version`. */
  get version(): number {
    return this.native.lib.gguf_get_version(this.unsafePointer);
  }

  /** Alignment of each tensor's data in bytes. C: `gguf_get_alignment`. */
  get alignment(): number {
    return Number(this.native.lib.gguf_get_alignment(this.unsafePointer));
  }

  /** Offset of the data in the file that was read, in bytes. C: `gguf_get_data_offset`. */
  get dataOffset(): number {
    return Number(this.native.lib.gguf_get_data_offset(this.unsafePointer));
  }

  /** The keys in their order. C: `gguf_get_n_kv`, `gguf_get_key`. */
  get keys(): string[] {
    const { lib } = this.native;
    return Array.from(
      { length: Number(lib.gguf_get_n_kv(this.unsafePointer)) },
      (_, index) => this.native.readCString(lib.gguf_get_key(this.unsafePointer, BigInt(index))),
    );
  }

  /** Whether there is such a key. C: `gguf_find_key`. */
  has(key: string): boolean {
    return this.#find(key) >= 0n;
  }

  /**
   * A value with its type; `undefined` when there is no such key. C: `gguf_get_kv_type`, `gguf_get_val_u8`, `gguf_get_val_i8`, `gguf_get_val_u16`,
   * `gguf_get_val_i16`, `gguf_get_val_u32`, `gguf_get_val_i32`, `gguf_get_val_f32`, `gguf_get_val_u64`, `gguf_get_val_i64`, `gguf_get_val_f64`,
   * `gguf_get_val_bool`, `gguf_get_val_str`, `gguf_get_arr_type`, `gguf_get_arr_n`, `gguf_get_arr_data`, `gguf_get_arr_str`.
   */
  get(key: string): GgufTypedValue | undefined {
    const id = this.#find(key);
    return id < 0n ? undefined : getValue(this.native, this.unsafePointer, id);
  }

  /** A copy of the bytes of a value that is no string and no array; `undefined` for those and when there is no such key. C: `gguf_get_val_data`. */
  bytes(key: string): Uint8Array<ArrayBuffer> | undefined {
    const id = this.#find(key);
    if (id < 0n) return undefined;
    const { lib } = this.native;
    const type = ggufValueTypes[lib.gguf_get_kv_type(this.unsafePointer, id)];
    if (type === "string" || type === "array") return undefined;
    const data = lib.gguf_get_val_data(this.unsafePointer, id);
    return data === null || type === undefined ? undefined : this.native.copy(data, ggufValueSizes[type]);
  }

  /**
   * Sets a value; its key comes behind all others. Throws InvalidArgumentError for one that can't be set: `general.alignment` too, which ggml would write
   * and not heed. C: `gguf_set_val_u8`, `gguf_set_val_i8`, `gguf_set_val_u16`, `gguf_set_val_i16`, `gguf_set_val_u32`, `gguf_set_val_i32`,
   * `gguf_set_val_f32`, `gguf_set_val_u64`, `gguf_set_val_i64`, `gguf_set_val_f64`, `gguf_set_val_bool`, `gguf_set_val_str`, `gguf_set_arr_data`,
   * `gguf_set_arr_str`.
   */
  set(key: string, value: GgufInput): this {
    if (key === "general.alignment") this.#refuseAlignment(key);
    setValue(this.native, this.unsafePointer, key, value);
    return this;
  }

  /** Sets all the values of another one. Throws InvalidArgumentError when they are aligned differently. C: `gguf_set_kv`. */
  setAll(other: NativeGguf): this {
    brands.nativeGguf.check("the other one", other);
    if (other.alignment !== this.alignment) this.#refuseAlignment(other.alignment);
    if (other !== this) this.native.lib.gguf_set_kv(this.unsafePointer, other.unsafePointer);
    return this;
  }

  #refuseAlignment(value: unknown): never {
    return refuse("the alignment of a native GGUF context", value, `${this.alignment}; writeGguf takes any other`);
  }

  /** Removes a key; gives whether it was there. C: `gguf_remove_key`. */
  remove(key: string): boolean {
    if (key === "general.alignment" && this.has(key)) this.#refuseAlignment(key);
    return this.native.lib.gguf_remove_key(this.unsafePointer, checkText("the key", key)) >= 0n;
  }

  /** Descriptions of its tensors, in their order. C: `gguf_get_n_tensors`. */
  get tensors(): NativeGgufTensor[] {
    const count = Number(this.native.lib.gguf_get_n_tensors(this.unsafePointer));
    return Array.from({ length: count }, (_, index) => this.#describe(BigInt(index)));
  }

  /** Returns a tensor's description. Throws InvalidArgumentError when there is none of that name. C: `gguf_find_tensor`. */
  tensor(name: string): NativeGgufTensor {
    return this.#describe(this.#findTensor(name));
  }

  #describe(id: bigint): NativeGgufTensor {
    const { native, unsafePointer } = this;
    const { lib } = native;
    const type = lib.gguf_get_tensor_type(unsafePointer, id);
    return {
      name: native.readCString(lib.gguf_get_tensor_name(unsafePointer, id)),
      type: tensorTypes.get(type)?.name ?? String(type),
      shape: Array.from(
        new BigInt64Array(native.copy(lib.gguf_get_tensor_ne(unsafePointer, id) as Pointer<never>, 32).buffer),
        Number,
      ),
      byteOffset: Number(lib.gguf_get_tensor_offset(unsafePointer, id)),
      byteLength: Number(lib.gguf_get_tensor_size(unsafePointer, id)),
    };
  }

  /**
   * Adds a tensor under its name, as it is now; its values are read when the file is written. Throws InvalidArgumentError when the name is taken or
   * missing, or the tensor isn't contiguous. C: `gguf_add_tensor`.
   */
  addTensor(tensor: Tensor): this {
    brands.tensor.check("the tensor", tensor);
    const name = checkTensorName(tensor.name);
    const { lib } = this.native;
    if (lib.gguf_find_tensor(this.unsafePointer, name) >= 0n) {
      refuse("the name of the tensor", name, "a name that isn't taken");
    }
    if (!tensor.isContiguous) refuse("the tensor", `${name}, with gaps`, "a contiguous one, such as ops.cont makes");
    lib.gguf_add_tensor(this.unsafePointer, tensor.unsafePointer);
    const address = tensor.struct.data;
    this.#data.set(name, address === null ? undefined : { tensor, address });
    return this;
  }

  /** Returns a tensor another type; its data must be set anew. Throws InvalidArgumentError. C: `gguf_set_tensor_type`. */
  setTensorType(name: string, type: TypeName): this {
    const { shape } = this.tensor(name);
    const { id, blockSize } = typeByName("the type", type);
    checkBlocks("the tensor's rows", type, blockSize, shape[0] ?? 1);
    this.native.lib.gguf_set_tensor_type(this.unsafePointer, name, id as ggml_type);
    this.#data.set(name, undefined);
    return this;
  }

  /** The data of a tensor, which is kept, not copied. Throws InvalidArgumentError when it isn't as long as the tensor. C: `gguf_set_tensor_data`. */
  setTensorData(name: string, data: ArrayBufferView<ArrayBuffer>): this {
    const { byteLength } = this.tensor(name);
    if (!ArrayBuffer.isView(data) || data.byteLength !== byteLength) {
      refuse("the data", ArrayBuffer.isView(data) ? `${data.byteLength} bytes` : data, `${byteLength} bytes`);
    }
    if (!this.#data.has(name)) this.#refuseRead(name);
    const known = this.#data.get(name);
    if (known !== undefined && "tensor" in known && known.tensor.struct.buffer !== null) {
      refuse("the tensor", `${name}, whose values lie in a buffer`, "its values by tensor.write");
    }
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    if (bytes.length > 0) this.native.lib.gguf_set_tensor_data(this.unsafePointer, name, this.native.addressOf(bytes));
    this.#data.set(name, { bytes });
    return this;
  }

  #refuseRead(name: string): never {
    return refuse(
      "the tensor",
      `${name}, which was read from a file`,
      "tensors that were added; editGguf copies files",
    );
  }

  /** Bytes of the header, padding included. C: `gguf_get_meta_size`. */
  get headerByteLength(): number {
    return Number(this.native.lib.gguf_get_meta_size(this.unsafePointer));
  }

  /** The bytes of the header, padding included. C: `gguf_get_meta_data`. */
  header(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.headerByteLength);
    this.native.lib.gguf_get_meta_data(this.unsafePointer, bytes);
    return bytes;
  }

  /**
   * Writes a file on a native thread, under a name of its own that is replaced when it is whole. Throws NotAllocatedError when a tensor has no data,
   * InvalidArgumentError when tensors were read from a file and `onlyHeader` isn't set, GgufWriteError. C: `gguf_write_to_file`.
   */
  async write(path: string | URL, options?: { onlyHeader?: boolean | undefined }): Promise<void> {
    const name = filePath(path);
    const { onlyHeader } = writeSpec.check(options);
    checkBoolean("onlyHeader", onlyHeader);
    const holds = [this.#handle.retain(), ...(onlyHeader ? [] : this.#holdData())];
    const target = await replaceablePath(name).catch((cause: unknown) => {
      for (const release of holds) release();
      return refuseWrite(name, cause);
    });
    const temporary = `${target}.${randomUUID().slice(0, 8)}.part`;
    const thread = new ComputeThread(this.native);
    let done = false;
    try {
      const { unsafePointer } = this;
      if (!await thread.run(holds, (one) => one.call("gguf_write_to_file", unsafePointer, temporary, onlyHeader))) {
        throw new GgufWriteError(`${target} can't be written; check that its folder exists and may be written to`, {
          value: target,
          expected: "a file that may be written",
        });
      }
      await rename(temporary, target).catch((cause: unknown) => refuseWrite(target, cause));
      done = true;
    } finally {
      thread.end();
      if (!done) await rm(temporary, { force: true }).catch(() => {});
    }
  }

  /** Keeps what is written. Throws when a tensor has no data any more. */
  #holdData(): (() => void)[] {
    const holds: (() => void)[] = [];
    try {
      for (const { name, byteLength } of this.tensors) {
        if (!this.#data.has(name)) this.#refuseRead(name);
        const data = this.#data.get(name);
        const lost = data === undefined || ("tensor" in data && data.tensor.struct.data !== data.address);
        if (lost && byteLength > 0) {
          throw new NotAllocatedError(`the tensor ${name} has no data; allocate it before addTensor, or set its data`, {
            value: name,
            expected: "a tensor with data",
          });
        }
        if (data === undefined || !("tensor" in data)) continue;
        holds.push(brands.context.of(data.tensor.context).retain());
        const { buffer } = data.tensor.struct;
        const held = buffer === null ? undefined : bufferAt(buffer)?.retain();
        if (held !== undefined) holds.push(held);
      }
      return holds;
    } catch (error) {
      holds.forEach((release) => release());
      throw error;
    }
  }

  #find(key: string): bigint {
    const text = checkText("the key", key);
    return text.includes("\0") ? -1n : this.native.lib.gguf_find_key(this.unsafePointer, text);
  }

  #findTensor(name: string): bigint {
    const text = checkText("the name of the tensor", name);
    const id = text.includes("\0") ? -1n : this.native.lib.gguf_find_tensor(this.unsafePointer, text);
    return id >= 0n ? id : refuse("the name of the tensor", name, "the name of a tensor that is there");
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#handle.disposed;
  }

  /** Frees it with the tensors that were read; a second call does nothing. C: `gguf_free`. */
  dispose(): void {
    this.#handle.dispose();
    this.context?.dispose();
    this.#data.clear();
  }

  /** {@linkcode NativeGguf.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  static {
    definePicture(
      NativeGguf,
      "NativeGguf",
      (gguf) => `version ${gguf.version}, ${gguf.keys.length} keys, ${gguf.tensors.length} tensors`,
    );
  }
}
