import { DecodeError } from "../../../errors.ts";
import type { ContextState } from "../context_state.ts";

/** All bits of a 32-bit float but its sign, and the lowest bit of its exponent: their sum overflows into the sign when the exponent is all ones. */
const UNSIGNED = 0x7fff_ffff;
const EXPONENT_STEP = 0x0080_0000;

/**
 * Throws {@linkcode DecodeError} if a model computed logits that are NaN or Infinity, which llama.cpp's samplers can't sort. -Infinity is allowed: such a
 * token is impossible.
 */
export function assertFiniteLogits(logits: Float32Array, state: Pick<ContextState, "forget">): void {
  if (allFinite(logits)) return;
  const token = logits.findIndex((logit) => !(logit < Infinity));
  if (token < 0) return;
  // The context's memory may hold NaN too.
  state.forget();
  throw new DecodeError(
    `the model computed ${
      logits[token]
    } as the logit of token ${token}: its weights are damaged, or the scale of a LoRA adapter or control vector is too large; get the file again, or lower the scale`,
    { value: logits[token], expected: "finite logits" },
  );
}

/** On integers, since it looks at the whole vocabulary for each token. */
function allFinite(values: Float32Array): boolean {
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
  let all = 0;
  for (let index = 0; index < bits.length; index++) {
    all |= ((bits[index] as number) & UNSIGNED) + EXPONENT_STEP;
  }
  return all >= 0;
}
