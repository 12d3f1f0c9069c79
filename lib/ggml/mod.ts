/**
 * ggml: the devices that models run on, the libraries in use, and the GGUF file format.
 *
 * @module
 */

export { type Device, type DeviceKind, devices } from "./devices.ts";
export {
  type GgufHeader,
  type GgufSkippedValue,
  type GgufTensorInfo,
  type GgufValue,
  type GgufValuePlace,
  readGgufHeader,
} from "./gguf_header.ts";
export type { GgufScalarType, GgufValueType } from "./gguf_types.ts";
export { type LibrariesInfo, librariesInfo } from "./libraries.ts";
export { type TensorType, tensorTypes } from "./tensor_types.ts";
