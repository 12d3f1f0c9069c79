import { definePicture } from "../../../base/inspect.ts";
import { checkAddress } from "../tensor/address.ts";
import type { Native, Pointer, StructView } from "../../../ffi/mod.ts";
import type { ggml_tensor } from "../../../ffi/mod.ts";
import { arrayOver, type TensorArray } from "../tensor/view.ts";
import { type Shape, typeById, type TypeName } from "../tensor/types.ts";

let create: (native: Native, pointer: Pointer<"ggml_tensor">) => JsNode;

/** A node of a graph, or an operand, as a JavaScript backend sees it; valid during the call only. */
export class JsNode {
  /** Its shape, four dimensions, the fastest one first. C: `ne`. */
  readonly shape: Shape;
  /** Bytes from one element, row, matrix and cube to the next. C: `nb`. */
  readonly strides: Shape;
  /** The type of its elements. */
  readonly type: TypeName;
  readonly #native: Native;
  readonly #pointer: Pointer<"ggml_tensor">;
  readonly #view: StructView<ggml_tensor>;

  private constructor(native: Native, pointer: Pointer<"ggml_tensor">) {
    checkAddress(native, pointer);
    this.#native = native;
    this.#pointer = pointer;
    this.#view = native.structAt("ggml_tensor", pointer);
    const { ne, nb, type } = this.#view;
    this.shape = Array.from(ne, Number) as unknown as Shape;
    this.strides = Array.from(nb, Number) as unknown as Shape;
    this.type = typeById(type)?.name ?? "f32";
  }

  /** Its name. C: `ggml_get_name`. */
  get name(): string {
    return this.#native.readCString(this.#native.lib.ggml_get_name(this.#pointer));
  }

  /** Its operator, or which of the unary or gated ones, such as `"ADD"` or `"SILU"`. C: `ggml_op_desc`. */
  get op(): string {
    return this.#native.readCString(this.#native.lib.ggml_op_desc(this.#pointer));
  }

  /** The operator's parameters, whose meaning is the operator's. C: `op_params`. */
  get parameters(): Int32Array<ArrayBufferLike> {
    return this.#view.op_params;
  }

  /** Its operands. */
  get sources(): JsNode[] {
    return Array.from(this.#view.src).filter((source) => source !== 0n)
      .map((source) => createJsNode(this.#native, source as Pointer<"ggml_tensor">));
  }

  /** Whether its elements lie one after another, without gaps. C: `ggml_is_contiguous`. */
  get isContiguous(): boolean {
    return this.#native.lib.ggml_is_contiguous(this.#pointer);
  }

  /**
   * Its memory from its first to its last byte, not copied, as an array of its type (bytes for types in blocks): where it isn't contiguous its elements lie
   * as `strides` says. Empty while it has no memory, as when a backend is asked what it supports.
   */
  get data(): TensorArray {
    const { data } = this.#view;
    const length = data === null ? 0 : Number(this.#native.lib.ggml_nbytes(this.#pointer));
    return arrayOver(this.type, data === null ? new Uint8Array(0) : this.#native.view(data, length));
  }

  static {
    create = (native, pointer) => new JsNode(native, pointer);
    definePicture(
      JsNode,
      "JsNode",
      (node) => `${node.name || "node"} ${node.op} ${node.type} [${node.shape.join(", ")}]`,
    );
  }
}

/** Returns the node at an address. */
export function createJsNode(native: Native, pointer: Pointer<"ggml_tensor">): JsNode {
  return create(native, pointer);
}
