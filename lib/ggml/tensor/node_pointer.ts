import type { Pointer } from "../../../ffi/mod.ts";
import { brands } from "../brands.ts";
import type { TensorReference } from "./references.ts";

/**
 * The address of a node for native code that looks at its sources. Throws InvalidArgumentError unless it is a tensor, DisposedError once its context or that
 * of a source was disposed or reset.
 */
export function nodePointer(node: TensorReference): Pointer<"ggml_tensor"> {
  const { context, unsafePointer } = brands.tensor.check("node", node);
  brands.context.of(context).assertSourcesAlive(unsafePointer);
  return unsafePointer;
}
