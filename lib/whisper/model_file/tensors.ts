import { tensorTypes } from "../../gguf/tensor_types.ts";
import type { ModelCursor } from "./source.ts";

/** Expected shape and type of a tensor: its dimensions, the innermost first, and its type, `enum ggml_type`. */
export interface TensorShape {
  /** One to three numbers; those left out are 1. */
  readonly dims: readonly number[];
  /** The type's number. */
  readonly type: number;
}

/** `GGML_TYPE_F32` and `GGML_TYPE_F16`. */
export const F32 = 0, F16 = 1;

/** The longest name of a tensor that is looked at. */
const LONGEST_NAME = 256;

/**
 * Reads the tensors up to the end: each must be one of `expected`, of its shape and type, once, with all of its bytes. All must be there. Gives the places
 * where the tensors' data begin.
 */
export function readTensors(cursor: ModelCursor, expected: ReadonlyMap<string, TensorShape>): number[] {
  const missing = new Set(expected.keys());
  const places: number[] = [];
  while (cursor.left > 0) {
    const [count, length, type] = ["dimensions", "name", "type"].map((what) => cursor.int32(`a tensor's ${what}`)) as [
      number,
      number,
      number,
    ];
    if (count < 0 || count > 4) cursor.refuse("a tensor's number of dimensions", count, "from 0 to 4");
    if (length < 1 || length > LONGEST_NAME) {
      cursor.refuse("the length of a tensor's name", length, `from 1 to ${LONGEST_NAME}`);
    }
    const dims = Array.from({ length: count }, () => cursor.int32("a tensor's dimensions"));
    const name = new TextDecoder("latin1").decode(cursor.bytes(length, "a tensor's name"));
    const wanted = expected.get(name);
    if (wanted === undefined) cursor.refuse("a tensor's name", JSON.stringify(name), "one that this kind of model has");
    if (!missing.delete(name)) cursor.refuse("a tensor's name", JSON.stringify(name), "there once");
    checkShape(cursor, name, dims, type, wanted);
    places.push(cursor.position);
    cursor.skip(tensorBytes(wanted), `the data of ${name}`);
  }
  const [first] = missing;
  if (first !== undefined) {
    cursor.refuse("the number of tensors", expected.size - missing.size, `${expected.size}; ${first} isn't there`);
  }
  return places;
}

function checkShape(
  cursor: ModelCursor,
  name: string,
  dims: readonly number[],
  type: number,
  wanted: TensorShape,
): void {
  const isSame = [0, 1, 2, 3].every((index) => (dims[index] ?? 1) === (wanted.dims[index] ?? 1));
  if (!isSame) cursor.refuse(`the shape of ${name}`, dims.join(" x "), wanted.dims.join(" x "));
  if (type !== wanted.type) {
    const [is, should] = [type, wanted.type].map((id) => tensorTypes.get(id)?.name ?? String(id));
    cursor.refuse(`the type of ${name}`, is, String(should));
  }
}

function tensorBytes({ dims, type }: TensorShape): number {
  const { blockSize, typeSize } = tensorTypes.get(type) as { blockSize: number; typeSize: number };
  return dims.reduce((product, dim) => product * dim, 1) / blockSize * typeSize;
}
