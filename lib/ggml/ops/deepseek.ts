/**
 * Operators that only DeepSeek's models have. All results are of f32.
 *
 * @module
 */

import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { check, shapeOf } from "./check.ts";
import { cpuTypes } from "./cpu_types.ts";
import { INT_MAX } from "./options.ts";

/**
 * Scores of keys: `q` [d, heads, tokens, n] and `weights` [heads, tokens, 1, n] of f32, `k` [d, 1, keys, n], `mask` [keys, tokens, 1, n'] of f16, where
 * `n'` divides `n`, give [keys, tokens, 1, n]: the weighted sum over the heads of the products above 0, and the mask.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError, ContextFullError, DisposedError. C: `ggml_lightning_indexer`.
 */
export function lightningIndexer(context: GgmlContext, q: Tensor, k: Tensor, weights: Tensor, mask: Tensor): Tensor {
  const [d, heads, tokens, n] = shapeOf("lightningIndexer", "q", q);
  const keys = shapeOf("lightningIndexer", "k", k)[2];
  return check("lightningIndexer", context, { q, k, weights, mask })
    .type("q", "f32").type("k", ...cpuTypes(context).readable).type("weights", "f32").type("mask", "f16")
    .shape("k", [d, 1, undefined, n], "as q has").shape("weights", [heads, tokens, 1, n], "as q has")
    .shape("mask", [keys, tokens, 1, undefined]).require(
      n % mask.shape[3] === 0,
      "mask",
      3,
      `a divisor of ${n}, q's dimension 3`,
    )
    .elementsTogether("q", "k", "weights", "mask")
    .build((into) =>
      context.native.lib.ggml_lightning_indexer(
        into,
        q.unsafePointer,
        k.unsafePointer,
        weights.unsafePointer,
        mask.unsafePointer,
      )
    );
}

/**
 * Combines four streams: `mixes` [24, tokens], `scale` [3 or more], `base` [24] of f32 give [4, 4, tokens]: a softmax over the first dimension,
 * then normalized over both in turn, `iterations` times. As {@linkcode lightningIndexer}. C: `ggml_dsv4_hc_comb`.
 */
export function hyperCombine(
  context: GgmlContext,
  mixes: Tensor,
  scale: Tensor,
  base: Tensor,
  epsilon: number,
  iterations: number,
): Tensor {
  const checked = check("hyperCombine", context, { mixes, scale, base })
    .type("mixes", "f32").type("scale", "f32").type("base", "f32")
    .shape("mixes", [24, undefined], "for four streams").shape("base", [24])
    .shape("scale", [undefined]).require(scale.shape[0] >= 3, "scale", 0, "at least 3");
  const eps = checked.number("epsilon", epsilon, { min: 0, max: 1 });
  const rounds = checked.integer("iterations", iterations, { min: 1, max: INT_MAX });
  return checked.build((into) =>
    context.native.lib.ggml_dsv4_hc_comb(
      into,
      mixes.unsafePointer,
      scale.unsafePointer,
      base.unsafePointer,
      eps,
      rounds,
    )
  );
}

/** Streams summed up with weights: `x` [n, streams, tokens], `weights` [streams, tokens] of f32 give [n, tokens]. As {@linkcode lightningIndexer}. C: `ggml_dsv4_hc_pre`. */
export function hyperBefore(context: GgmlContext, x: Tensor, weights: Tensor): Tensor {
  return check("hyperBefore", context, { x, weights })
    .type("x", "f32").type("weights", "f32").dimensions("x", 3)
    .shape("weights", [x.shape[1], x.shape[2]])
    .build((into) => context.native.lib.ggml_dsv4_hc_pre(into, x.unsafePointer, weights.unsafePointer));
}

/** `scale` times the sum of streams, each element by the sigmoid of its gate: `x` and `gate` [n, streams, tokens] of f32 give [n, tokens]. C: `ggml_dsv4_hc_pre_gated`. */
export function hyperBeforeGated(context: GgmlContext, x: Tensor, gate: Tensor, scale: number): Tensor {
  const checked = check("hyperBeforeGated", context, { x, gate })
    .type("x", "f32").type("gate", "f32").dimensions("x", 3).sameShape("gate", "x");
  const factor = checked.number("scale", scale);
  return checked.build((into) =>
    context.native.lib.ggml_dsv4_hc_pre_gated(into, x.unsafePointer, gate.unsafePointer, factor)
  );
}

/**
 * A result put back into the streams: `x` [n, tokens], `residual` [n, streams, tokens], `post` [streams, tokens] and, if given, `comb`
 * [streams, streams, tokens] of f32 give [n, streams, tokens]. As {@linkcode lightningIndexer}. C: `ggml_dsv4_hc_post`.
 */
export function hyperAfter(context: GgmlContext, x: Tensor, residual: Tensor, post: Tensor, comb?: Tensor): Tensor {
  const [n, tokens] = shapeOf("hyperAfter", "x", x);
  const streams = shapeOf("hyperAfter", "residual", residual)[1];
  return check("hyperAfter", context, { x, residual, post, comb }, ["comb"])
    .type("x", "f32").type("residual", "f32").type("post", "f32").type("comb", "f32")
    .dimensions("x", 2).shape("residual", [n, undefined, tokens], "as x has")
    .shape("post", [streams, tokens]).shape("comb", [streams, streams, tokens])
    .build((into) =>
      context.native.lib.ggml_dsv4_hc_post(
        into,
        x.unsafePointer,
        residual.unsafePointer,
        post.unsafePointer,
        comb?.unsafePointer ?? null,
      )
    );
}
