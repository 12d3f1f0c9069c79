import fc from "fast-check";
import type { GgmlContext } from "../../../lib/ggml/tensor/context.ts";
import type { Tensor } from "../../../lib/ggml/tensor/tensor.ts";
import type { TypeName } from "../../../lib/ggml/tensor/types.ts";
import { randomNumbers } from "../../support/random.ts";
import { Nd } from "./nd.ts";

/** One operand: what it is filled with. */
export interface Operand {
  readonly type: TypeName;
  readonly values: Nd;
}

/** An operator with operands of one draw. */
export interface Sample {
  readonly operands: readonly Operand[];
  /** Makes the result in ggml. */
  build(this: void, context: GgmlContext, ...tensors: Tensor[]): Tensor;
  /** The result in plain TypeScript, from what the operands hold once they are stored. */
  reference(this: void, ...values: Nd[]): Nd;
  /** Which operands the result is differentiated by. */
  readonly gradients?: readonly number[];
}

/** An operator and how close ggml comes: `tolerance` times the largest value of the result, or 1. */
export interface Case {
  /** The function's name in `ops`, and what is special. */
  readonly name: string;
  readonly tolerance?: number;
  make(this: void, draw: Draw): Sample;
}

/** Draws of fast-check, as numbers and operands. */
export class Draw {
  readonly #generate: fc.GeneratorValue;

  constructor(generate: fc.GeneratorValue) {
    this.#generate = generate;
  }

  int(min: number, max: number): number {
    return this.#generate(fc.integer, { min, max });
  }

  of<const T>(...values: readonly T[]): T {
    return values[this.int(0, values.length - 1)]!;
  }

  /** A shape of up to four dimensions. */
  shape(most = 7): [number, number, number, number] {
    return [this.int(1, most), this.int(1, 4), this.int(1, 3), this.int(1, 2)];
  }

  /** Random numbers from `low` to `high`. */
  operand(shape: readonly number[], low = -2, high = 2, type: TypeName = "f32"): Operand {
    const next = randomNumbers(this.int(0, 2 ** 31 - 1));
    const values = new Nd(shape);
    values.data.forEach((_, index) => values.data[index] = low + next() * (high - low));
    return { type, values };
  }

  /** Whole numbers from 0 up to, without, `below`. */
  indices(shape: readonly number[], below: number, type: TypeName = "i32"): Operand {
    const { values } = this.operand(shape, 0, below);
    return { type, values: values.map((value) => Math.min(Math.floor(value), below - 1)) };
  }

  /** Different numbers far from each other, in any order: for what looks at the largest. */
  distinct(shape: readonly number[]): Operand {
    const next = randomNumbers(this.int(0, 2 ** 31 - 1));
    const values = new Nd(shape);
    const order = Array.from(values.data, (_, index) => index);
    for (let at = order.length - 1; at > 0; at--) {
      const other = Math.floor(next() * (at + 1));
      [order[at], order[other]] = [order[other]!, order[at]!];
    }
    order.forEach((value, index) => values.data[index] = value * 0.1 - order.length * 0.05 + 0.03);
    return { type: "f32", values };
  }
}

/** Values that pass through 16-bit floats. */
export const HALF = 2e-3;
