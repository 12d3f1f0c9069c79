import { DisposedError } from "../../../base/errors.ts";
import { definePicture } from "../../../base/inspect.ts";
import { checkAddress } from "../tensor/address.ts";
import type { Native, Owner, Pointer, StructView } from "../../../ffi/mod.ts";
import type { ggml_tensor } from "../../../ffi/mod.ts";
import { arrayOver, type TensorArray } from "../tensor/view.ts";
import { type Shape, typeById, type TypeName } from "../tensor/types.ts";

let create: (native: Native, pointer: Pointer<"ggml_tensor">, call: Call) => JsNode;

/** The call of a device's function that a node is lent to. */
class Call implements Owner {
  isOver = false;

  assertAlive(): void {
    if (!this.isOver) return;
    throw new DisposedError("the node was lent for one call of the device's function; copy what is needed later", {
      value: "the node",
      expected: "a node of the call that is under way",
    });
  }
}

/**
 * A node of a graph, or an operand, as a JavaScript backend sees it. It is there during the call only: then its properties throw DisposedError, but for
 * `shape`, `strides` and `type`, which are copies, and arrays that it gave show memory that may be gone.
 */
export class JsNode {
  /** Its shape, four dimensions, the fastest one first. C: `ne`. */
  readonly shape: Shape;
  /** Bytes from one element, row, matrix and cube to the next. C: `nb`. */
  readonly strides: Shape;
  /** The type of its elements. */
  readonly type: TypeName;
  readonly #native: Native;
  readonly #place: Pointer<"ggml_tensor">;
  readonly #view: StructView<ggml_tensor>;
  readonly #call: Call;

  private constructor(native: Native, pointer: Pointer<"ggml_tensor">, call: Call) {
    checkAddress(native, pointer);
    this.#native = native;
    this.#place = pointer;
    this.#call = call;
    this.#view = native.structAt("ggml_tensor", pointer, call);
    const { ne, nb, type } = this.#view;
    this.shape = Array.from(ne, Number) as unknown as Shape;
    this.strides = Array.from(nb, Number) as unknown as Shape;
    this.type = typeById(type)?.name ?? "f32";
  }

  get #pointer(): Pointer<"ggml_tensor"> {
    this.#call.assertAlive();
    return this.#place;
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
      .map((source) => create(this.#native, source as Pointer<"ggml_tensor">, this.#call));
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
    create = (native, pointer, call) => new JsNode(native, pointer, call);
    definePicture(
      JsNode,
      "JsNode",
      (node) => `${node.name || "node"} ${node.op} ${node.type} [${node.shape.join(", ")}]`,
    );
  }
}

/** Lends the node at an address to a function, and its operands with it. */
export function lendJsNode<T>(native: Native, pointer: Pointer<"ggml_tensor">, use: (node: JsNode) => T): T {
  const call = new Call();
  try {
    return use(create(native, pointer, call));
  } finally {
    call.isOver = true;
  }
}
