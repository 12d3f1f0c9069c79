import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { NativeThreadError } from "../../base/errors.ts";

/** Returns the URL of a native thread's entry module: its file or address or, in a program made of one file, its text. Throws NativeThreadError when there is neither. */
export async function entryUrl(file: URL, loadText: () => Promise<string | null>): Promise<URL> {
  if (isRemote(file)) return importing(file);
  if (file.protocol !== "file:" || existsSync(fileURLToPath(file))) return file;
  const text = await loadText();
  if (text !== null) return new URL(`data:text/javascript;charset=utf-8,${encodeURIComponent(text)}`);
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
