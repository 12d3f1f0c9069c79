import assert from "node:assert/strict";
import test, { after } from "node:test";
import { GgmlContext, ops, type Tensor } from "../../../lib/ggml/mod.ts";

const context = await GgmlContext.create();
const [square, kernel, picture] = [[16, 16], [3, 3], [8, 8]].map((shape) => context.tensor("f32", shape)) as [
  Tensor,
  Tensor,
  Tensor,
];

after(() => context.dispose());

/** Options that a program without types may give. */
function refused(build: (options: never) => Tensor, options: unknown, message: string): void {
  assert.throws(() => build(options as never), { code: "INVALID_ARGUMENT", message });
}

test("options are named after their operator", () => {
  const norm = (options: never) => ops.norm(context, square, options);
  refused(norm, { epsilonn: 1 }, 'norm has no option "epsilonn"; did you mean epsilon?');
  refused(norm, { epsilon: -1 }, `norm: epsilon is -1; expected a number from 0 to ${3.4e38}`);
  refused(norm, { inPlace: 1 }, "norm: inPlace is 1; expected true or false");
  refused(norm, new Map(), "the options of norm is an object (Map); expected a plain object");
  const l2Norm = (options: never) => ops.l2Norm(context, square, options);
  refused(l2Norm, { inPlace: 1 }, "l2Norm: inPlace is 1; expected true or false");
  const abs = (options: never) => ops.abs(context, square, options);
  refused(abs, { inPlace: null }, "abs: inPlace is null; expected true or false");
});

test("operands come first", () => {
  const text = context.tensor("i32", [4]);
  assert.throws(() => ops.norm(context, text, { epsilon: -1 }), { code: "TENSOR_TYPE" });
});

test("tensors and required numbers among the options", () => {
  const softMax = (options: never) => ops.softMax(context, square, options);
  refused(softMax, { mask: {} }, "softMax: mask is an object (Object); expected a Tensor");
  const ssmScan = (options: never) => ops.ssmScan(context, options);
  refused(ssmScan, {}, "ssmScan: s is undefined; expected a Tensor");
  const clamp = (options: never) => ops.clamp(context, square, options);
  assert.throws(() => clamp({ min: 0 } as never), { message: /^clamp: max is undefined; expected a number from / });
});

test("one number for all axes, or one for each", () => {
  const conv2d = (options: never) => ops.conv2d(context, kernel, picture, options);
  refused(conv2d, { stride: 0 }, "conv2d: stride is 0; expected an integer from 1 to 32768");
  refused(conv2d, { stride: [1, 0] }, "conv2d: stride[1] is 0; expected an integer from 1 to 32768");
  refused(conv2d, { stride: [1, 2, 3] }, "conv2d: stride has 3 elements; expected an array of 2");
  // deno-lint-ignore no-sparse-arrays
  refused(conv2d, { padding: [, 1] }, "conv2d: padding has a hole at index 0; expected an array with all its elements");
  const pool2d = (options: never) => ops.pool2d(context, picture, options);
  refused(pool2d, { kind: "max" }, "pool2d: size is undefined; expected one integer, or an array of 2");
  refused(pool2d, { kind: "max", size: [2, 2, 2] }, "pool2d: size has 3 elements; expected an array of 2");
  refused(pool2d, { kind: "max", size: 2, stride: [1] }, "pool2d: stride has 1 element; expected an array of 2");
  const pooled = ops.pool2d(context, picture, { kind: "max", size: 2 });
  assert.deepEqual(pooled.shape, [4, 4, 1, 1]);
  const rows = (options: never) => ops.im2col(context, kernel, picture, options);
  refused(rows, { pictures: true, stride: [1] }, "im2col: stride has 1 element; expected an array of 2");
});

test("ranges that operands give", () => {
  const rope = (options: never) => ops.rope(context, context.tensor("f32", [16]), context.tensor("i32", [1]), options);
  refused(rope, { dimensions: 18 }, "rope: dimensions is 18; expected an integer from 2 to 16");
  refused(rope, { offset: 2 }, "rope: offset is 2; expected 0");
  refused(rope, { betaFast: NaN }, `rope: betaFast is NaN; expected a number from ${-3.4028234e38} to ${3.4028234e38}`);
});
