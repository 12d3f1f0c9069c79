import { ControlVectorError, InvalidArgumentError } from "../../errors.ts";
import { FileSource } from "../../gguf/byte_source.ts";
import { parseGgufHeader } from "../../gguf/header.ts";
import { checkInteger, checkNumber, checkOptions, isInstance, show } from "../../support/check.ts";
import { modelPath } from "../model/load_options.ts";

/** What is added to what the layers of a model pass on: a direction in which its answers are pushed. */
export interface ControlVector {
  /** A GGUF file with tensors `direction.1`, `direction.2`, …, as upstream's cvector-generator writes it, or the directions by layer, from 1 on. */
  readonly source:
    | string
    | URL
    | Readonly<Record<number, Float32Array | readonly number[]>>
    | ReadonlyMap<number, Float32Array | readonly number[]>;
  /** How strongly; below 0 in the other direction. -1000 to 1000, default 1. */
  readonly scale?: number | undefined;
}

/** Which layers control vectors are added to. */
export interface ControlVectorOptions {
  /** The first layer, from 1. Default 1. C: `il_start`. */
  layerStart?: number | undefined;
  /** The last layer. Default the last one. C: `il_end`. */
  layerEnd?: number | undefined;
}

/** What the native thread is given. Plain data. */
export interface ControlVectorData {
  /** A direction for each layer from 1 on. */
  readonly data: Float32Array;
  /** The first layer. */
  readonly layerStart: number;
  /** The last layer. */
  readonly layerEnd: number;
}

interface Shape {
  readonly embeddingSize: number;
  readonly layerCount: number;
}

const MAX_VECTORS = 64;
/** `GGML_TYPE_F32`. */
const FLOATS = "f32";

/**
 * Reads control vectors and adds them up. Throws {@linkcode InvalidArgumentError}, {@linkcode ControlVectorError} for one that doesn't fit to the model, and
 * what reading a GGUF file throws.
 */
export async function readControlVectors(
  vectors: readonly ControlVector[],
  options: ControlVectorOptions | undefined,
  shape: Shape,
): Promise<ControlVectorData> {
  const given: unknown = vectors;
  if (!Array.isArray(given) || given.length > MAX_VECTORS) {
    throw new InvalidArgumentError(`the control vectors are ${show(given)}; give an array of at most ${MAX_VECTORS}`, {
      value: given,
      expected: `an array of at most ${MAX_VECTORS}`,
    });
  }
  const { layerStart = 1, layerEnd = shape.layerCount - 1 } = checkOptions("model.setControlVectors", options, [
    "layerStart",
    "layerEnd",
  ]);
  const layers = { min: 1, max: Math.max(1, shape.layerCount - 1) };
  const start = checkInteger("layerStart", layerStart, layers);
  const end = checkInteger("layerEnd", layerEnd, { min: start, max: layers.max });
  const data = new Float32Array(shape.embeddingSize * layers.max);
  for (const [index, vector] of vectors.entries()) await addVector(data, vector, `vectors[${index}]`, shape);
  return { data, layerStart: start, layerEnd: end };
}

async function addVector(data: Float32Array, vector: ControlVector, where: string, shape: Shape): Promise<void> {
  const { source, scale = 1 } = checkOptions(where, vector, ["source", "scale"]);
  const factor = checkNumber(`${where}.scale`, scale, { min: -1000, max: 1000 });
  for (const [layer, direction] of await directionsOf(source, `${where}.source`)) {
    const at = checkLayer(layer, where, shape);
    if (direction.length !== shape.embeddingSize) {
      throw new ControlVectorError(
        `${where} has ${direction.length} numbers for layer ${layer}, but this model works with ${shape.embeddingSize}; it was made for another model`,
        { value: direction.length, expected: `${shape.embeddingSize} numbers` },
      );
    }
    for (let index = 0; index < direction.length; index++) {
      const value = Number(direction[index]) * factor;
      if (!Number.isFinite(Math.fround(value))) {
        throw new ControlVectorError(
          `${where} has ${show(direction[index])} at index ${index} of layer ${layer}; give finite numbers`,
          {
            value: direction[index],
            expected: "a finite number",
          },
        );
      }
      data[at + index] = (data[at + index] ?? 0) + value;
    }
  }
}

function checkLayer(layer: number, where: string, { embeddingSize, layerCount }: Shape): number {
  if (Number.isInteger(layer) && layer >= 1 && layer < layerCount) return (layer - 1) * embeddingSize;
  throw new ControlVectorError(
    `${where} has a direction for layer ${layer}, but this model's layers are 1 to ${
      layerCount - 1
    }; it was made for another model`,
    { value: layer, expected: `a layer from 1 to ${layerCount - 1}` },
  );
}

type Directions = Iterable<[number, ArrayLike<number>]>;

async function directionsOf(source: unknown, where: string): Promise<Directions> {
  if (typeof source === "string" || isInstance(source, URL)) return await readFile(modelPath(source));
  if (isInstance(source, Map)) {
    return [...source.entries()].map(([layer, values]) => [Number(layer), numbers(values, where)]);
  }
  if (typeof source === "object" && source !== null) {
    return Object.entries(source).map(([layer, values]) => [Number(layer), numbers(values, where)]);
  }
  throw new InvalidArgumentError(`${where} is ${show(source)}; give the path of a GGUF file, or directions by layer`, {
    value: source,
    expected: "a path, or an object or Map of directions by layer",
  });
}

function numbers(values: unknown, where: string): ArrayLike<number> {
  if (isInstance(values, Float32Array) || Array.isArray(values)) return values;
  throw new InvalidArgumentError(
    `${where} has ${show(values)} for a layer; give a Float32Array or an array of numbers`,
    {
      value: values,
      expected: "a Float32Array or an array of numbers",
    },
  );
}

async function readFile(path: string): Promise<Directions> {
  await using file = await FileSource.open(path);
  const header = await parseGgufHeader(file);
  const directions: [number, Float32Array][] = [];
  for (const { name, shape, type, byteOffset, byteLength } of header.tensors) {
    const layer = /^direction\.(\d{1,6})$/.exec(name)?.[1];
    if (layer === undefined || type !== FLOATS || shape.slice(1).some((size) => size !== 1)) {
      throw new ControlVectorError(
        `${path} isn't a control vector: it has ${show(name)} of type ${type} with ${shape.length} dimensions`,
        {
          value: name,
          expected: "tensors direction.1, direction.2, … of one dimension and type f32",
        },
      );
    }
    const bytes = new Uint8Array(byteLength);
    await file.read(bytes, header.dataOffset + byteOffset);
    directions.push([Number(layer), new Float32Array(bytes.buffer)]);
  }
  if (directions.length > 0) return directions;
  throw new ControlVectorError(`${path} isn't a control vector: it has no tensors`, {
    value: path,
    expected: "tensors direction.1, direction.2, …",
  });
}
