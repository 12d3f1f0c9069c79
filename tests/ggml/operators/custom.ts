import * as ops from "../../../lib/ggml/ops/mod.ts";
import type { Case } from "./case.ts";
import { Nd, range, sumOf } from "./nd.ts";

/** Operators that are functions in TypeScript. */
export const customCases: readonly Case[] = [
  {
    name: "mapCustom",
    make: (draw) => {
      const shape = draw.shape();
      const count = draw.int(1, 3);
      const inPlace = draw.of(true, false);
      return {
        operands: range(count).map(() => draw.operand(shape)),
        build: (context, ...tensors) =>
          ops.mapCustom(context, tensors, (result, ...operands) => {
            const values = operands.map((one) => one.read() as Float32Array);
            (result.view() as Float32Array).set(values[0]!.map((_, at) => sumOf(values.map((one) => one[at]!)) + 1));
          }, { inPlace }),
        reference: (...all) => new Nd(shape, all[0]!.data.map((_, at) => sumOf(all.map((one) => one.data[at]!)) + 1)),
      };
    },
  },
  {
    name: "custom",
    make: (draw) => {
      const count = draw.int(1, 5);
      const into = draw.of(true, false);
      return {
        operands: [draw.operand([count]), ...range(count).map(() => draw.operand([draw.int(1, 6)]))],
        build: (context, target, ...tensors) =>
          ops.custom(context, tensors, (result, ...operands) => {
            (result.view() as Float32Array).set(operands.map((one) => sumOf([...one.read()].map(Number))));
          }, into ? { into: target! } : { shape: [count] }),
        reference: (_, ...all) => new Nd([count], all.map((one) => sumOf([...one.data]))),
      };
    },
  },
];
