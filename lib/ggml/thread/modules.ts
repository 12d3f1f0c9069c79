import { messageOf } from "../../../base/error.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { Native } from "../../../ffi/native.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { BackendLoadError } from "../../errors.ts";
import { checkModuleFile } from "../backend/module_file.ts";

/** Description of a module. Plain data. */
export interface ModuleInfo {
  /** Its file. */
  readonly path: string;
  /** Score on this system; 0 when it doesn't run here, `undefined` when it has no score. C: `ggml_backend_score`. */
  readonly score: number | undefined;
  /** The version of the interface that it was built for; `undefined` where it doesn't run. C: `ggml_backend_reg.api_version`. */
  readonly apiVersion: number | undefined;
  /** Its name; `undefined` where it doesn't run or is of another version. C: `ggml_backend_reg_name`. */
  readonly name: string | undefined;
}

/**
 * Opens a module and asks it, without putting it into the registry. Throws BackendLoadError for what is no backend: another format or processor, a
 * library that the system can't open, one without `ggml_backend_init`, one that gives no registration.
 */
export function inspectModule(path: string, { native }: TaskContext): ModuleInfo {
  checkModuleFile(path);
  const opened = openModule(native, path);
  const init = opened.symbol("ggml_backend_init");
  if (init === null) {
    throw new BackendLoadError(`${path} is a library, but no backend: it doesn't export ggml_backend_init`, {
      value: path,
      expected: "a library that exports ggml_backend_init",
    });
  }
  const scorer = opened.symbol("ggml_backend_score");
  const score = scorer === null ? undefined : native.functionAt(scorer, { parameters: [], result: "i32" })() as number;
  // What doesn't run here isn't run: not even to ask for its name.
  if (score === 0) return { path, score, apiVersion: undefined, name: undefined };
  const registration = native.functionAt(init, { parameters: [], result: "pointer" })() as
    | Pointer<"ggml_backend_reg">
    | null;
  if (registration === null) {
    throw new BackendLoadError(
      `${path} gave no registration: its device may not be there, or its driver may be missing`,
      {
        value: path,
        expected: "a backend whose device is there",
      },
    );
  }
  const apiVersion = native.structAt("ggml_backend_reg", registration).api_version;
  const known = apiVersion === native.set.backendApiVersion;
  const name = known ? native.readCString(native.lib.ggml_backend_reg_name(registration)) : undefined;
  return { path, score, apiVersion, name };
}

function openModule(native: Native, path: string): ReturnType<Native["openModule"]> {
  try {
    return native.openModule(path);
  } catch (cause) {
    throw new BackendLoadError(
      `${path} can't be opened: ${messageOf(cause)}; it may be of another release, or need a library that isn't there`,
      { value: path, expected: "a backend of this release, with what it needs", cause },
    );
  }
}
