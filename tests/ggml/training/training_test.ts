import assert from "node:assert/strict";
import test from "node:test";
import {
  DisposedError,
  InvalidArgumentError,
  NotAllocatedError,
  UnsupportedOperationError,
} from "../../../lib/errors.ts";
import type { Backend } from "../../../lib/ggml/backend/backend.ts";
import { GgmlContext } from "../../../lib/ggml/tensor/context.ts";
import { allocateContext } from "../../../lib/ggml/allocator/allocate_context.ts";
import { Graph } from "../../../lib/ggml/graph/graph.ts";
import * as ops from "../../../lib/ggml/ops/mod.ts";
import { Registry } from "../../../lib/ggml/backend/registry.ts";
import type { Tensor } from "../../../lib/ggml/tensor/tensor.ts";
import { GraphError, TensorShapeError, TensorTypeError } from "../../../lib/ggml/tensor/errors.ts";
import { Optimizer } from "../../../lib/ggml/training/optimizer.ts";
import { Dataset } from "../../../lib/ggml/training/dataset.ts";
import { fitNative } from "../../../lib/ggml/training/fit.ts";
import { TrainingResult } from "../../../lib/ggml/training/result.ts";
import type { OptimizerOptions, TrainingProgress } from "../../../lib/ggml/training/types.ts";
import { randomNumbers } from "../../support/random.ts";

/** y = 3a − 2b + 1, to be found from examples. */
const batch = 8;
const count = 96;

interface Line extends Disposable {
  readonly cpu: Backend;
  readonly weights: GgmlContext;
  readonly operators: GgmlContext;
  readonly inputs: Tensor;
  readonly slope: Tensor;
  readonly offset: Tensor;
  readonly outputs: Tensor;
  readonly dataset: Dataset;
}

async function line(): Promise<Line> {
  const registry = await Registry.open();
  const cpu = registry.device("CPU").open({ threads: 1 });
  const weights = await GgmlContext.create({ maxTensors: 8 });
  const inputs = weights.tensor("f32", [2, batch], "inputs");
  const slope = weights.tensor("f32", [2, 1], "slope").setParam();
  const offset = weights.tensor("f32", [1], "offset").setParam();
  const buffer = allocateContext(weights, cpu);
  inputs.write(new Array(2 * batch).fill(0));
  slope.write([0, 0]);
  offset.write([0]);
  const operators = await GgmlContext.create({ maxTensors: 64 });
  const outputs = ops.add(operators, ops.mulMat(operators, slope, inputs), offset);
  const dataset = await Dataset.create({ count, datapointSize: 2, labelSize: 1 });
  const random = randomNumbers(7);
  const next = () => random() * 2 - 1;
  const points = Array.from({ length: count }, () => [next(), next()] as const);
  dataset.write(points.flat(), points.map(([a, b]) => 3 * a - 2 * b + 1));
  return {
    cpu,
    weights,
    operators,
    inputs,
    slope,
    offset,
    outputs,
    dataset,
    [Symbol.dispose]() {
      dataset[Symbol.dispose]();
      operators.dispose();
      buffer[Symbol.dispose]();
      weights.dispose();
      cpu[Symbol.dispose]();
    },
  };
}

const settings = ({ cpu, inputs, outputs }: Line): OptimizerOptions => ({
  backends: [cpu],
  inputs,
  outputs,
  loss: "meanSquaredError",
  parameters: { learningRate: 0.05 },
});

function near(values: ArrayLike<number | bigint>, expected: readonly number[], within: number): void {
  for (const [index, one] of expected.entries()) {
    assert.ok(
      Math.abs(Number(values[index]) - one) <= within,
      `${Array.from(values as ArrayLike<number>)} is not ${expected}`,
    );
  }
}

test("weights are found again, by either optimiser, with steps after one or several batches", async () => {
  for (
    const [kind, period, learningRate] of [["adamw", 1, 0.05], ["sgd", 1, 0.1], ["adamw", 3, 0.1], [
      "sgd",
      2,
      0.2,
    ]] as const
  ) {
    using model = await line();
    using optimizer = await Optimizer.create({ ...settings(model), kind, period, parameters: { learningRate } });
    assert.equal(optimizer.kind, kind);
    assert.equal(optimizer.isStatic, true);
    const { train, evaluation } = await optimizer.fit(model.dataset, { epochs: 60, validation: 0.25 });
    assert.equal(train.count, period === 2 ? 64 : 72);
    assert.equal(evaluation.count, count - train.count);
    assert.ok(evaluation.loss.value < 0.002, `${kind} ${period}: ${evaluation.loss.value}`);
    assert.ok(Number.isNaN(evaluation.accuracy.value));
    near(model.slope.read(), [3, -2], 0.1);
    near(model.offset.read(), [1], 0.1);
    assert.equal(optimizer.gradient(model.slope) !== undefined, period > 1);
    assert.deepEqual(optimizer.labels?.shape, [1, batch, 1, 1]);
    assert.equal(optimizer.predictions, undefined);
  }
});

test("a pass can be watched; a schedule changes the learning rate", async () => {
  using model = await line();
  using optimizer = await Optimizer.create(settings(model));
  const seen: TrainingProgress[] = [];
  const rates: number[] = [];
  const last = await optimizer.fit(model.dataset, {
    epochs: 30,
    validation: 0.5,
    onProgress: (progress) => seen.push(progress),
    schedule: (epoch) => (rates.push(epoch), { learningRate: 0.2 / epoch }),
    onEpoch: ({ epoch }) => epoch < 20,
  });
  assert.equal(last.epoch, 20);
  assert.deepEqual(rates, Array.from({ length: 20 }, (_, index) => index + 1));
  assert.equal(seen.length, 20 * count / batch);
  assert.deepEqual(seen[0], { phase: "train", epoch: 1, batch: 1, batches: 6 });
  assert.deepEqual(seen.at(-1), { phase: "evaluation", epoch: 20, batch: 6, batches: 6 });
});

test("training stops when its signal says so, and goes on after", async () => {
  using model = await line();
  using optimizer = await Optimizer.create(settings(model));
  const stop = new AbortController();
  const onProgress = ({ epoch }: TrainingProgress): void => {
    if (epoch === 3) stop.abort(new Error("enough"));
  };
  await assert.rejects(optimizer.fit(model.dataset, { epochs: 1_000_000, onProgress, signal: stop.signal }), /enough/);
  await assert.rejects(optimizer.epoch(model.dataset, { signal: stop.signal }), /enough/);
  await assert.rejects(
    optimizer.epoch(model.dataset, {
      onProgress: () => {
        throw new RangeError("mine");
      },
    }),
    RangeError,
  );
  const { evaluation } = await optimizer.fit(model.dataset, { epochs: 60, validation: 0.25 });
  assert.ok(evaluation.loss.value < 0.01);
});

test("classes: accuracy and predictions", async () => {
  using model = await line();
  using weights = await GgmlContext.create({ maxTensors: 4 });
  const inputs = weights.tensor("f32", [2, batch], "inputs");
  const matrix = weights.tensor("f32", [2, 3], "matrix").setParam();
  using _buffer = allocateContext(weights, model.cpu);
  matrix.write([0.1, 0, 0, 0.1, 0, 0]);
  inputs.write(new Array(2 * batch).fill(0));
  const outputs = ops.mulMat(model.operators, matrix, inputs);
  using dataset = await Dataset.create({ count: 48, datapointSize: 2, labelSize: 3, shardSize: 2 });
  const classes = Array.from({ length: 48 }, (_, index) => index % 3);
  const points = classes.map((one) => [Math.cos(one * 2.1), Math.sin(one * 2.1)]);
  dataset.write(points.flat(), classes.flatMap((one) => [0, 1, 2].map((each) => each === one ? 1 : 0)));
  using optimizer = await Optimizer.create({
    backends: [model.cpu],
    inputs,
    outputs,
    loss: "crossEntropy",
    parameters: { learningRate: 0.1 },
  });
  await optimizer.fit(dataset, { epochs: 30, shuffle: false });
  using result = await TrainingResult.create();
  const { evaluation } = await optimizer.epoch(dataset, { split: 0, evaluation: result });
  assert.equal(evaluation.accuracy.value, 1);
  assert.deepEqual([...result.predictions], classes);
  assert.equal(optimizer.predictions?.type, "i32");
  assert.equal(result.count, 48);
  result.reset();
  assert.equal(result.count, 0);
  assert.equal(result.predictions.length, 0);
});

test("mean and sum are losses without labels; evaluateOnly doesn't train", async () => {
  using model = await line();
  model.slope.write([1, 2]);
  using dataset = await Dataset.create({ count: batch, datapointSize: 2 });
  dataset.write(Array.from({ length: 2 * batch }, (_, index) => index));
  const expected = Array.from({ length: batch }, (_, index) => 2 * index + 2 * (2 * index + 1)).reduce((sum, one) =>
    sum + one
  );
  for (const loss of ["mean", "sum"] as const) {
    using optimizer = await Optimizer.create({ ...settings(model), loss, evaluateOnly: true });
    assert.equal(optimizer.labels, undefined);
    const { evaluation } = await optimizer.epoch(dataset, { split: 0 });
    near([evaluation.loss.value], [loss === "sum" ? expected : expected / batch], 1e-3);
    await assert.rejects(optimizer.epoch(dataset), GraphError);
    assert.throws(() => optimizer.reset(), GraphError);
  }
  near(model.slope.read(), [1, 2], 0);
});

test("a graph of its own for each evaluation", async () => {
  using model = await line();
  using optimizer = await Optimizer.create({
    backends: [model.cpu],
    loss: "meanSquaredError",
    kind: "sgd",
    parameters: { learningRate: 0.1 },
  });
  assert.equal(optimizer.isStatic, false);
  assert.equal(optimizer.inputs, undefined);
  await assert.rejects(optimizer.allocate(), GraphError);
  await assert.rejects(optimizer.epoch(model.dataset), GraphError);
  using result = await TrainingResult.create();
  for (let round = 0; round < 120; round++) {
    using context = await GgmlContext.create({ maxTensors: 64 });
    const inputs = context.tensor("f32", [2, batch], "inputs").setInput();
    const outputs = ops.add(context, ops.mulMat(context, model.slope, inputs), model.offset);
    using graph = new Graph(context, { gradients: true }).forward(outputs);
    optimizer.prepare(graph, inputs, outputs);
    await optimizer.allocate();
    const { labels } = optimizer;
    assert.ok(labels !== undefined);
    model.dataset.copyBatch(round % (count / batch), inputs, labels);
    await optimizer.evaluate(round < 119 ? undefined : result);
    await assert.rejects(optimizer.evaluate(), GraphError);
  }
  assert.ok(result.loss.value < 0.01, String(result.loss.value));
  near(model.slope.read(), [3, -2], 0.2);
});

test("ggml's own loops", async () => {
  using model = await line();
  await fitNative(model.dataset, { ...pick(settings(model)), epochs: 800, validation: 0.25, stepSize: batch * 3 });
  using optimizer = await Optimizer.create(settings(model));
  using result = await TrainingResult.create();
  using evaluation = await TrainingResult.create();
  for (let epoch = 0; epoch < 40; epoch++) {
    result.reset();
    evaluation.reset();
    await optimizer.epochNative(model.dataset, { split: 48, train: result, evaluation });
  }
  assert.equal(result.count, 48);
  assert.equal(evaluation.count, 48);
  assert.ok(evaluation.loss.value < 0.01, String(evaluation.loss.value));
  await assert.rejects(
    fitNative(model.dataset, { ...pick(settings(model)), epochs: 1, stepSize: 9 }),
    InvalidArgumentError,
  );
  await assert.rejects(
    fitNative(model.dataset, { ...pick(settings(model)), epochs: 1, validation: 1 }),
    InvalidArgumentError,
  );
});

function pick(
  { backends, loss, inputs, outputs }: OptimizerOptions,
): Pick<OptimizerOptions, "backends" | "loss" | "inputs" | "outputs"> {
  return { backends, loss, inputs, outputs };
}

test("a model or an option that native code would abort for is refused", async () => {
  using model = await line();
  const good = settings(model);
  const { operators: context, inputs, outputs, weights, slope } = model;
  const other = weights.tensor("f32", [2, batch], "unallocated");
  const loose = ops.add(context, ops.mulMat(context, slope, other), model.offset);
  const bad: [Partial<OptimizerOptions>, new (...args: never[]) => Error][] = [
    [{ backends: [] }, InvalidArgumentError],
    [{ backends: [{}] as never }, InvalidArgumentError],
    [{ loss: "absolute" as never }, InvalidArgumentError],
    [{ kind: "adam" as never }, InvalidArgumentError],
    [{ period: 0 }, InvalidArgumentError],
    [{ inputs: undefined, outputs: undefined, period: 2 }, InvalidArgumentError],
    [{ inputs: undefined }, InvalidArgumentError],
    [{ inputs: 5 as never }, InvalidArgumentError],
    [{ parameters: { learningRate: 0 } }, InvalidArgumentError],
    [{ parameters: { learningRate: NaN } }, InvalidArgumentError],
    [{ parameters: { beta1: 1.5 } }, InvalidArgumentError],
    [{ parameters: { weightDecay: -1 } }, InvalidArgumentError],
    [{ kind: "sgd", parameters: { beta1: 0.5 } }, InvalidArgumentError],
    [{ outputs: inputs }, GraphError],
    [{ inputs: other }, GraphError],
    [{ inputs: other, outputs: loose }, NotAllocatedError],
    [{ outputs: ops.sum(context, outputs) }, TensorShapeError],
    [{ outputs: ops.reshape(context, outputs, [1, 2, batch / 2]) }, TensorShapeError],
    [{ outputs: ops.tanh(context, outputs) }, UnsupportedOperationError],
    [{ outputs: ops.argmax(context, outputs) }, TensorTypeError],
  ];
  for (const [change, kind] of bad) {
    await assert.rejects(Optimizer.create({ ...good, ...change } as OptimizerOptions), (error) => {
      assert.ok(error instanceof kind, `${Object.keys(change)}: ${error}`);
      return true;
    });
  }
  using optimizer = await Optimizer.create(good);
  const wrong: (() => unknown)[] = [
    () => optimizer.epoch(model.dataset, { split: 5 }),
    () => optimizer.epoch(model.dataset, { split: count + batch }),
    () => optimizer.fit(model.dataset, { epochs: 0 }),
    () => optimizer.fit(model.dataset, { epochs: 1, validation: 1 }),
    () => optimizer.fit(model.dataset, { epoch: 1 } as never),
  ];
  for (const one of wrong) await assert.rejects(async () => await one(), InvalidArgumentError, String(one));
  assert.throws(() => optimizer.shuffle(model.dataset, count + 1), InvalidArgumentError);
  using narrow = await Dataset.create({ count, datapointSize: 3, labelSize: 1 });
  await assert.rejects(optimizer.epoch(narrow), TensorShapeError);
  using bare = await Dataset.create({ count, datapointSize: 2 });
  await assert.rejects(optimizer.epoch(bare), InvalidArgumentError);
  using half = await Dataset.create({ count, datapointSize: 2, labelSize: 1, dataType: "f16" });
  await assert.rejects(optimizer.epoch(half), TensorTypeError);
  using odd = await Dataset.create({ count: count + 1, datapointSize: 2, labelSize: 1 });
  await assert.rejects(optimizer.epoch(odd), InvalidArgumentError);
});

test("datasets", async () => {
  for (
    const [change, kind] of [
      [{ count: 0 }, InvalidArgumentError],
      [{ datapointSize: 0 }, InvalidArgumentError],
      [{ labelSize: -1 }, InvalidArgumentError],
      [{ shardSize: 5 }, InvalidArgumentError],
      [{ dataType: "q4_0" }, TensorShapeError],
      [{ dataType: "q9" }, InvalidArgumentError],
    ] as const
  ) {
    await assert.rejects(
      Dataset.create({ count: 12, datapointSize: 2, ...change } as never),
      kind,
      JSON.stringify(change),
    );
  }
  const dataset = await Dataset.create({ count: 6, datapointSize: 2, labelSize: 1, shardSize: 3 });
  assert.deepEqual([...dataset.data.read()], new Array(12).fill(0));
  assert.throws(() => dataset.write([1, 2, 3]));
  assert.throws(() => dataset.batch(0, 2), InvalidArgumentError);
  assert.throws(() => dataset.batch(2, 3), InvalidArgumentError);
  dataset.write(Array.from({ length: 12 }, (_, index) => index), [10, 11, 12, 13, 14, 15]);
  const { data, labels } = dataset.batch(1, 3);
  assert.deepEqual(new Float32Array(data.buffer), Float32Array.of(6, 7, 8, 9, 10, 11));
  assert.deepEqual(new Float32Array((labels as Uint8Array<ArrayBuffer>).buffer), Float32Array.of(13, 14, 15));
  const { data: tensor } = dataset;
  dataset[Symbol.dispose]();
  dataset[Symbol.dispose]();
  assert.throws(() => dataset.unsafePointer, DisposedError);
  assert.throws(() => tensor.read(), DisposedError);
});

test("an optimiser that is disposed while it works ends its work first; its uses throw then", async () => {
  using model = await line();
  const optimizer = await Optimizer.create(settings(model));
  const running = optimizer.epoch(model.dataset);
  optimizer[Symbol.dispose]();
  assert.equal((await running).train.count, count);
  await assert.rejects(optimizer.epoch(model.dataset), DisposedError);
  assert.throws(() => optimizer.kind, DisposedError);
});
