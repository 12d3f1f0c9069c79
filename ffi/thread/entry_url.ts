import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rethrowDenied } from "../../base/permission.ts";
import { NativeThreadError } from "../../base/errors.ts";

/**
 * Returns the URL of a native thread's entry module: its file or address or, in a program made of one file and where the file may not be read, its text.
 * Throws NativeThreadError when there is neither, PermissionError when the file may not be read and there is no text.
 */
export async function entryUrl(file: URL, loadText: () => Promise<string | null>): Promise<URL> {
  if (isRemote(file)) return importing(file);
  if (file.protocol !== "file:") return file;
  let denied: unknown;
  try {
    if (existsSync(fileURLToPath(file))) return file;
  } catch (error) {
    denied = error;
  }
  const text = await loadText();
  if (text !== null) return new URL(`data:text/javascript;charset=utf-8,${encodeURIComponent(text)}`);
  rethrowDenied(denied, `reading ${fileURLToPath(file)}`, "--allow-read");
  throw new NativeThreadError(
    `the native thread's module ${file.href} isn't there, and this build doesn't carry its text`,
    { value: file.href, expected: "the package as it was published, bundled or not" },
  );
}

/** Whether Deno runs a module from an http address, as JSR's are. */
export function isRemote(module: URL): boolean {
  return /^https?:$/.test(module.protocol);
}

/** Workers of node:worker_threads start from `file:` and `data:` only; from there every module can be imported. */
function importing(module: URL): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(`import ${JSON.stringify(module.href)};`)}`);
}

/** Returns the entry of the threads that only call C functions. The path is one that no program's own file is taken for when all is one file. */
export function callThreadEntry(): Promise<URL> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const file = new URL(`../../ffi/thread/entry.${extension}`, import.meta.url);
  return entryUrl(file, async () => (await import("./entry_source.ts")).callThreadSource);
}
