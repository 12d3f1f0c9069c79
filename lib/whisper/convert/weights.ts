/**
 * The tensors of a model as a converter sees them.
 *
 * @module
 */

import { ConversionError } from "./errors.ts";

/** A tensor in a file. */
export interface Weight {
  /** Its sizes, the slowest dimension first. */
  readonly shape: readonly number[];
  /** Its numbers. */
  read(): Promise<Float32Array<ArrayBuffer>>;
}

/** The tensors of a file by name. */
export class Weights {
  /** Name of the file in messages. */
  readonly name: string;
  readonly #tensors: ReadonlyMap<string, Weight>;

  /** Tensors out of a file. */
  constructor(name: string, tensors: ReadonlyMap<string, Weight>) {
    this.name = name;
    this.#tensors = tensors;
  }

  /** The names of all. */
  names(): IterableIterator<string> {
    return this.#tensors.keys();
  }

  /** Whether there is one of that name. */
  has(name: string): boolean {
    return this.#tensors.has(name);
  }

  /** One tensor, with as many dimensions as it must have. Throws {@linkcode ConversionError} when it isn't there or has others. */
  get(name: string, dimensions?: number): Weight {
    const found = this.#tensors.get(name);
    if (found === undefined) {
      throw new ConversionError(`${this.name} has no tensor ${name}; give a model of the right kind`, {
        value: name,
        expected: name,
      });
    }
    if (dimensions !== undefined && found.shape.length !== dimensions) {
      throw new ConversionError(
        `tensor ${name} of ${this.name} has ${found.shape.length} dimensions; give a model of the right kind`,
        { value: found.shape.join(" x "), expected: `${dimensions} dimensions` },
      );
    }
    return found;
  }

  /** A tensor's numbers; their count must be that of the shape. Throws {@linkcode ConversionError}. */
  async numbers(name: string, shape: readonly number[]): Promise<Float32Array<ArrayBuffer>> {
    const weight = this.get(name);
    if (weight.shape.join(" ") !== shape.join(" ")) {
      throw new ConversionError(
        `tensor ${name} of ${this.name} is ${weight.shape.join(" x ")}, where ${
          shape.join(" x ")
        } is right; give a sound model`,
        { value: weight.shape.join(" x "), expected: shape.join(" x ") },
      );
    }
    const values = await weight.read();
    for (let index = 0; index < values.length; index++) {
      // Only what isn't finite differs from itself so.
      if ((values[index] as number) - (values[index] as number) === 0) continue;
      throw new ConversionError(`tensor ${name} of ${this.name} has ${values[index]} at ${index}; give a sound model`, {
        value: values[index],
        expected: "finite numbers",
      });
    }
    return values;
  }
}

/** Number of elements of a tensor of this shape. */
export function countOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
