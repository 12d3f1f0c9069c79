import { GraphError } from "../tensor/errors.ts";
import type { TensorReference } from "../tensor/references.ts";
import { type MemoryRange, overlaps, rangeOf } from "./range.ts";

/** The memory of the indices of computations under way. */
const locked = new Set<MemoryRange>();

/** Refuses writes to memory until the returned function is called: the indices in it were checked, and ggml goes where they point. */
export function lockIndices(ranges: readonly MemoryRange[]): () => void {
  // Copies, since two computations may lock the same.
  const own = ranges.map((range) => ({ ...range }));
  for (const range of own) locked.add(range);
  return () => {
    for (const range of own) locked.delete(range);
  };
}

/** Throws GraphError for a tensor in whose memory lie indices that a computation uses, be they another tensor's. */
export function assertWritable({ native, unsafePointer }: TensorReference): void {
  if (locked.size > 0) assertUnlocked(rangeOf(native, unsafePointer));
}

/** Throws as {@linkcode assertWritable} for any memory. */
export function assertUnlocked(range: MemoryRange | undefined): void {
  if (range === undefined) return;
  for (const one of locked) {
    if (!overlaps(one, range)) continue;
    throw new GraphError("the tensor holds indices that a computation uses; await that before you write to it", {
      value: "computing",
      expected: "memory that no computation uses as indices",
    });
  }
}
