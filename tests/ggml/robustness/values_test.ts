// Wrong data is refused, and not turned to NaN or cut.
import assert from "node:assert/strict";
import { test } from "node:test";
import { GgmlContext, type TensorInput, type TypeName } from "../../../lib/ggml/mod.ts";

const context = await GgmlContext.create({ dataBytes: 1 << 16 });
const invalid = { code: "INVALID_ARGUMENT" };
const written = (type: TypeName, values: unknown): unknown[] => [
  ...context.tensor(type, [(values as { length: number }).length]).write(values as TensorInput).read(),
];

test("nested arrays of numbers become a tensor of that shape", () => {
  const matrix = context.from([[1, 2, 3], [4, 5, 6]]);
  assert.deepEqual(matrix.shape, [3, 2, 1, 1]);
  assert.deepEqual([...matrix.read()], [1, 2, 3, 4, 5, 6]);
  const four = context.from([[[[1], [2]]], [[[3], [4]]]]);
  assert.deepEqual(four.shape, [1, 2, 1, 2]);
  assert.deepEqual([...context.tensor("f16", [2, 2]).write([[1, 2], [3, 4]]).read()], [1, 2, 3, 4]);
  assert.deepEqual(context.from([[1, 2], [3, 4]], [4]).shape, [4, 1, 1, 1]);
});

test("the type is that of a typed array", () => {
  const arrays = [Float32Array, Float64Array, Float16Array, Int8Array, Int16Array, Int32Array, BigInt64Array];
  const types = arrays.map((kind) => context.from(new kind(2) as TensorInput).type);
  assert.deepEqual(types, ["f32", "f64", "f16", "i8", "i16", "i32", "i64"]);
  assert.equal(context.from([1n, 2n]).type, "i64");
});

test("what isn't a number, ragged arrays, holes, other shapes", () => {
  const wrong: unknown[] = [
    [1, "2"],
    ["3"],
    [null],
    [undefined],
    [true],
    [{}],
    [new Date(0)],
    // deno-lint-ignore no-sparse-arrays
    [1, , 3],
    [[1, 2], [3]],
    [[1], 2],
    [1, [2]],
    [[[[[1]]]]],
    [["1"]],
    "12",
    new Uint8ClampedArray(2),
    new DataView(new ArrayBuffer(4)),
    { length: 2, 0: 1, 1: 2 },
    new Set([1]),
  ];
  for (const values of wrong) assert.throws(() => context.from(values as TensorInput), invalid, String(values));
  const circle: unknown[] = [];
  circle.push(circle);
  assert.throws(() => context.from(circle as unknown as TensorInput), invalid);
  assert.throws(() => context.tensor("f32", [3, 2]).write([[1, 2], [3, 4], [5, 6]]), invalid);
  for (const type of ["q4_0", "f16", "bf16", "f64"] as const) {
    assert.throws(() => context.tensor(type, [32]).write(Array(32).fill("1") as unknown as TensorInput), invalid, type);
  }
});

test("integers out of range, and fractions, into integers", () => {
  const limits = { i8: 127, i16: 32_767, i32: 2_147_483_647 } as const;
  for (const [type, max] of Object.entries(limits) as [TypeName, number][]) {
    assert.deepEqual(written(type, [max, -max - 1]), [max, -max - 1]);
    assert.deepEqual(written(type, new Float64Array([max, -max - 1])), [max, -max - 1]);
    for (const value of [max + 1, -max - 2, 0.5, NaN, Infinity]) {
      assert.throws(() => written(type, [value]), invalid, `${type} ${value}`);
      assert.throws(() => written(type, new Float64Array([value])), invalid, `${type} ${value}`);
    }
    assert.throws(() => written(type, [BigInt(max) + 1n]), invalid);
  }
  assert.deepEqual(written("i64", [2 ** 53, -1]), [BigInt(2 ** 53), -1n]);
  assert.deepEqual(written("i64", [2n ** 63n - 1n]), [2n ** 63n - 1n]);
  for (const value of [2n ** 63n, -(2n ** 63n) - 1n, 0.5, NaN]) assert.throws(() => written("i64", [value]), invalid);
  assert.deepEqual(written("i32", new Int8Array([1, -1])), [1, -1]);
  assert.throws(() => written("i8", new Int32Array([128])), invalid);
});
