/**
 * Metadata values in a native GGUF context: each of the types by its own function.
 *
 * @module
 */

import type { gguf_type, Native, Pointer } from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { show } from "../../../base/check.ts";
import { type GgufScalarType, ggufValueSizes, ggufValueTypes } from "../../gguf/types.ts";
import { decodeValue, encodeEntry, type GgufInput, type GgufTypedValue } from "../../gguf/values.ts";

type Context = Pointer<"gguf_context">;

/** The value at a place, which is in range. */
export function getValue(native: Native, context: Context, id: bigint): GgufTypedValue {
  const { lib } = native;
  const type = ggufValueTypes[lib.gguf_get_kv_type(context, id)];
  switch (type) {
    case "uint8":
      return { type, value: lib.gguf_get_val_u8(context, id) };
    case "int8":
      return { type, value: lib.gguf_get_val_i8(context, id) };
    case "uint16":
      return { type, value: lib.gguf_get_val_u16(context, id) };
    case "int16":
      return { type, value: lib.gguf_get_val_i16(context, id) };
    case "uint32":
      return { type, value: lib.gguf_get_val_u32(context, id) };
    case "int32":
      return { type, value: lib.gguf_get_val_i32(context, id) };
    case "float32":
      return { type, value: lib.gguf_get_val_f32(context, id) };
    case "uint64":
      return { type, value: narrow(lib.gguf_get_val_u64(context, id)) };
    case "int64":
      return { type, value: narrow(lib.gguf_get_val_i64(context, id)) };
    case "float64":
      return { type, value: lib.gguf_get_val_f64(context, id) };
    case "bool":
      return { type, value: lib.gguf_get_val_bool(context, id) };
    case "string":
      return { type, value: native.readCString(lib.gguf_get_val_str(context, id)) };
    default:
      return getArray(native, context, id);
  }
}

function narrow(value: bigint): number | bigint {
  const plain = Number(value);
  return Number.isSafeInteger(plain) ? plain : value;
}

function getArray(native: Native, context: Context, id: bigint): GgufTypedValue {
  const { lib } = native;
  const elementType = ggufValueTypes[lib.gguf_get_arr_type(context, id)] as GgufScalarType;
  const length = Number(lib.gguf_get_arr_n(context, id));
  if (elementType === "string") {
    const value = Array.from(
      { length },
      (_, index) => native.readCString(lib.gguf_get_arr_str(context, id, BigInt(index))),
    );
    return { type: "array", elementType, value };
  }
  const data = lib.gguf_get_arr_data(context, id);
  const bytes = length === 0 || data === null
    ? new Uint8Array()
    : native.copy(data, length * ggufValueSizes[elementType]);
  return decodeValue(bytes, { type: "array", elementType, length });
}

/** Sets a value. Throws InvalidArgumentError for a key or a value that can't be set. */
export function setValue(native: Native, context: Context, key: string, input: GgufInput): void {
  const { lib } = native;
  // It checks all that a file needs, and says which type it is; the value itself is told apart below.
  const entry = decodeEntry(encodeEntry(key, input));
  const { value } = entry;
  switch (entry.type) {
    case "uint8":
      return lib.gguf_set_val_u8(context, key, value as number);
    case "int8":
      return lib.gguf_set_val_i8(context, key, value as number);
    case "uint16":
      return lib.gguf_set_val_u16(context, key, value as number);
    case "int16":
      return lib.gguf_set_val_i16(context, key, value as number);
    case "uint32":
      return lib.gguf_set_val_u32(context, key, value as number);
    case "int32":
      return lib.gguf_set_val_i32(context, key, value as number);
    case "float32":
      return lib.gguf_set_val_f32(context, key, value as number);
    case "uint64":
      return lib.gguf_set_val_u64(context, key, BigInt(value as number | bigint));
    case "int64":
      return lib.gguf_set_val_i64(context, key, BigInt(value as number | bigint));
    case "float64":
      return lib.gguf_set_val_f64(context, key, value as number);
    case "bool":
      return lib.gguf_set_val_bool(context, key, value as boolean);
    case "string":
      return lib.gguf_set_val_str(context, key, cText(key, value as string));
    case "array":
      return setArray(native, context, key, entry);
  }
}

function decodeEntry(bytes: Uint8Array<ArrayBuffer>): GgufTypedValue {
  const view = new DataView(bytes.buffer);
  let at = 8 + Number(view.getBigUint64(0, true));
  const type = ggufValueTypes[view.getUint32(at, true)] as GgufTypedValue["type"];
  at += 4;
  if (type !== "array") return decodeValue(bytes.subarray(at), { type });
  const elementType = ggufValueTypes[view.getUint32(at, true)] as GgufScalarType;
  return decodeValue(bytes.subarray(at + 12), {
    type,
    elementType,
    length: Number(view.getBigUint64(at + 4, true)),
  });
}

function cText(key: string, text: string): string {
  if (!text.includes("\0")) return text;
  throw new InvalidArgumentError(
    `the metadata value of ${key} holds a NUL character, where C ends it: ${show(text)}; writeGguf takes it`,
    { value: text, expected: "text without \\0" },
  );
}

function setArray(native: Native, context: Context, key: string, array: GgufTypedValue): void {
  if (array.type !== "array") return;
  const { elementType, value } = array;
  if (elementType === "array") {
    throw new InvalidArgumentError(`${key} is an array of arrays, which ggml doesn't take; writeGguf does`, {
      value: elementType,
      expected: "an array of scalars or strings",
    });
  }
  const length = BigInt(value.length);
  if (elementType === "string") {
    const texts = (value as readonly string[]).map((text) => new TextEncoder().encode(`${cText(key, text)}\0`));
    // One more, for an array of none has no address.
    const pointers = new BigUint64Array(texts.length + 1);
    texts.forEach((text, index) => pointers[index] = native.addressOf(text));
    native.lib.gguf_set_arr_str(context, key, pointers, length);
    return void texts.length;
  }
  const data = elementType === "bool" ? Uint8Array.from(value as readonly boolean[], Number) : value as ArrayBufferView;
  const type = ggufValueTypes.indexOf(elementType) as gguf_type;
  native.lib.gguf_set_arr_data(context, key, type, data.byteLength === 0 ? new Uint8Array(8) : data, length);
}
