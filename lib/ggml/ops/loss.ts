/**
 * Losses, and the steps of optimizers.
 *
 * @module
 */

import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { InvalidArgumentError } from "../../../base/errors.ts";
import { check } from "./check.ts";

/**
 * The mean over the rows of the cross entropy between the softmax of `logits` and `labels`, which are probabilities; one number. Both f32 of one shape,
 * contiguous from the rows on.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError, ContextFullError, DisposedError. C: `ggml_cross_entropy_loss`.
 */
export function crossEntropyLoss(context: GgmlContext, logits: Tensor, labels: Tensor): Tensor {
  return check("crossEntropyLoss", context, { logits, labels })
    .type("logits", "f32").type("labels", "f32").sameShape("labels", "logits").contiguousFromRows("logits", "labels")
    .build((into) => context.native.lib.ggml_cross_entropy_loss(into, logits.unsafePointer, labels.unsafePointer));
}

/** The gradient of {@linkcode crossEntropyLoss}: from that of its result, one number, and its operands, contiguous. C: `ggml_cross_entropy_loss_back`. */
export function crossEntropyLossBack(context: GgmlContext, gradient: Tensor, logits: Tensor, labels: Tensor): Tensor {
  return check("crossEntropyLossBack", context, { gradient, logits, labels })
    .type("gradient", "f32").type("logits", "f32").type("labels", "f32")
    .shape("gradient", [1]).sameShape("labels", "logits").contiguous("gradient", "logits", "labels")
    .build((into) =>
      context.native.lib.ggml_cross_entropy_loss_back(
        into,
        gradient.unsafePointer,
        logits.unsafePointer,
        labels.unsafePointer,
      )
    );
}

function assertParam(op: string, a: Tensor): void {
  if (a.flags.includes("param")) return;
  throw new InvalidArgumentError(`${op}: a isn't a parameter; mark it by setParam()`, {
    value: a.flags,
    expected: "a parameter",
  });
}

/**
 * One step of AdamW: changes the parameter `a`, and its momenta `m` and `v`, in place. All f32, contiguous, of one shape; `settings` are seven numbers: the rate,
 * beta1, beta2, epsilon, the decay of weights, 1 / (1 − beta1^t), 1 / (1 − beta2^t). As {@linkcode crossEntropyLoss}. C: `ggml_opt_step_adamw`.
 */
export function stepAdamW(
  context: GgmlContext,
  a: Tensor,
  gradient: Tensor,
  m: Tensor,
  v: Tensor,
  settings: Tensor,
): Tensor {
  const checked = check("stepAdamW", context, { a, gradient, m, v, settings });
  assertParam("stepAdamW", a);
  for (const name of ["gradient", "m", "v"] as const) checked.type(name, "f32").sameShape(name, "a").contiguous(name);
  return checked.type("a", "f32").contiguous("a").type("settings", "f32").shape("settings", [7]).contiguous("settings")
    .build((into) =>
      context.native.lib.ggml_opt_step_adamw(
        into,
        a.unsafePointer,
        gradient.unsafePointer,
        m.unsafePointer,
        v.unsafePointer,
        settings.unsafePointer,
      )
    );
}

/**
 * One step downhill: changes the parameter `a` in place. All f32, contiguous, of one shape; `settings` are two numbers: the rate and the decay of weights. As
 * {@linkcode crossEntropyLoss}. C: `ggml_opt_step_sgd`.
 */
export function stepSgd(context: GgmlContext, a: Tensor, gradient: Tensor, settings: Tensor): Tensor {
  const checked = check("stepSgd", context, { a, gradient, settings });
  assertParam("stepSgd", a);
  return checked.type("a", "f32").contiguous("a").type("gradient", "f32").sameShape("gradient", "a").contiguous(
    "gradient",
  )
    .type("settings", "f32").shape("settings", [2]).contiguous("settings")
    .build((into) =>
      context.native.lib.ggml_opt_step_sgd(into, a.unsafePointer, gradient.unsafePointer, settings.unsafePointer)
    );
}
