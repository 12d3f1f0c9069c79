import { ControlVectorError } from "../../errors.ts";
import { FileSource } from "../../gguf/byte_source.ts";
import { parseGgufHeader } from "../../gguf/header.ts";
import { checkArray, checkInteger, isArray, isInstance, isPlainObject, refuse, show } from "../../../base/check.ts";
import { custom, integer, number, options, type RulesOf, type Settings } from "../../../base/options.ts";
import { modelPath } from "../../models/model_path.ts";

/** A control vector: directions that are added to the outputs of a model's layers. */
export interface ControlVector {
  /** A GGUF file with tensors `direction.1`, `direction.2`, …, as llama.cpp's cvector-generator writes it, or the directions by layer, from 1. */
  readonly source:
    | string
    | URL
    | Readonly<Record<number, Float32Array | readonly number[]>>
    | ReadonlyMap<number, Float32Array | readonly number[]>;
  /** The scale; a negative one has the opposite effect. -1000 to 1000, default 1. */
  readonly scale?: number | undefined;
}

/** Options of `model.setControlVectors`. */
export interface ControlVectorOptions {
  /** The first layer, from 1. Default 1. C: `il_start`. */
  layerStart?: number | undefined;
  /** The last layer. Default the last one. C: `il_end`. */
  layerEnd?: number | undefined;
}

/** The sum of control vectors, for the native thread. Plain data. */
export interface ControlVectorData {
  /** A direction for each layer from 1. */
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
const SOURCE_WORDS = "the path of a GGUF file, or an object or a Map of directions by layer";

const vectorSpec = options(
  "a control vector",
  {
    source: custom(SOURCE_WORDS, (_, value) => value, { required: true }),
    scale: number({ min: -1000, max: 1000, default: 1 }),
  } satisfies RulesOf<ControlVector>,
);

const layerSpec = (lastLayer: number) =>
  options(
    "model.setControlVectors",
    {
      layerStart: integer({ min: 1, max: lastLayer, default: 1 }),
      layerEnd: integer({ min: 1, max: lastLayer, default: lastLayer }),
    } satisfies RulesOf<ControlVectorOptions>,
  );

/**
 * Reads control vectors and returns their sum. Throws {@linkcode InvalidArgumentError}, {@linkcode ControlVectorError} for one that was made for another
 * model, and what reading a GGUF file throws.
 */
export async function readControlVectors(
  vectors: readonly ControlVector[],
  given: ControlVectorOptions | undefined,
  shape: Shape,
): Promise<ControlVectorData> {
  const checked = checkArray("vectors", vectors, (name, vector) => vectorSpec.checkAt(name, vector), {
    min: 0,
    max: MAX_VECTORS,
  });
  const lastLayer = Math.max(1, shape.layerCount - 1);
  const { layerStart, layerEnd } = layerSpec(lastLayer).check(given);
  checkInteger("layerEnd", layerEnd, { min: layerStart, max: lastLayer });
  const data = new Float32Array(shape.embeddingSize * lastLayer);
  for (const [index, vector] of checked.entries()) await addVector(data, vector, `vectors[${index}]`, shape);
  return { data, layerStart, layerEnd };
}

async function addVector(
  data: Float32Array,
  { source, scale }: Settings<typeof vectorSpec>,
  where: string,
  shape: Shape,
): Promise<void> {
  for (const [layer, direction] of await directionsOf(source, `${where}.source`)) {
    const at = checkLayer(layer, where, shape);
    if (direction.length !== shape.embeddingSize) {
      throw new ControlVectorError(
        `${where} has ${direction.length} numbers for layer ${layer}, but this model's embeddings have ${shape.embeddingSize}; it was made for another model`,
        { value: direction.length, expected: `${shape.embeddingSize} numbers` },
      );
    }
    for (let index = 0; index < direction.length; index++) {
      const value = Number(direction[index]) * scale;
      if (!Number.isFinite(Math.fround(value))) {
        throw new ControlVectorError(
          `${where} has ${show(direction[index])} at index ${index} of layer ${layer}; expected a finite number`,
          { value: direction[index], expected: "a finite number" },
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
  const layers = isInstance(source, Map)
    ? source.entries()
    : isPlainObject(source)
    ? Object.entries(source)
    : refuse(where, source, SOURCE_WORDS);
  return [...layers].map(([layer, values]) => [Number(layer), numbers(`${where}[${show(layer)}]`, values)]);
}

function numbers(name: string, values: unknown): ArrayLike<number> {
  if (isInstance(values, Float32Array) || isArray(values)) return values as ArrayLike<number>;
  return refuse(name, values, "a Float32Array or an array of numbers");
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
