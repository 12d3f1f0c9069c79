/**
 * The checks that every operator makes before ggml sees its operands: ggml's own are asserts, which end the process.
 *
 * @module
 */

import { InvalidArgumentError } from "../../../base/errors.ts";
import type { Lib } from "../../../ffi/mod.ts";
import { checkInteger, checkNumber, type Range } from "../../../base/check.ts";
import type { OptionRules, OptionsSpec, Settings } from "../../../base/options.ts";
import { brands } from "../brands.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { TensorMaker } from "../tensor/context_core.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { TensorLayoutError, TensorShapeError, TensorTypeError } from "../tensor/errors.ts";
import { FLOAT } from "./options.ts";
import { checkShape, type Shape, typeByName, type TypeName } from "../tensor/types.ts";

/** The operands of an operator by name; `undefined` for an optional one that was left out. */
export type Operands = Readonly<Record<string, Tensor | undefined>>;

/** The types of floats that most operators compute with. */
export const FLOATS: readonly TypeName[] = ["f32", "f16", "bf16"];

/** Floats of 32 bits, and of 16 in IEEE's form. */
export const F32_F16: readonly TypeName[] = ["f32", "f16"];

/** Checks the operands of one operator; each method throws an error that names the operator, the operand and the dimension, and gives the checker back. */
export class OperatorCheck<T extends Operands = Operands> {
  readonly #op: string;
  readonly #context: GgmlContext;
  readonly #operands: T;

  /** Checks that operands are tensors in use with at least one element. */
  constructor(op: string, context: GgmlContext, operands: T, optional: readonly (keyof T & string)[] = []) {
    this.#op = op;
    this.#context = context;
    this.#operands = operands;
    libOf(context);
    for (const [name, tensor] of Object.entries(operands)) {
      if (tensor === undefined && optional.includes(name)) continue;
      const empty = shapeOf(op, name, tensor).indexOf(0);
      if (empty >= 0) this.#wrongDimension(name, empty, "at least 1");
    }
  }

  /** An operand's type is one of these. */
  type(name: keyof T & string, ...types: readonly TypeName[]): this {
    const tensor = this.#tensor(name);
    if (tensor === undefined || types.includes(tensor.type)) return this;
    const expected = types.join(" or ");
    throw new TensorTypeError(`${this.#op}: ${name} is of type ${tensor.type}; it takes ${expected}`, {
      value: tensor.type,
      expected,
    });
  }

  /** Two operands' types are the same. */
  sameType(name: keyof T & string, like: keyof T & string): this {
    const other = this.#tensor(like);
    return other === undefined ? this : this.type(name, other.type);
  }

  /** One dimension of an operand has this size. */
  dimension(name: keyof T & string, index: number, size: number, why = ""): this {
    const tensor = this.#tensor(name);
    if (tensor === undefined || tensor.shape[index] === size) return this;
    return this.#wrongDimension(name, index, `${size}${why === "" ? "" : `, ${why}`}`);
  }

  /** An operand has this shape; dimensions that are `undefined` may be any, those that aren't given are 1. */
  shape(name: keyof T & string, sizes: readonly (number | undefined)[], why = ""): this {
    for (const index of [0, 1, 2, 3] as const) {
      const size = index < sizes.length ? sizes[index] : 1;
      if (size !== undefined) this.dimension(name, index, size, why);
    }
    return this;
  }

  /** Two operands have the same shape. */
  sameShape(name: keyof T & string, like: keyof T & string): this {
    const other = this.#tensor(like);
    return other === undefined ? this : this.shape(name, other.shape, `as ${like} has`);
  }

  /** Each dimension of `large`, from one on, is a multiple of `small`'s, so that `small` can be repeated to its shape. */
  repeats(small: keyof T & string, large: keyof T & string, from = 0, to = 3): this {
    const [part, whole] = [this.#tensor(small), this.#tensor(large)];
    if (part === undefined || whole === undefined) return this;
    for (let index = from; index <= to; index++) {
      const size = whole.shape[index as 0];
      if (size % part.shape[index as 0] !== 0) {
        this.#wrongDimension(small, index, `a divisor of ${size}, ${large}'s dimension ${index}`);
      }
    }
    return this;
  }

  /** An operand has at most this many dimensions. */
  dimensions(name: keyof T & string, most: number): this {
    for (let index = most; index < 4; index++) this.dimension(name, index, 1, `it has at most ${most} dimensions`);
    return this;
  }

  /** An operand has this many elements. */
  count(name: keyof T & string, elements: number, why = ""): this {
    const tensor = this.#tensor(name);
    if (tensor === undefined || tensor.elementCount === elements) return this;
    throw new TensorShapeError(
      `${this.#op}: ${name} is [${tensor.shape.join(", ")}], ${tensor.elementCount} elements; it takes ${elements}${
        why === "" ? "" : `, ${why}`
      }`,
      { value: tensor.shape, expected: `${elements} elements` },
    );
  }

  /** A condition on one dimension. */
  require(holds: boolean, name: keyof T & string, index: number, expected: string): this {
    return holds || this.#tensor(name) === undefined ? this : this.#wrongDimension(name, index, expected);
  }

  /** An operand's elements lie one after another. */
  contiguous(...names: readonly (keyof T & string)[]): this {
    for (const name of names) {
      const tensor = this.#tensor(name);
      if (tensor === undefined) continue;
      if (!tensor.isContiguous) this.#wrongLayout(name, "contiguous; use cont() first");
      this.elementsTogether(name);
    }
    return this;
  }

  /** An operand's rows lie one after another in each dimension above; rows themselves may have gaps between them. */
  contiguousFromRows(...names: readonly (keyof T & string)[]): this {
    for (const name of names) {
      const tensor = this.#tensor(name);
      if (tensor === undefined) continue;
      this.elementsTogether(name);
      if (!tensor.native.lib.ggml_is_contiguous_1(tensor.unsafePointer)) {
        this.#wrongLayout(name, "contiguous from its rows on; use cont() first");
      }
    }
    return this;
  }

  /** The elements of each row of an operand lie together. */
  elementsTogether(...names: readonly (keyof T & string)[]): this {
    for (const name of names) {
      const tensor = this.#tensor(name);
      if (tensor === undefined) continue;
      if (tensor.strides[0] !== typeByName("the type", tensor.type).typeSize) {
        this.#wrongLayout(name, "a tensor whose rows' elements lie together, not a transposed one; use cont() first");
      }
    }
    return this;
  }

  /** An operand's rows follow each other with the same gap, in dimensions of size 1 too. C: `ggml_is_padded_1d`. */
  evenRows(name: keyof T & string): this {
    const tensor = this.#tensor(name);
    if (tensor === undefined || hasEvenRows(tensor)) return this;
    return this.#wrongLayout(name, "a tensor whose strides grow by its dimensions; use cont() first");
  }

  /** An operand isn't transposed: its strides don't go down. */
  inOrder(...names: readonly (keyof T & string)[]): this {
    for (const name of names) {
      const tensor = this.#tensor(name);
      if (tensor === undefined) continue;
      const [, n1, n2, n3] = tensor.strides;
      if (!(tensor.strides[0] <= n1 && n1 <= n2 && n2 <= n3)) {
        this.#wrongLayout(name, "a tensor that isn't permuted; use cont() first");
      }
    }
    return this;
  }

  /** A condition on the layout of an operand. */
  layout(holds: boolean, name: keyof T & string, expected: string): this {
    return holds || this.#tensor(name) === undefined ? this : this.#wrongLayout(name, expected);
  }

  /** The options of the operator, checked. */
  options<R extends OptionRules>(spec: OptionsSpec<R>, given: unknown): Settings<R> {
    return spec.checkOf(this.#op, given);
  }

  /** A parameter is a whole number in a range. */
  integer(name: string, value: unknown, range: Range): number {
    return checkInteger(`${this.#op}: ${name}`, value, range);
  }

  /** A parameter is a finite number in a range. */
  number(name: string, value: unknown, range: Range = FLOAT): number {
    return checkNumber(`${this.#op}: ${name}`, value, range);
  }

  /** A parameter is a multiple of another number. */
  multiple(name: string, value: number, of: number): number {
    if (value % of === 0) return value;
    throw new InvalidArgumentError(`${this.#op}: ${name} is ${value}; give a multiple of ${of}`, {
      value,
      expected: `a multiple of ${of}`,
    });
  }

  /** Refuses a type that was given as a parameter. */
  refuseType(name: string, type: TypeName, expected: string): never {
    throw new TensorTypeError(`${this.#op}: ${name} is ${type}; it takes ${expected}`, { value: type, expected });
  }

  /** The result's shape can be counted. */
  result(shape: readonly number[], type: TypeName): Shape {
    return checkShape(`${this.#op}: the result's shape`, shape, type);
  }

  /** Creates the result. */
  build(make: TensorMaker): Tensor {
    return brands.context.of(this.#context).build(
      Object.values(this.#operands).filter((one) => one !== undefined),
      make,
    );
  }

  #tensor(name: string): Tensor | undefined {
    return this.#operands[name];
  }

  #wrongDimension(name: string, index: number, expected: string): never {
    const shape = this.#tensor(name)?.shape ?? [];
    throw new TensorShapeError(
      `${this.#op}: dimension ${index} of ${name} [${shape.join(", ")}] is ${shape[index]}; it must be ${expected}`,
      { value: shape[index], expected },
    );
  }

  #wrongLayout(name: string, expected: string): never {
    const strides = this.#tensor(name)?.strides ?? [];
    throw new TensorLayoutError(`${this.#op}: ${name} has strides [${strides.join(", ")}]; it must be ${expected}`, {
      value: strides,
      expected,
    });
  }
}

/** Whether a tensor's rows follow each other with the same gap. */
export function hasEvenRows({ shape, strides }: Tensor): boolean {
  return strides[2] === strides[1] * shape[1] && strides[3] === strides[2] * shape[2];
}

/** Begins the checks of one operator. */
export function check<T extends Operands>(
  op: string,
  context: GgmlContext,
  operands: T,
  optional?: readonly (keyof T & string)[],
): OperatorCheck<T> {
  return new OperatorCheck(op, context, operands, optional);
}

/** The functions of ggml, once the context is known to be one in use. */
export function libOf(context: GgmlContext): Lib {
  brands.context.check("the context", context).assertAlive();
  return context.native.lib;
}

/** The shape of an operand, once it is known to be a tensor in use. */
export function shapeOf(op: string, name: string, tensor: unknown): Shape {
  const checked = brands.tensor.check(`${op}: ${name}`, tensor);
  checked.assertAlive();
  return checked.shape;
}
