/**
 * The default language model.
 *
 * @module
 */

import { access } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { environment, rethrowDenied } from "../../ffi/runtime/environment.ts";
import { ModelAccessError, ModelNotFoundError } from "../errors.ts";

/** File name of the default model: SmolLM2 135M Instruct, quantized to four bits, Apache-2.0. */
export const DEFAULT_MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf";

/** The folder that models and libraries are kept in: `$GGML_FFI_CACHE`, else the system's cache folder and `ggml-ffi`. */
export function cacheFolder(): string {
  const named = environment("GGML_FFI_CACHE");
  if (named !== undefined) return named;
  if (process.platform === "win32") {
    return join(environment("LOCALAPPDATA") ?? join(home(), "AppData", "Local"), "ggml-ffi");
  }
  if (process.platform === "darwin") return join(home(), "Library", "Caches", "ggml-ffi");
  return join(environment("XDG_CACHE_HOME") ?? join(home(), ".cache"), "ggml-ffi");
}

/** The home folder. The system is asked only where the environment doesn't say it: in Deno that is one more permission. */
function home(): string {
  const named = process.platform === "win32" ? undefined : environment("HOME");
  try {
    return named ?? homedir();
  } catch (error) {
    rethrowDenied(error, "asking for the home folder, where the default model is looked for,", "--allow-sys=homedir");
    throw error;
  }
}

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
    await access(path);
    return path;
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    if (code !== "ENOENT" && code !== "ENOTDIR") {
      const words = cause instanceof Error ? cause.message : String(cause);
      throw new ModelAccessError(
        `the default model, ${path}, can't be read (${words}); check its permissions and, in Deno, --allow-read`,
        { value: path, expected: "a file that may be read", cause },
      );
    }
    throw new ModelNotFoundError(
      `there is no default model in the cache (${path}); give the path of a GGUF file, or run \`npm run setup\` in a clone of the repository`,
      {
        value: path,
        expected: "a model in the cache",
        cause,
      },
    );
  }
}
