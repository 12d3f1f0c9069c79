import type { Native, Pointer } from "../../../ffi/mod.ts";
import { UnsupportedOperationError } from "../../errors.ts";
import type { Backend } from "../backend/backend.ts";
import { tensorLabel } from "../backend/graph_check.ts";
import type { Tensor } from "../tensor/tensor.ts";

/** The nodes whose backend the program chose. */
export class Assignments {
  readonly #native: Native;
  readonly #backends = new Map<Tensor, Backend>();

  /** Begins without any. */
  constructor(native: Native) {
    this.#native = native;
  }

  /** Chooses the backend of a node. Throws UnsupportedOperationError when the backend can't compute it. */
  set(node: Tensor, backend: Backend): void {
    const { lib } = this.#native;
    const { buffer } = node.struct;
    const type = buffer === null ? null : lib.ggml_backend_buffer_get_type(buffer);
    const reaches = type === null || lib.ggml_backend_dev_supports_buft(backend.device.unsafePointer, type);
    if (!reaches || !backend.supportsOperation(node)) {
      const why = reaches ? "it doesn't compute such a node" : "it can't use the memory where the node lies";
      const label = tensorLabel(this.#native, node.unsafePointer);
      throw new UnsupportedOperationError(
        `${label} can't be assigned to ${backend.name}: ${why}; assign it to another backend`,
        { value: backend.name, expected: "a backend that can compute it" },
      );
    }
    this.#backends.set(node, backend);
  }

  /** Tells native code, which forgets them with each graph, those among a graph's tensors. */
  apply(scheduler: Pointer<"ggml_backend_sched">, tensors: ReadonlySet<Pointer<"ggml_tensor">>): void {
    for (const [node, { unsafePointer }] of this.#backends) {
      if (node.context.disposed) this.#backends.delete(node);
      else if (tensors.has(node.unsafePointer)) {
        this.#native.lib.ggml_backend_sched_set_tensor_backend(scheduler, node.unsafePointer, unsafePointer);
      }
    }
  }

  /** Forgets all. */
  clear(): void {
    this.#backends.clear();
  }
}
