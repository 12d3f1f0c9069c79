import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { environment } from "./environment.ts";
import { rethrowDenied } from "../../base/permission.ts";

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
    rethrowDenied(
      error,
      "asking for the home folder, where models and libraries are kept,",
      "--allow-env=HOME,XDG_CACHE_HOME,GGML_FFI_CACHE or --allow-sys=homedir",
    );
    throw error;
  }
}
