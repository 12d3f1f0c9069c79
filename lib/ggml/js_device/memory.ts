import type { CallbackName, Native, NativeCallback, Pointer, StructView } from "../../../ffi/mod.ts";
import type { ggml_backend_buffer_i, ggml_backend_buffer_type } from "../../../ffi/mod.ts";
import { ggml_status } from "../../../ffi/mod.ts";
import type { Callbacks } from "../../../ffi/tables/callbacks.ts";

/** Creates a C function that lives as long as the device. */
export type MakeCallback = <N extends CallbackName>(type: N, call: Callbacks[N]) => Pointer<N>;

/** Tensors start at multiples of this. */
const ALIGNMENT = 64;

/** The memory of a JavaScript device: JavaScript's own, which other backends reach only through functions of this one. */
export class JsMemory {
  /** The device's buffer type. */
  readonly type: StructView<ggml_backend_buffer_type>;
  readonly #native: Native;
  readonly #functions: StructView<ggml_backend_buffer_i>;
  /** Arrays by the number that stands for each as a buffer's context. */
  readonly #blocks = new Map<bigint, Uint8Array<ArrayBuffer>>();
  readonly #freed: () => void;
  #last = 0n;

  /** Memory of a device; `freed` is called when a buffer was given back. */
  constructor(native: Native, name: Pointer<"char">, make: MakeCallback, freed: () => void) {
    this.#native = native;
    this.#freed = freed;
    this.#functions = this.#bufferFunctions(make);
    this.type = native.struct("ggml_backend_buffer_type");
    Object.assign(this.type.iface, {
      get_name: make("ggml_backend_buffer_type_i.get_name", () => name),
      alloc_buffer: make("ggml_backend_buffer_type_i.alloc_buffer", (type, size) => this.#alloc(type, Number(size))),
      get_alignment: make("ggml_backend_buffer_type_i.get_alignment", () => BigInt(ALIGNMENT)),
      get_max_size: make("ggml_backend_buffer_type_i.get_max_size", () => 2n ** 32n),
      get_alloc_size: make(
        "ggml_backend_buffer_type_i.get_alloc_size",
        (_, tensor) => tensor === null ? 0n : native.lib.ggml_nbytes(tensor),
      ),
      is_host: make("ggml_backend_buffer_type_i.is_host", () => false),
    });
  }

  /** Number of buffers. */
  get count(): number {
    return this.#blocks.size;
  }

  #alloc(type: Pointer<"ggml_backend_buffer_type"> | null, size: number): Pointer<"ggml_backend_buffer"> | null {
    if (type === null || size > 2 ** 32) return null;
    const id = ++this.#last;
    this.#blocks.set(id, this.#native.allocate(size, ALIGNMENT));
    return this.#native.lib.ggml_backend_buffer_init(type, this.#functions, id as Pointer, BigInt(size));
  }

  #blockOf(buffer: Pointer<"ggml_backend_buffer"> | null): Uint8Array<ArrayBuffer> {
    const context = buffer === null ? null : this.#native.structAt("ggml_backend_buffer", buffer).context;
    return this.#blocks.get(context ?? 0n) ?? new Uint8Array(0);
  }

  #free(buffer: Pointer<"ggml_backend_buffer"> | null): void {
    if (buffer === null) return;
    this.#blocks.delete(this.#native.structAt("ggml_backend_buffer", buffer).context ?? 0n);
    this.#freed();
  }

  /** The bytes of a tensor from `offset` on. */
  bytes(tensor: Pointer<"ggml_tensor"> | null, offset: bigint, size: bigint): Uint8Array<ArrayBuffer> {
    const data = tensor === null ? null : this.#native.structAt("ggml_tensor", tensor).data;
    if (data === null) return new Uint8Array(0);
    return this.#native.view(this.#native.offset(data, Number(offset)), Number(size));
  }

  /** Writes into a tensor. */
  set(tensor: Pointer<"ggml_tensor"> | null, data: Pointer<"void"> | null, offset: bigint, size: bigint): void {
    if (data !== null) this.bytes(tensor, offset, size).set(this.#native.view(data, Number(size)));
  }

  /** Reads from a tensor. */
  get(tensor: Pointer<"ggml_tensor"> | null, data: Pointer<"void"> | null, offset: bigint, size: bigint): void {
    if (data !== null) this.#native.view(data, Number(size)).set(this.bytes(tensor, offset, size));
  }

  #bufferFunctions(make: MakeCallback): StructView<ggml_backend_buffer_i> {
    const native = this.#native;
    type Move = JsMemory["set"];
    const rows =
      (move: Move): Callbacks["ggml_backend_buffer_i.set_tensor_2d"] =>
      (_, tensor, data, offset, size, count, tensorStride, dataStride) => {
        for (let row = 0; row < Number(count) && data !== null; row++) {
          const at = BigInt(offset) + BigInt(row) * BigInt(tensorStride);
          move(tensor, native.offset(data, row * Number(dataStride)), at, size);
        }
      };
    const set: Move = (...args) => this.set(...args);
    const get: Move = (...args) => this.get(...args);
    return Object.assign(native.struct("ggml_backend_buffer_i"), {
      free_buffer: make("ggml_backend_buffer_i.free_buffer", (buffer) => this.#free(buffer)),
      get_base: make("ggml_backend_buffer_i.get_base", (buffer) => native.addressOf(this.#blockOf(buffer))),
      init_tensor: make("ggml_backend_buffer_i.init_tensor", () => ggml_status.GGML_STATUS_SUCCESS),
      memset_tensor: make("ggml_backend_buffer_i.memset_tensor", (_, tensor, value, offset, size) => {
        this.bytes(tensor, offset, size).fill(value);
      }),
      set_tensor: make("ggml_backend_buffer_i.set_tensor", (_, ...args) => set(...args)),
      get_tensor: make("ggml_backend_buffer_i.get_tensor", (_, ...args) => get(...args)),
      set_tensor_2d: make("ggml_backend_buffer_i.set_tensor_2d", rows(set)),
      get_tensor_2d: make("ggml_backend_buffer_i.get_tensor_2d", rows(get)),
      // The caller goes by get and set then.
      cpy_tensor: make("ggml_backend_buffer_i.cpy_tensor", () => false),
      clear: make("ggml_backend_buffer_i.clear", (buffer, value) => void this.#blockOf(buffer).fill(value)),
      reset: make("ggml_backend_buffer_i.reset", () => {}),
    });
  }
}

/** The callbacks of a device, kept as long as native code may call it. */
export class CallbackSet {
  readonly #native: Native;
  readonly #made: NativeCallback[] = [];
  readonly #failed: (error: unknown) => void;

  /** An empty set; what a function throws goes to `failed`. */
  constructor(native: Native, failed: (error: unknown) => void) {
    this.#native = native;
    this.#failed = failed;
  }

  /** Creates a callback. When it throws, native code gets `otherwise`. */
  make<N extends CallbackName>(type: N, call: Callbacks[N], otherwise: unknown): Pointer<N> {
    const run = call as (...values: unknown[]) => unknown;
    const guarded = (...values: unknown[]): unknown => {
      try {
        return run(...values);
      } catch (error) {
        this.#failed(error);
        return otherwise;
      }
    };
    const made = this.#native.callback(type, guarded as unknown as Callbacks[N]);
    this.#made.push(made);
    return made.pointer;
  }

  /** Ends all of them. */
  close(): void {
    for (const one of this.#made.splice(0)) one.close();
  }
}
