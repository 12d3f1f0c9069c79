/**
 * GGUF files: reading from a path, an `https:` URL or bytes, writing, editing, splitting and merging. Pure TypeScript: it runs without native libraries,
 * and in a browser on URLs and bytes.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { encodeGguf, GgufFile } from "./mod.ts";
 *
 * const bytes = encodeGguf({ metadata: { "general.name": "tiny" }, tensors: [{ name: "w", shape: [2], type: "f32", data: Float32Array.of(1, 2) }] });
 * await using file = await GgufFile.open(bytes);
 * assert.equal(file.header.metadata.get("general.name"), "tiny");
 * ```
 *
 * @module
 */

export * from "../errors.ts";
export { editGguf, type GgufEdit, type GgufEditResult } from "./edit.ts";
export { GgufFile, type GgufOpenOptions, type GgufReadOptions } from "./file.ts";
export {
  type GgufHeader,
  type GgufLazyValue,
  type GgufTensorInfo,
  type GgufValue,
  type GgufValueLocation,
  readGgufHeader,
} from "./header.ts";
export type { TensorShape } from "./layout.ts";
export type { TensorNumbers } from "./numbers.ts";
export { type GgufSplitOptions, mergeGguf, splitGguf } from "./split.ts";
export { ggufSplitPath, ggufSplitPrefix } from "./split_files.ts";
export { type TensorType, tensorTypes } from "./tensor_types.ts";
export type { GgufScalarType, GgufValueType } from "./types.ts";
export type { GgufInput, GgufNumbers, GgufTypedArray, GgufTypedScalar, GgufTypedValue } from "./values.ts";
export {
  encodeGguf,
  type GgufChunks,
  type GgufContent,
  type GgufTensorInput,
  type GgufWriteOptions,
  writeGguf,
} from "./writer.ts";
