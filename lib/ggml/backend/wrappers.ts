import type { Native, Pointer } from "../../../ffi/mod.ts";
import type { BufferType } from "./buffer_type.ts";
import type { Device } from "./device.ts";

/**
 * The makers of objects that refer to each other: a device gives buffer types, and a buffer type its device. Each class adds its own, so that neither
 * module has to import the other.
 */
interface Wrappers {
  /** Creates a device. */
  device(native: Native, pointer: Pointer<"ggml_backend_device">): Device;
  /** Creates a buffer type. */
  bufferType(native: Native, pointer: Pointer<"ggml_backend_buffer_type">): BufferType;
}

const wrappers: Partial<Wrappers> = {};

/** Adds the maker of a class. */
export function addWrapper<K extends keyof Wrappers>(name: K, make: Wrappers[K]): void {
  wrappers[name] = make;
}

/** The device at an address that native code gave. */
export function wrapDevice(native: Native, pointer: Pointer<"ggml_backend_device">): Device {
  return makerOf("device")(native, pointer);
}

/** The buffer type at an address that native code gave. */
export function wrapBufferType(native: Native, pointer: Pointer<"ggml_backend_buffer_type">): BufferType {
  return makerOf("bufferType")(native, pointer);
}

function makerOf<K extends keyof Wrappers>(name: K): Wrappers[K] {
  const make = wrappers[name];
  if (make === undefined) throw new TypeError(`the module of the class ${name} isn't loaded; import lib/ggml/mod.ts`);
  return make;
}
