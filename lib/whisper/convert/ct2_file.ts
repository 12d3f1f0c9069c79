/**
 * CTranslate2's `model.bin`.
 *
 * @module
 */

import { ConversionError } from "./errors.ts";
import { floatBytes, floatReaders, type FloatType } from "./float_types.ts";
import type { JoinedSource } from "./parts.ts";
import { countOf, type Weight, Weights } from "./weights.ts";

/** Versions of the file's form that are read. */
const versions = { min: 4, max: 7 } as const;

const types: readonly FloatType[] = ["f32", "i8", "i16", "i32", "f16", "bf16"];

/** Content of a CTranslate2 model file. */
export interface Ct2File {
  /** The kind of model, such as `"WhisperSpec"`. */
  readonly spec: string;
  /** Its tensors; those in 8 or 16-bit whole numbers are read as what they stand for. */
  readonly weights: Weights;
}

/** Reads the directory of a CTranslate2 model. Throws {@linkcode ConversionError}. */
export async function readCt2(source: JoinedSource): Promise<Ct2File> {
  const cursor = new Cursor(source);
  const version = await cursor.u32();
  if (version < versions.min || version > versions.max) {
    throw new ConversionError(
      `${source.name} isn't a CTranslate2 model of version ${versions.min} to ${versions.max} (it starts with ${version}); give its model.bin`,
      { value: version, expected: `${versions.min} to ${versions.max}` },
    );
  }
  const spec = await cursor.text();
  // The revision of the kind.
  await cursor.u32();
  const tensors = new Map<string, Weight>();
  for (let left = await cursor.u32(); left > 0; left--) {
    const name = await cursor.text();
    tensors.set(name, await cursor.tensor(name));
  }
  for (let left = await cursor.u32(); left > 0; left--) {
    const [alias, name] = [await cursor.text(), await cursor.text()];
    const target = tensors.get(name);
    if (target === undefined) throw damaged(source, `its ${alias} stands for ${name}, which isn't there`);
    tensors.set(alias, target);
  }
  if (cursor.position !== source.size) throw damaged(source, `${source.size - cursor.position} bytes follow its end`);
  return { spec, weights: new Weights(source.name, unscaled(tensors)) };
}

/** Whole numbers of 8 and 16 bits are multiplied by a scale, one for each row or one for all. */
function unscaled(tensors: ReadonlyMap<string, Weight>): ReadonlyMap<string, Weight> {
  return new Map([...tensors].map(([name, weight]) => {
    const scale = tensors.get(`${name}_scale`);
    if (scale === undefined) return [name, weight];
    const read = async (): Promise<Float32Array<ArrayBuffer>> => {
      const [values, scales] = [await weight.read(), await scale.read()];
      const rowLength = values.length / scales.length;
      return values.map((value, index) => value / (scales[Math.floor(index / rowLength)] as number));
    };
    return [name, { shape: weight.shape, read }];
  }));
}

function damaged(source: JoinedSource, how: string): ConversionError {
  return new ConversionError(`${source.name} is damaged: ${how}; fetch it again`, {
    value: source.name,
    expected: "a CTranslate2 model",
  });
}

class Cursor {
  position = 0;
  readonly #source: JoinedSource;

  constructor(source: JoinedSource) {
    this.#source = source;
  }

  async #take(count: number): Promise<DataView<ArrayBuffer>> {
    const bytes = await this.#source.bytes(this.position, count);
    this.position += count;
    return new DataView(bytes.buffer);
  }

  async u32(): Promise<number> {
    return (await this.#take(4)).getUint32(0, true);
  }

  async text(): Promise<string> {
    const length = (await this.#take(2)).getUint16(0, true);
    return new TextDecoder().decode(await this.#take(length)).replace(/\0+$/, "");
  }

  async tensor(name: string): Promise<Weight> {
    const rank = (await this.#take(1)).getUint8(0);
    const dimensions = await this.#take(4 * rank);
    const shape = Array.from({ length: rank }, (_, index) => dimensions.getUint32(4 * index, true));
    const type = types[(await this.#take(1)).getUint8(0)];
    const size = await this.u32();
    if (type === undefined || countOf(shape) * floatBytes[type] !== size) {
      throw damaged(this.#source, `tensor ${name} has ${size} bytes for ${shape.join(" x ")} numbers`);
    }
    const [source, start] = [this.#source, this.position];
    if (start + size > source.size) throw damaged(source, `it ends inside tensor ${name}`);
    this.position += size;
    return { shape, read: async () => floatReaders[type](await source.bytes(start, size)) };
  }
}
