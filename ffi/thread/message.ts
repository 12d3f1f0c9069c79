/**
 * Large arrays in messages. Deno's side of node:worker_threads walks over each element of a typed array that comes, half a second for a million of them; it
 * lets a DataView pass.
 */

const kinds = {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
} as const;

interface PackedArray {
  readonly packedArray: keyof typeof kinds;
  readonly data: DataView<ArrayBuffer>;
}

/** Smaller arrays go as they are. */
const MIN_BYTES = 1024;

/** The greatest depth at which arrays are packed. */
const DEEPEST = 3;

/** A value for `postMessage`, with its large arrays as views that pass. */
export function packMessage(value: unknown, depth: number = DEEPEST): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (ArrayBuffer.isView(value)) {
    const packedArray = Object.prototype.toString.call(value).slice(8, -1);
    if (value.byteLength < MIN_BYTES || !Object.hasOwn(kinds, packedArray)) return value;
    return { packedArray, data: new DataView(value.buffer, value.byteOffset, value.byteLength) };
  }
  return depth === 0 ? value : mapped(value, (one) => packMessage(one, depth - 1));
}

/** Returns the value that was packed. */
export function unpackMessage(value: unknown, depth: number = DEEPEST): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isPacked(value)) {
    const { packedArray, data: { buffer, byteOffset, byteLength } } = value;
    const kind = kinds[packedArray];
    return new kind(buffer, byteOffset, byteLength / kind.BYTES_PER_ELEMENT);
  }
  return depth === 0 ? value : mapped(value, (one) => unpackMessage(one, depth - 1));
}

function isPacked(value: object): value is PackedArray {
  return "packedArray" in value && "data" in value && value.data instanceof DataView &&
    Object.hasOwn(kinds, String(value.packedArray));
}

/** A plain object or an array of objects with its values changed: itself where none changes. */
function mapped(value: object, change: (one: unknown) => unknown): unknown {
  if (Array.isArray(value)) {
    if (typeof value[0] !== "object") return value;
    const changed = value.map(change);
    return changed.some((one, index) => one !== value[index]) ? changed : value;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  let result: Record<string, unknown> | undefined;
  for (const [name, one] of Object.entries(value)) {
    const changed = change(one);
    if (changed !== one) (result ??= { ...value })[name] = changed;
  }
  return result ?? value;
}
