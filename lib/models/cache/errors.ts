import { rethrowDenied } from "../../../base/permission.ts";
import { ModelCacheError } from "../../errors.ts";

/** The error by which work on a folder of the cache failed, as the caller gets it: the system's own words become a class of this library. */
export function cacheError(error: unknown, folder: string): unknown {
  try {
    rethrowDenied(error, "using the cache of models", `--allow-read=${folder} --allow-write=${folder}`);
  } catch (denied) {
    return denied;
  }
  const { code } = error as { code?: unknown };
  if (!(error instanceof Error) || typeof code !== "string" || !/^E[A-Z0-9]+$/.test(code)) return error;
  return new ModelCacheError(
    `the cache of models, ${folder}, can't be used: ${error.message}; make room or allow it, or set GGML_FFI_CACHE to another folder`,
    { value: folder, expected: "a folder that can be written", cause: error },
  );
}
