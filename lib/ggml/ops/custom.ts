/**
 * Custom operators: functions in TypeScript that a graph calls.
 *
 * @module
 */

import { brands } from "../brands.ts";
import type { CallbackName, Pointer } from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../../base/errors.ts";
import { checkFunction, isArray, show } from "../../../base/check.ts";
import { deferred, oneOf, options, type RulesOf } from "../../../base/options.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { typeByName, type TypeName, typeNames } from "../tensor/types.ts";
import { check, libOf, shapeOf } from "./check.ts";
import { type InPlaceOptions, tensor, wantsInPlace } from "./options.ts";

/**
 * Computes a custom operator: reads the operands and writes the result, each a tensor whose memory can be seen by `view()`. What it throws,
 * `computeSync` throws.
 */
export type CustomFunction = (result: Tensor, ...operands: readonly Tensor[]) => void;

/** One task: JavaScript runs on the thread that made the function and no other. */
const TASKS = 1;

/** Errors of custom operators of the graph that is being computed. */
let thrown: unknown[] = [];

/** Computes a graph, and gathers what its custom operators throw. A function may compute another graph meanwhile. */
export function collectThrown<T>(compute: () => T): { readonly status: T; readonly errors: readonly unknown[] } {
  const outer = thrown;
  const errors: unknown[] = [];
  thrown = errors;
  try {
    return { status: compute(), errors };
  } finally {
    thrown = outer;
  }
}

function makeCallback<N extends CallbackName>(
  context: GgmlContext,
  name: N,
  call: () => CustomFunction,
  operands: number,
): Pointer<N> {
  // Weak: the function lives until the context is freed, and must not keep it.
  const reference = new WeakRef(context);
  const run = (...values: readonly (Pointer<"ggml_tensor"> | null)[]): void => {
    try {
      const [result, ...rest] = values.slice(0, operands + 1)
        .map((one) => brands.context.of(reference.deref() as GgmlContext).wrap(one as Pointer<"ggml_tensor">));
      call()(result as Tensor, ...rest);
    } catch (error) {
      thrown.push(error);
    }
  };
  const callback = context.native.callback(name, run as never);
  brands.context.of(context).adopt(callback);
  return callback.pointer as Pointer<N>;
}

/**
 * A custom operator on one to three tensors; the result has the type and shape of the first. Only {@linkcode computeSync} may compute it, with one
 * thread, on the thread that made it.
 *
 * Throws InvalidArgumentError, ContextFullError, DisposedError. C: `ggml_map_custom1`, `ggml_map_custom2`, `ggml_map_custom3`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { computeSync, GgmlContext, Graph, ops } from "../mod.ts";
 *
 * using context = await GgmlContext.create({ dataBytes: 4096 });
 * const a = context.from([1, 2, 3]);
 * const cubes = ops.mapCustom(context, [a], (result, operand) => {
 *   const values = operand!.view() as Float32Array;
 *   (result.view() as Float32Array).set(values.map((value) => value ** 3));
 * });
 * using graph = new Graph(context).forward(cubes);
 * computeSync(graph);
 * assert.deepEqual([...cubes.read()], [1, 8, 27]);
 * ```
 */
export function mapCustom(
  context: GgmlContext,
  operands: readonly Tensor[],
  compute: CustomFunction,
  options?: InPlaceOptions,
): Tensor {
  const inPlace = wantsInPlace("mapCustom", options);
  checkFunction("mapCustom: compute", compute);
  const lib = libOf(context);
  if (!isArray(operands) || operands.length < 1 || operands.length > 3) {
    throw new InvalidArgumentError(`mapCustom: operands are ${show(operands)}; give one to three tensors`, {
      value: operands,
      expected: "one to three tensors",
    });
  }
  const [a, b, c] = operands as [Tensor, Tensor?, Tensor?];
  const checked = check(
    "mapCustom",
    context,
    Object.fromEntries(Array.from(operands, (one, index) => [`operands[${index}]`, one])),
  );
  const call = (): CustomFunction => compute;
  if (b === undefined) {
    const run = makeCallback(context, "ggml_custom1_op_t", call, 1);
    return checked.build((into) =>
      inPlace
        ? lib.ggml_map_custom1_inplace(into, a.unsafePointer, run, TASKS, null)
        : lib.ggml_map_custom1(into, a.unsafePointer, run, TASKS, null)
    );
  }
  if (c === undefined) {
    const run = makeCallback(context, "ggml_custom2_op_t", call, 2);
    return checked.build((into) =>
      inPlace
        ? lib.ggml_map_custom2_inplace(into, a.unsafePointer, b.unsafePointer, run, TASKS, null)
        : lib.ggml_map_custom2(into, a.unsafePointer, b.unsafePointer, run, TASKS, null)
    );
  }
  const run = makeCallback(context, "ggml_custom3_op_t", call, 3);
  return checked.build((into) =>
    inPlace
      ? lib.ggml_map_custom3_inplace(into, a.unsafePointer, b.unsafePointer, c.unsafePointer, run, TASKS, null)
      : lib.ggml_map_custom3(into, a.unsafePointer, b.unsafePointer, c.unsafePointer, run, TASKS, null)
  );
}

/** Options of {@linkcode custom}. */
export interface CustomOptions {
  /** The result's type. Not with `into`. */
  type?: TypeName | undefined;
  /** The result's shape. Not with `into`. */
  shape?: readonly number[] | undefined;
  /** The tensor whose memory the result has. C: `ggml_custom_inplace`. */
  into?: Tensor | undefined;
}

/** {@linkcode CustomOptions}, declared. */
const customSpec = options(
  "custom",
  {
    type: oneOf(typeNames, { default: "f32" }),
    shape: deferred<readonly number[]>("an array of at most four integers"),
    into: tensor(),
  } satisfies RulesOf<CustomOptions>,
);

/** The most operands: `GGML_MAX_SRC` less the place that C keeps, and less one in place. */
const MAX_OPERANDS = 9;

/**
 * A custom operator on up to nine tensors (eight with `into`), whose result has a type and shape of its own. Otherwise as {@linkcode mapCustom}.
 * C: `ggml_custom_4d`, `ggml_custom_inplace`.
 */
export function custom(
  context: GgmlContext,
  operands: readonly Tensor[],
  compute: CustomFunction,
  options: CustomOptions,
): Tensor {
  const { type, shape, into: target } = customSpec.checkOf("custom", options);
  checkFunction("custom: compute", compute);
  const lib = libOf(context);
  const most = target === undefined ? MAX_OPERANDS : MAX_OPERANDS - 1;
  if (!isArray(operands) || operands.length > most) {
    throw new InvalidArgumentError(`custom: operands are ${show(operands)}; give at most ${most} tensors`, {
      value: operands,
      expected: `at most ${most} tensors`,
    });
  }
  if ((shape === undefined) === (target === undefined)) refuseBoth(shape);
  const all = target === undefined ? operands : [target, ...operands];
  const checked = check(
    "custom",
    context,
    Object.fromEntries(Array.from(all, (one, index) => [`operands[${index}]`, one])),
  );
  const call = (): CustomFunction => compute;
  const pointers = BigUint64Array.from([
    ...operands.map(({ unsafePointer }) => unsafePointer),
    0n as Pointer<"ggml_tensor">,
  ]);
  const run = makeCallback(context, "ggml_custom_op_t", () => (result) => {
    const sources = result.sources.filter((one) => one !== undefined);
    call()(result, ...(target === undefined ? sources : sources.slice(1)));
  }, 0);
  if (target !== undefined) {
    shapeOf("custom", "into", target);
    return checked.build((into) =>
      lib.ggml_custom_inplace(into, target.unsafePointer, pointers, operands.length, run, TASKS, null)
    );
  }
  const [n0, n1, n2, n3] = checked.result(shape ?? [], type).map(BigInt) as [bigint, bigint, bigint, bigint];
  const { id } = typeByName("custom: type", type);
  return checked.build((into) =>
    lib.ggml_custom_4d(into, id, n0, n1, n2, n3, pointers, operands.length, run, TASKS, null)
  );
}

function refuseBoth(shape: unknown): never {
  throw new InvalidArgumentError("custom: give either a shape, or a tensor as into", {
    value: shape,
    expected: "shape or into",
  });
}
