/**
 * Language models by llama.cpp, for Deno and Bun.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { defaultModelPath, loadModel } from "./mod.ts";
 *
 * await using model = await loadModel(await defaultModelPath());
 * const chat = model.chat({ system: "You are a helpful assistant." });
 * let answer = "";
 * for await (const piece of chat.send("What is the capital of France?", { maxTokens: 64, temperature: 0 })) answer += piece;
 * assert.match(answer, /Paris/);
 * ```
 *
 * @module
 */

export * from "./lib/ggml/backend/devices.ts";
export * from "./lib/ggml/backend/libraries.ts";
// Writing and editing files is `./gguf`: loading these modules too would make every start slower.
export {
  type GgufHeader,
  type GgufLazyValue,
  type GgufTensorInfo,
  type GgufValue,
  type GgufValueLocation,
  readGgufHeader,
} from "./lib/gguf/header.ts";
export { type GgufScalarType, type GgufValueType } from "./lib/gguf/types.ts";
export {
  type InstalledLibraries,
  installLibraries,
  type InstallLibrariesOptions,
  type InstallProgress,
} from "./lib/libraries/install.ts";
export * from "./lib/llama/mod.ts";
export { defaultModelPath } from "./lib/models/default_model.ts";
