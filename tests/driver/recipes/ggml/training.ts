/** Training. */

import { allocateContext, Dataset, ops, Optimizer, TrainingResult } from "../../../../lib/ggml/mod.ts";
import type { Recipe } from "../../scene.ts";
import { context, cpu, lose, places } from "./parts.ts";

const BATCH = 4;

/** A model of one layer, its optimizer, and a dataset. */
const fit: Recipe = {
  name: "training",
  states: ["fresh", "in use", "in callback", "disposed", "lost"],
  async make(stage) {
    const { state, below, act } = stage;
    const size = 2;
    const backend = cpu(stage);
    const weights = await context(false);
    const inputs = weights.tensor("f32", [size, BATCH], "inputs");
    const slope = weights.tensor("f32", [size, size], "slope").setParam();
    const buffer = allocateContext(weights, backend.bufferType);
    slope.write(new Float32Array(size * size));
    const made = await context(false);
    const product = ops.mulMat(made, slope, inputs);
    const outputs = state === "lost" ? ops.neg(made, product) : product;
    const dataset = await Dataset.create({ count: 16, datapointSize: size, labelSize: size });
    const optimizer = await Optimizer.create({
      backends: [backend],
      inputs,
      outputs,
      loss: "meanSquaredError",
      ...(below(2) === 0 ? {} : { kind: "sgd" as const }),
      ...(state === "lost" ? { evaluateOnly: true } : {}),
    });
    const [train, evaluation] = [await TrainingResult.create(), await TrainingResult.create()];
    stage.keep(
      optimizer,
      dataset,
      train,
      evaluation,
      weights,
      made,
      inputs,
      slope,
      outputs,
      buffer,
      ...places(backend),
    );
    if (state === "fresh" || state === "disposed") return;
    const onProgress = () => state === "in callback" ? act() : undefined;
    if (state === "lost") {
      return await lose(stage, outputs, () => optimizer.epoch(dataset, { train, evaluation, split: 0 }));
    }
    const work = below(2) === 0
      ? optimizer.fit(dataset, { epochs: 2, onProgress, onEpoch: () => onProgress() })
      : optimizer.epoch(dataset, { train, evaluation, onProgress, split: 8 });
    if (state === "in use") return await stage.during(work);
    await work;
  },
};

/** The recipes. */
export const training: readonly Recipe[] = [fit];
