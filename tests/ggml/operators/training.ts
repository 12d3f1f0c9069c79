import * as ops from "../../../lib/ggml/ops/mod.ts";
import { Tensor } from "../../../lib/ggml/tensor/tensor.ts";
import type { Case, Draw, Operand } from "./case.ts";
import { Nd, rows, sumOf } from "./nd.ts";

/** A parameter, when it is a tensor that can be one. */
function marked(tensor: Tensor): Tensor {
  return tensor instanceof Tensor && tensor.op === "NONE" ? tensor.setParam() : tensor;
}

/** Rows that sum to 1: the gradient counts on it. */
function probabilities(draw: Draw, shape: readonly number[]): Operand {
  const { type, values } = draw.operand(shape, 0.1, 1);
  return { type, values: rows(values, (row) => row.map((x) => x / sumOf(row))) };
}

/** Losses, and the steps of optimisers. */
export const trainingCases: readonly Case[] = [
  {
    name: "crossEntropyLoss",
    make: (draw) => {
      const shape = [draw.int(2, 8), draw.int(1, 5)];
      return {
        operands: [draw.operand(shape), probabilities(draw, shape)],
        build: (context, logits, labels) => ops.crossEntropyLoss(context, logits!, labels!),
        reference: (logits, labels) => {
          const each = rows(logits, (row, j) => {
            const total = Math.log(sumOf(row.map(Math.exp)));
            return [sumOf(row.map((x, i) => (total - x) * labels.at(i, j)))];
          });
          return new Nd([1], [sumOf([...each.data]) / shape[1]!]);
        },
        gradients: [0],
      };
    },
  },
  {
    name: "crossEntropyLossBack",
    make: (draw) => {
      const shape = [draw.int(2, 8), draw.int(1, 5)];
      return {
        operands: [draw.operand([1]), draw.operand(shape), draw.operand(shape, 0, 1)],
        build: (context, gradient, logits, labels) => ops.crossEntropyLossBack(context, gradient!, logits!, labels!),
        reference: (gradient, logits, labels) =>
          rows(logits, (row, j) => {
            const total = sumOf(row.map(Math.exp));
            return row.map((x, i) => (Math.exp(x) / total - labels.at(i, j)) * gradient.at(0) / shape[1]!);
          }),
      };
    },
  },
  {
    name: "stepAdamW",
    make: (draw) => {
      const shape = draw.shape();
      const settings = { type: "f32" as const, values: new Nd([7], [0.1, 0.9, 0.99, 1e-3, 0.01, 1.5, 2]) };
      return {
        operands: [
          draw.operand(shape),
          draw.operand(shape),
          draw.operand(shape),
          draw.operand(shape, 0.1, 1),
          settings,
        ],
        build: (context, a, gradient, m, v, s) => ops.stepAdamW(context, marked(a!), gradient!, m!, v!, s!),
        reference: (a, gradient, m, v, s) => {
          const [rate, beta1, beta2, epsilon, decay, h1, h2] = s.data as unknown as [
            number,
            number,
            number,
            number,
            number,
            number,
            number,
          ];
          return new Nd(
            shape,
            a.data.map((w, at) => {
              const g = gradient.data[at]!;
              const first = (m.data[at]! * beta1 + g * (1 - beta1)) * h1;
              const second = Math.sqrt((v.data[at]! * beta2 + g * g * (1 - beta2)) * h2) + epsilon;
              return w * (1 - rate * decay) - rate * first / second;
            }),
          );
        },
      };
    },
  },
  {
    name: "stepSgd",
    make: (draw) => {
      const shape = draw.shape();
      const settings = { type: "f32" as const, values: new Nd([2], [0.1, 0.02]) };
      return {
        operands: [draw.operand(shape), draw.operand(shape), settings],
        build: (context, a, gradient, s) => ops.stepSgd(context, marked(a!), gradient!, s!),
        reference: (a, gradient, s) =>
          new Nd(shape, a.data.map((w, at) => w * (1 - s.at(0) * s.at(1)) - s.at(0) * gradient.data[at]!)),
      };
    },
  },
];
