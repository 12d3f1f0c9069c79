/**
 * Model files: downloads from the web and from the Hugging Face Hub, and the cache that they are kept in.
 *
 * ```ts ignore
 * import { pullModel } from "./mod.ts";
 *
 * const { path } = await pullModel("hf:owner/repo/model.gguf");
 * ```
 *
 * @module
 */

export * from "../errors.ts";
export { type CachedFile, modelsFolder } from "./cache/entry.ts";
export { defaultModelPath } from "./default_model.ts";
export { speechModelPath } from "./default_speech_models.ts";
export { type CachedModel, findModel, listModels, removeModel, type VerifiedModel, verifyModels } from "./manage.ts";
export { pullDefaultModel } from "./pull_default.ts";
export { type PulledModel, pullModel } from "./pull.ts";
export type { DownloadOptions, DownloadProgress, PullOptions } from "../support/download_options.ts";
export type { DescriptorSource, ModelSource } from "./source.ts";
