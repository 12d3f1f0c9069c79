import { UnsupportedPlatformError } from "../../base/errors.ts";

/** Modules of the runtime that a browser doesn't have. */
interface RuntimeModules {
  "node:fs": typeof import("node:fs");
  "node:fs/promises": typeof import("node:fs/promises");
  "node:url": typeof import("node:url");
}

interface Process {
  getBuiltinModule?<K extends keyof RuntimeModules>(name: K): RuntimeModules[K] | undefined;
}

/** Returns the runtime's functions for files. They aren't imported, so that a bundle for a browser needs none. Throws UnsupportedPlatformError without them. */
export function fileSystem(): RuntimeModules["node:fs/promises"] {
  return runtimeModule("node:fs/promises");
}

/**
 * Returns the path to rename a finished file to: that of the file itself where the path is a link. Rejects for what no file may replace, such as a device,
 * a pipe or a folder.
 */
export async function replaceablePath(path: string): Promise<string> {
  const { realpath, stat } = fileSystem();
  const found = await stat(path).catch((cause: { code?: unknown }) => {
    if (cause.code === "ENOENT") return undefined;
    throw cause;
  });
  if (found === undefined) return path;
  if (!found.isFile()) throw new Error(found.isDirectory() ? "it is a folder" : "it is a device or a pipe, not a file");
  return await realpath(path);
}

/** Returns the path of a `file:` URL. Throws TypeError for one that has none here. */
export function pathOfFileUrl(url: string | URL): string {
  return runtimeModule("node:url").fileURLToPath(url);
}

/** Returns a module of the runtime. Throws UnsupportedPlatformError without it. */
export function runtimeModule<K extends keyof RuntimeModules>(name: K): RuntimeModules[K] {
  const { process } = globalThis as { process?: Process };
  const found = process?.getBuiltinModule?.(name);
  if (found !== undefined) return found;
  throw new UnsupportedPlatformError(
    "this runtime has no files: read from an https: URL or from bytes, and write by encodeGguf",
    { value: name, expected: "Deno or Bun" },
  );
}
