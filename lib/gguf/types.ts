/**
 * The types of metadata values in a GGUF file.
 *
 * @module
 */

/** The type of a metadata value, by its C name in lower case (`GGUF_TYPE_UINT8` is `uint8`). */
export type GgufValueType =
  | "uint8"
  | "int8"
  | "uint16"
  | "int16"
  | "uint32"
  | "int32"
  | "float32"
  | "bool"
  | "string"
  | "array"
  | "uint64"
  | "int64"
  | "float64";

/** A type other than an array. */
export type GgufScalarType = Exclude<GgufValueType, "array">;

/** The types in the order of their numbers. C: `enum gguf_type`. */
export const ggufValueTypes: readonly GgufValueType[] = [
  "uint8",
  "int8",
  "uint16",
  "int16",
  "uint32",
  "int32",
  "float32",
  "bool",
  "string",
  "array",
  "uint64",
  "int64",
  "float64",
];
/** Least bytes of a value of each type. */
export const ggufValueSizes: Readonly<Record<GgufValueType, number>> = {
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  uint32: 4,
  int32: 4,
  float32: 4,
  bool: 1,
  string: 8,
  array: 12,
  uint64: 8,
  int64: 8,
  float64: 8,
};

/** The number or boolean at a place; integers of 64 bits as `bigint` where a `number` isn't exact. */
export function decodeScalar(view: DataView, at: number, type: GgufScalarType): number | bigint | boolean {
  switch (type) {
    case "uint8":
      return view.getUint8(at);
    case "int8":
      return view.getInt8(at);
    case "uint16":
      return view.getUint16(at, true);
    case "int16":
      return view.getInt16(at, true);
    case "uint32":
      return view.getUint32(at, true);
    case "int32":
      return view.getInt32(at, true);
    case "float32":
      return view.getFloat32(at, true);
    case "float64":
      return view.getFloat64(at, true);
    case "bool":
      return view.getUint8(at) !== 0;
    case "uint64":
      return narrow(view.getBigUint64(at, true));
    case "int64":
      return narrow(view.getBigInt64(at, true));
    case "string":
      throw new TypeError(`${type} is no scalar`);
  }
}

function narrow(value: bigint): number | bigint {
  const plain = Number(value);
  return Number.isSafeInteger(plain) ? plain : value;
}
