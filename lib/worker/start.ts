import { entryUrl } from "../../ffi/thread/entry_url.ts";
import type { Native } from "../../ffi/native.ts";
import { NativeThread, type NativeThreadOptions } from "../../ffi/thread/native_thread.ts";
import type { TaskTable } from "../../ffi/thread/task.ts";

/** Starts a native thread with the tasks of the library, or takes one that its last owner has given back. */
export async function startThread<Tasks extends TaskTable>(
  native: Native | Promise<Native>,
  options: Omit<NativeThreadOptions, "entry"> = {},
): Promise<NativeThread<Tasks>> {
  return await NativeThread.start<Tasks>(native, { ...options, entry: await libraryEntry() });
}

/** The path is one that no program's own file is taken for when all is one file. */
function libraryEntry(): Promise<URL> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const file = new URL(`../../lib/worker/entry.${extension}`, import.meta.url);
  return entryUrl(file, async () => (await import("./entry_source.ts")).nativeThreadSource);
}
