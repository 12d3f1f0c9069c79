/**
 * The GGUF file format.
 *
 * @module
 */

export {
  type GgufHeader,
  type GgufSkippedValue,
  type GgufTensorInfo,
  type GgufValue,
  type GgufValueType,
  readGgufHeader,
} from "./gguf_header.ts";
export { type TensorType, tensorTypes } from "./tensor_types.ts";
