import { GraphError } from "./errors.ts";
import type { TensorReference } from "./references.ts";

/** The tensors whose values are indices of a computation under way, by address, and by how many. */
const locked = new Map<bigint, number>();

/** Refuses writes to tensors until the returned function is called: their indices were checked, and ggml aborts for wrong ones. */
export function lockIndices(tensors: readonly bigint[]): () => void {
  for (const tensor of tensors) locked.set(tensor, (locked.get(tensor) ?? 0) + 1);
  let done = false;
  return () => {
    if (done) return;
    done = true;
    for (const tensor of tensors) {
      const left = (locked.get(tensor) ?? 1) - 1;
      if (left === 0) locked.delete(tensor);
      else locked.set(tensor, left);
    }
  };
}

/** Throws GraphError for a tensor whose indices a computation uses. */
export function assertWritable({ native, unsafePointer }: TensorReference): void {
  if (locked.size === 0) return;
  const { view_src } = native.structAt("ggml_tensor", unsafePointer);
  if (!locked.has(view_src ?? unsafePointer)) return;
  throw new GraphError("the tensor holds indices that a computation uses; await that before you write to it", {
    value: "computing",
    expected: "a tensor that no computation uses as indices",
  });
}
