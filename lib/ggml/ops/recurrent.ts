/**
 * Operators of recurrent models: state spaces, RWKV, linear attention. All of f32.
 *
 * @module
 */

import { integer, number, options, type RulesOf } from "../../../base/options.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { check, shapeOf } from "./check.ts";
import { FLOAT, INT_MAX, tensor } from "./options.ts";

const operand = tensor({ required: true });
const snapshots = integer({ min: 1, max: INT_MAX, default: 1 });

/**
 * The convolution of a state space model: `sx` [k − 1 + tokens, inner, n], `c` [k, inner] give [inner, tokens, n]; contiguous.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError, InvalidArgumentError, ContextFullError, DisposedError. C: `ggml_ssm_conv`.
 */
export function ssmConv(context: GgmlContext, sx: Tensor, c: Tensor): Tensor {
  const [k] = shapeOf("ssmConv", "c", c);
  return check("ssmConv", context, { sx, c })
    .type("sx", "f32").type("c", "f32").dimensions("sx", 3).dimensions("c", 2)
    .dimension("c", 1, sx.shape[1], "as sx has")
    .require(sx.shape[0] >= k, "sx", 0, `at least ${k}, c's dimension 0`)
    .contiguous("sx", "c")
    .build((into) => context.native.lib.ggml_ssm_conv(into, sx.unsafePointer, c.unsafePointer));
}

/** The operands of {@linkcode ssmScan}. */
export interface SsmScanOperands {
  /** The states [state, dim, heads, sequences or more], contiguous. */
  s: Tensor;
  /** [dim, heads, tokens, n]. */
  x: Tensor;
  /** [heads, tokens, n], contiguous. */
  dt: Tensor;
  /** [1, heads], or [state, heads] with one snapshot, contiguous. C: `A`. */
  a: Tensor;
  /** [state, groups, tokens, n]; `groups` divides `heads`. C: `B`. */
  b: Tensor;
  /** As `b`. C: `C`. */
  c: Tensor;
  /** For each sequence the number of its state, i32 [n]. */
  ids: Tensor;
  /** Number of states that are kept, the last ones first. Default 1. C: `K`. */
  snapshots?: number | undefined;
}

/** {@linkcode SsmScanOperands}, declared. */
const ssmScanSpec = options(
  "ssmScan",
  {
    s: operand,
    x: operand,
    dt: operand,
    a: operand,
    b: operand,
    c: operand,
    ids: operand,
    snapshots,
  } satisfies RulesOf<SsmScanOperands>,
);

/**
 * The scan of a state space model: gives `x`'s shape of results and after them the states, in one row. As {@linkcode ssmConv}; computing with an id
 * outside of `s` throws InvalidArgumentError. C: `ggml_ssm_scan`.
 */
export function ssmScan(context: GgmlContext, operands: SsmScanOperands): Tensor {
  const { snapshots: k, ...tensors } = ssmScanSpec.checkOf("ssmScan", operands);
  const { s, x, dt, a, b, c, ids } = tensors;
  const checked = check("ssmScan", context, tensors);
  const [state] = s.shape;
  const [dim, heads, tokens, n] = x.shape;
  const groups = b.shape[1];
  checked
    .type("s", "f32").type("x", "f32").type("dt", "f32").type("a", "f32").type("b", "f32").type("c", "f32").type(
      "ids",
      "i32",
    )
    .shape("s", [undefined, dim, heads, undefined]).shape("dt", [heads, tokens, n])
    .shape("a", [a.shape[0] === 1 || k > 1 ? 1 : state, heads])
    .shape("b", [state, undefined, tokens, n]).require(heads % groups === 0, "b", 1, `a divisor of ${heads}, the heads`)
    .sameShape("c", "b").shape("ids", [n])
    .contiguous("s", "dt", "a", "ids").elementsTogether("x", "b", "c");
  for (const [name, tensor] of Object.entries({ x, b, c })) {
    checked.layout(tensor.strides[1] === tensor.shape[0] * 4, name as "x", "a tensor whose rows follow each other");
  }
  checked.result([x.elementCount + k * state * dim * heads * n], "f32");
  return checked.build((into) =>
    context.native.lib.ggml_ssm_scan(
      into,
      s.unsafePointer,
      x.unsafePointer,
      dt.unsafePointer,
      a.unsafePointer,
      b.unsafePointer,
      c.unsafePointer,
      ids.unsafePointer,
      BigInt(k),
    )
  );
}

/** The operands of {@linkcode rwkvWkv6}; contiguous. */
export interface Wkv6Operands {
  /** [size, heads, tokens]. */
  k: Tensor;
  /** As `k`. */
  v: Tensor;
  /** As `k`. */
  r: Tensor;
  /** [size, heads]. C: `tf`. */
  timeFirst: Tensor;
  /** As `k`. C: `td`. */
  timeDecay: Tensor;
  /** [size · size · heads, n]; `n` divides `tokens`. */
  state: Tensor;
}

/** {@linkcode Wkv6Operands}, declared. */
const wkv6Spec = options(
  "rwkvWkv6",
  {
    k: operand,
    v: operand,
    r: operand,
    timeFirst: operand,
    timeDecay: operand,
    state: operand,
  } satisfies RulesOf<Wkv6Operands>,
);

type Many = Record<string, Tensor>;

/** Checks that tensors are [size, heads, tokens] and the state is [size · size · heads, n]. */
function checkRecurrent(op: string, context: GgmlContext, operands: Many, first: string, state: Tensor) {
  const checked = check(op, context, operands);
  const [size, heads, tokens] = operands[first]?.shape ?? [0, 0, 0];
  for (const name of Object.keys(operands)) {
    checked.type(name, "f32").contiguous(name);
    if (name !== "state" && name !== "timeFirst") checked.shape(name, [size, heads, tokens], `as ${first} has`);
  }
  checked.shape("state", [size * size * heads, undefined]);
  return checked.require(tokens % state.shape[1] === 0, "state", 1, `a divisor of ${tokens}, the tokens`);
}

/** RWKV-6's mixing of time: gives [size · heads, tokens + size · n]: the results, then the state. As {@linkcode ssmConv}. C: `ggml_rwkv_wkv6`. */
export function rwkvWkv6(context: GgmlContext, operands: Wkv6Operands): Tensor {
  const tensors = wkv6Spec.checkOf("rwkvWkv6", operands);
  const { k, v, r, timeFirst, timeDecay, state } = tensors;
  return checkRecurrent("rwkvWkv6", context, tensors, "k", state)
    .shape("timeFirst", [k.shape[0], k.shape[1]])
    .build((into) =>
      context.native.lib.ggml_rwkv_wkv6(
        into,
        k.unsafePointer,
        v.unsafePointer,
        r.unsafePointer,
        timeFirst.unsafePointer,
        timeDecay.unsafePointer,
        state.unsafePointer,
      )
    );
}

/** The operands of {@linkcode gatedLinearAttention}; contiguous. */
export interface GatedLinearOperands {
  /** [size, heads, tokens]. */
  k: Tensor;
  /** As `k`. */
  v: Tensor;
  /** As `k`. */
  q: Tensor;
  /** The gates, as `k`. */
  g: Tensor;
  /** [size · size · heads, n]; `n` divides `tokens`. */
  state: Tensor;
  /** Factor of the results. Default 1 / √size. */
  scale?: number | undefined;
}

/** {@linkcode GatedLinearOperands}, declared. */
const gatedLinearSpec = options(
  "gatedLinearAttention",
  {
    k: operand,
    v: operand,
    q: operand,
    g: operand,
    state: operand,
    scale: number(FLOAT),
  } satisfies RulesOf<GatedLinearOperands>,
);

/** Gated linear attention: shaped as {@linkcode rwkvWkv6}. C: `ggml_gated_linear_attn`. */
export function gatedLinearAttention(context: GgmlContext, operands: GatedLinearOperands): Tensor {
  const { scale, ...tensors } = gatedLinearSpec.checkOf("gatedLinearAttention", operands);
  const { k, v, q, g, state } = tensors;
  const checked = checkRecurrent("gatedLinearAttention", context, tensors, "k", state);
  return checked.build((into) =>
    context.native.lib.ggml_gated_linear_attn(
      into,
      k.unsafePointer,
      v.unsafePointer,
      q.unsafePointer,
      g.unsafePointer,
      state.unsafePointer,
      scale ?? 1 / Math.sqrt(k.shape[0]),
    )
  );
}

/** The operands of {@linkcode rwkvWkv7}; contiguous. */
export interface Wkv7Operands {
  /** [size, heads, tokens]; `size` is a multiple of 64: the processor's kernel goes by such steps. */
  r: Tensor;
  /** The decay, as `r`. */
  w: Tensor;
  /** As `r`. */
  k: Tensor;
  /** As `r`. */
  v: Tensor;
  /** As `r`. */
  a: Tensor;
  /** As `r`. */
  b: Tensor;
  /** [size · size · heads, n]; `n` divides `tokens`. */
  state: Tensor;
}

/** {@linkcode Wkv7Operands}, declared. */
const wkv7Spec = options(
  "rwkvWkv7",
  {
    r: operand,
    w: operand,
    k: operand,
    v: operand,
    a: operand,
    b: operand,
    state: operand,
  } satisfies RulesOf<Wkv7Operands>,
);

/** RWKV-7's mixing of time: shaped as {@linkcode rwkvWkv6}. C: `ggml_rwkv_wkv7`. */
export function rwkvWkv7(context: GgmlContext, operands: Wkv7Operands): Tensor {
  const tensors = wkv7Spec.checkOf("rwkvWkv7", operands);
  const { r, w, k, v, a, b, state } = tensors;
  return checkRecurrent("rwkvWkv7", context, tensors, "r", state)
    .require(r.shape[0] % 64 === 0, "r", 0, "a multiple of 64")
    .build((into) =>
      context.native.lib.ggml_rwkv_wkv7(
        into,
        r.unsafePointer,
        w.unsafePointer,
        k.unsafePointer,
        v.unsafePointer,
        a.unsafePointer,
        b.unsafePointer,
        state.unsafePointer,
      )
    );
}

/** The operands of {@linkcode gatedDeltaNet}. */
export interface GatedDeltaOperands {
  /** [size, heads', tokens, n], where `heads'` divides `heads`. */
  q: Tensor;
  /** As `q`. */
  k: Tensor;
  /** [size, heads, tokens, n]. */
  v: Tensor;
  /** The gates: [1 or size, heads, tokens, n], contiguous. */
  g: Tensor;
  /** [1, heads, tokens, n], contiguous. */
  beta: Tensor;
  /** [size, size, heads, n], contiguous. */
  state: Tensor;
  /** Number of states that are kept, the last one first. Default 1. C: `K`. */
  snapshots?: number | undefined;
}

/** {@linkcode GatedDeltaOperands}, declared. */
const gatedDeltaSpec = options(
  "gatedDeltaNet",
  {
    q: operand,
    k: operand,
    v: operand,
    g: operand,
    beta: operand,
    state: operand,
    snapshots,
  } satisfies RulesOf<GatedDeltaOperands>,
);

/**
 * The gated delta rule: gives [size · heads, tokens · n + snapshots · size · n]: the results, then the states. As {@linkcode ssmConv}.
 * C: `ggml_gated_delta_net`.
 */
export function gatedDeltaNet(context: GgmlContext, operands: GatedDeltaOperands): Tensor {
  const { snapshots: kept, ...tensors } = gatedDeltaSpec.checkOf("gatedDeltaNet", operands);
  const { q, k, v, g, beta, state } = tensors;
  const checked = check("gatedDeltaNet", context, tensors);
  const [size, heads, tokens, n] = v.shape;
  checked
    .type("q", "f32").type("k", "f32").type("v", "f32").type("g", "f32").type("beta", "f32").type("state", "f32")
    .shape("q", [size, undefined, tokens, n], "as v has").shape("k", [size, undefined, tokens, n], "as v has")
    .repeats("q", "v", 1, 1).repeats("k", "v", 1, 1)
    .shape("g", [g.shape[0] === 1 ? 1 : size, heads, tokens, n]).shape("beta", [1, heads, tokens, n])
    .shape("state", [size, size, heads, n])
    .elementsTogether("q", "k", "v").contiguous("g", "beta", "state");
  checked.result([size * heads, tokens * n + kept * size * n], "f32");
  return checked.build((into) =>
    context.native.lib.ggml_gated_delta_net(
      into,
      q.unsafePointer,
      k.unsafePointer,
      v.unsafePointer,
      g.unsafePointer,
      beta.unsafePointer,
      state.unsafePointer,
      BigInt(kept),
    )
  );
}
