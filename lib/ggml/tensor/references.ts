import type { NativeObject } from "./handle.ts";

/**
 * A tensor as the backends take it: {@linkcode NativeObject.unsafePointer} throws once its context is gone.
 *
 * C: `struct ggml_tensor`.
 */
export type TensorReference = NativeObject<"ggml_tensor">;

/**
 * A graph as the backends take it.
 *
 * C: `struct ggml_cgraph`.
 */
export interface GraphReference extends NativeObject<"ggml_cgraph"> {
  /** Keeps the graph, its context and its tensors in memory until the returned function is called: work on another thread uses them. */
  retain(): () => void;
}
