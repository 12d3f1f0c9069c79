import assert from "node:assert/strict";
import type { Native } from "../../../ffi/mod.ts";
import type { Backend } from "../../../lib/ggml/backend/backend.ts";
import { computeSync } from "../../../lib/ggml/backend/compute_sync.ts";
import { GgmlContext } from "../../../lib/ggml/tensor/context.ts";
import { allocateContext } from "../../../lib/ggml/allocator/allocate_context.ts";
import { Graph } from "../../../lib/ggml/graph/graph.ts";
import * as ops from "../../../lib/ggml/ops/mod.ts";
import type { Tensor } from "../../../lib/ggml/tensor/tensor.ts";
import type { Case, Operand, Sample } from "./case.ts";
import { Nd, sum } from "./nd.ts";

/** Most values pass through 32-bit floats. */
const SINGLE = 2e-5;

function write(tensor: Tensor, { type, values }: Operand): void {
  const numbers = Array.from(values.data);
  tensor.write(type === "i64" ? numbers.map(BigInt) : numbers);
}

function valuesOf(tensor: Tensor): Nd {
  return new Nd(tensor.shape, Array.from(tensor.read(), Number));
}

function assertClose(found: Nd, expected: Nd, tolerance: number, what: string): void {
  assert.deepEqual(found.shape, expected.shape, `${what}: shape`);
  const most = Math.max(1, ...expected.data.filter(Number.isFinite).map(Math.abs));
  found.data.forEach((value, at) => {
    const wanted = expected.data[at]!;
    const close = value === wanted || Math.abs(value - wanted) <= tolerance * most;
    assert.ok(close, `${what}: ${value} at ${at} of [${found.shape}], not ${wanted} (± ${tolerance * most})`);
  });
}

/** Computes a sample on the CPU and compares it with its reference. */
export function compareOnCpu(native: Native, { name, tolerance = SINGLE }: Case, sample: Sample): void {
  using context = new GgmlContext(native, { maxTensors: 128, dataBytes: 1 << 20 });
  const tensors = sample.operands.map(({ type, values }) => context.tensor(type, values.shape));
  tensors.forEach((tensor, index) => write(tensor, sample.operands[index]!));
  const stored = tensors.map(valuesOf);
  const result = sample.build(context, ...tensors);
  using graph = new Graph(context, { size: 128 }).forward(result);
  computeSync(graph);
  assertClose(valuesOf(result), sample.reference(...stored), tolerance, name);
}

/** Computes a sample on another backend; gives false where that doesn't have one of its operators. */
export function compareOn(backend: Backend, { name, tolerance = SINGLE }: Case, sample: Sample): boolean {
  using context = new GgmlContext(backend.native, { maxTensors: 128 });
  const tensors = sample.operands.map(({ type, values }) => context.tensor(type, values.shape));
  const result = sample.build(context, ...tensors);
  using graph = new Graph(context, { size: 128 }).forward(result);
  if (!graph.nodes.every((node) => backend.supportsOperation(node))) return false;
  using _buffer = allocateContext(context, backend);
  tensors.forEach((tensor, index) => write(tensor, sample.operands[index]!));
  const stored = tensors.map(valuesOf);
  backend.computeSync(graph);
  assertClose(valuesOf(result), sample.reference(...stored), tolerance, `${name} on ${backend.name}`);
  return true;
}

/** Steps of the finite differences, and how close gradients come. */
const STEP = 1e-4;
const GRADIENT = 2e-3;

/** Compares ggml's gradients of the result, weighted by numbers, with finite differences of the reference. Gives how many were compared. */
export function compareGradients(native: Native, { name }: Case, sample: Sample): number {
  const wanted = sample.gradients ?? [];
  using context = new GgmlContext(native, { maxTensors: 512, dataBytes: 1 << 22 });
  const tensors = sample.operands.map(({ type, values }) => context.tensor(type, values.shape));
  tensors.forEach((tensor, index) => write(tensor, sample.operands[index]!));
  const stored = tensors.map(valuesOf);
  for (const index of wanted) tensors[index]!.setParam();
  const result = sample.build(context, ...tensors);
  const weights = new Nd(
    result.shape,
    Float32Array.from({ length: result.elementCount }, (_, at) => Math.sin(at * 1.7 + 0.3)),
  );
  const weightTensor = context.tensor("f32", result.shape).write([...weights.data]);
  const loss = ops.sum(context, ops.mul(context, result, weightTensor)).setLoss();
  using graph = new Graph(context, { size: 512, gradients: true }).forward(loss).backward(context);
  graph.reset();
  computeSync(graph);
  const lossOf = (values: readonly Nd[]): number => {
    const made = sample.reference(...values);
    return sum(made.count, (at) => made.data[at]! * weights.data[at]!);
  };
  for (const index of wanted) {
    const gradient = graph.gradient(tensors[index]!);
    assert.ok(gradient !== undefined, `${name}: operand ${index} has a gradient`);
    const expected = new Nd(
      stored[index]!.shape,
      stored[index]!.data.map((_, at) => {
        const moved = (by: number): number =>
          lossOf(stored.map((one, other) => {
            if (other !== index) return one;
            const copy = new Nd(one.shape, one.data);
            copy.data[at]! += by;
            return copy;
          }));
        return (moved(STEP) - moved(-STEP)) / (2 * STEP);
      }),
    );
    assertClose(valuesOf(gradient), expected, GRADIENT, `${name}: gradient of operand ${index}`);
  }
  return wanted.length;
}
