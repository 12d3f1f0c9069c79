import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { ControlVectorError } from "../../errors.ts";
import type { ControlVectorData } from "../adapters/control_vectors.ts";
import { contextState } from "./context_state.ts";
import { loggedErrors } from "../../support/native_log.ts";

/** Input of the task. */
export interface ControlVectorInput {
  /** The context. */
  context: Pointer<"llama_context">;
  /** The length of a direction. */
  embeddingSize: number;
  /** The directions; `undefined` removes them. */
  vectors: ControlVectorData | undefined;
}

/** Sets or removes the control vectors of a context, and clears its memory, which was computed without them. */
export function setControlVectors(
  { context, embeddingSize, vectors }: ControlVectorInput,
  { native, lib }: TaskContext,
): void {
  const state = contextState(context);
  const mark = native.logMark();
  const code = vectors === undefined
    ? lib.llama_set_adapter_cvec(context, null, 0n, embeddingSize, -1, -1)
    : lib.llama_set_adapter_cvec(
      context,
      vectors.data as Float32Array<ArrayBuffer>,
      BigInt(vectors.data.length),
      embeddingSize,
      vectors.layerStart,
      vectors.layerEnd,
    );
  state.forget();
  if (code === 0) return;
  throw new ControlVectorError(
    `llama.cpp refused the control vectors: ${loggedErrors(native, mark) ?? `it gave ${code}`}`,
    {
      value: code,
      expected: "0",
    },
  );
}
