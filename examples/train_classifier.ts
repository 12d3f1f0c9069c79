// Trains a small classifier, saves it as GGUF, loads it again: deno run -A examples/train_classifier.ts, or: bun examples/train_classifier.ts
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import {
  allocateContext,
  type Backend,
  Dataset,
  GgmlContext,
  GgufFile,
  Graph,
  ops,
  Optimizer,
  Registry,
  type Tensor,
  writeGguf,
} from "../lib/ggml/mod.ts";

/** What the classifier must reach on points that it wasn't trained with. */
const wanted = 0.95;
const classes = 3;
const trainingPoints = 1440;
const testPoints = 480;
const batch = 48;
const width = 24;

/** The same numbers in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => (state = state * 48271 % 2147483647) / 2147483647;
}
const random = randomNumbers(7);

/** Points on three arms of a spiral: no straight line parts them. */
const labels = Array.from({ length: trainingPoints + testPoints }, (_, index) => index % classes);
const points = labels.map((label) => {
  const radius = 0.1 + 0.9 * random();
  const angle = label * 2 * Math.PI / classes + radius * 3 + (random() - 0.5) * 1.8;
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
});

/** The weights by name, with their shapes. */
const shapes = {
  "in.weight": [2, width],
  "in.bias": [width],
  "mid.weight": [width, width],
  "mid.bias": [width],
  "out.weight": [width, classes],
  "out.bias": [classes],
} as const;
type Weights = Record<keyof typeof shapes, Tensor>;

function makeWeights(context: GgmlContext): Weights {
  return Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [name, context.tensor("f32", shape, name)]),
  ) as Weights;
}

/** Two hidden layers; the outputs are one number a class. */
function classifier(context: GgmlContext, weights: Weights, inputs: Tensor): Tensor {
  const layer = (name: "in" | "mid" | "out", x: Tensor): Tensor =>
    ops.add(context, ops.mulMat(context, weights[`${name}.weight`], x), weights[`${name}.bias`]);
  return layer("out", ops.relu(context, layer("mid", ops.relu(context, layer("in", inputs)))));
}

/** Which class each point has, by a classifier. */
async function predict(cpu: Backend, weights: Weights, some: number[][]): Promise<number[]> {
  using context = await GgmlContext.create();
  const inputs = context.tensor("f32", [2, some.length], "points");
  const outputs = classifier(context, weights, inputs);
  using _buffer = allocateContext(context, cpu);
  inputs.write(some.flat());
  using graph = new Graph(context).forward(outputs);
  await cpu.compute(graph);
  const values = Array.from(outputs.read(), Number);
  return some.map((_, index) => {
    const row = values.slice(index * classes, (index + 1) * classes);
    return row.indexOf(Math.max(...row));
  });
}

using cpu = (await Registry.open()).device("CPU").open({ threads: 1 });
const path = join(tmpdir(), `classifier-${process.pid}.gguf`);
const test = points.slice(trainingPoints);
let before: number[];
{
  using context = await GgmlContext.create();
  const inputs = context.tensor("f32", [2, batch], "inputs");
  const weights = makeWeights(context);
  using _buffer = allocateContext(context, cpu);
  for (const [name, weight] of Object.entries(weights)) {
    const scale = name.endsWith("bias") ? 0 : 2 / Math.sqrt(weight.shape[0]);
    weight.setParam().write(Array.from({ length: weight.elementCount }, () => (random() - 0.5) * scale));
  }
  using operators = await GgmlContext.create();
  const outputs = classifier(operators, weights, inputs);
  using dataset = await Dataset.create({ count: trainingPoints, datapointSize: 2, labelSize: classes });
  dataset.write(
    points.slice(0, trainingPoints).flat(),
    labels.slice(0, trainingPoints).flatMap((label) =>
      Array.from({ length: classes }, (_, one) => one === label ? 1 : 0)
    ),
  );
  using optimizer = await Optimizer.create({ backends: [cpu], inputs, outputs, loss: "crossEntropy" });
  const last = await optimizer.fit(dataset, {
    epochs: 40,
    validation: 0.1,
    schedule: (epoch) => ({ learningRate: epoch <= 30 ? 0.01 : 0.002 }),
    onEpoch({ epoch, train, evaluation }) {
      if (epoch % 10 === 0) {
        console.log(`epoch ${epoch}: loss ${train.loss.value.toFixed(3)}, right ${percent(evaluation.accuracy.value)}`);
      }
    },
  });
  console.log(`trained for ${last.epoch} epochs`);
  before = await predict(cpu, weights, test);
  await writeGguf(path, {
    metadata: { "general.architecture": "classifier", "general.name": "three arms of a spiral" },
    tensors: Object.entries(weights).map(([name, weight]) => ({
      name,
      type: "f32",
      shape: shapes[name as keyof Weights],
      data: weight.readBytes(),
    })),
  });
}

// All that was trained is gone; what is loaded comes from the file alone.
using context = await GgmlContext.create();
const weights = makeWeights(context);
using _buffer = allocateContext(context, cpu);
{
  await using file = await GgufFile.open(path);
  for (const [name, weight] of Object.entries(weights)) weight.writeBytes(await file.readTensor(name));
}
await rm(path);
const after = await predict(cpu, weights, test);
const right = after.filter((label, index) => label === labels[trainingPoints + index]).length / testPoints;
const same = after.filter((label, index) => label === before[index]).length;
console.log(`of ${testPoints} new points ${percent(right)} are right, at least ${percent(wanted)} were wanted`);
console.log(`the loaded classifier says the same for ${same} of them`);
if (right < wanted || same !== testPoints) process.exitCode = 1;

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}
