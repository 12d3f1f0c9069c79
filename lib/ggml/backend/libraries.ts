import { open } from "../../../ffi/mod.ts";

/** The native libraries in use. Plain data. */
export interface LibrariesInfo {
  /** The folder that they were loaded from. */
  directory: string;
  /** The system that they were built for, such as `"x86_64-linux-gnu"`. */
  target: string;
  /** ggml's version. C: `ggml_version`. */
  ggmlVersion: string;
  /** llama.cpp's version. C: `llama_version`. */
  llamaVersion: string;
  /** The upstream commit that they were built from. */
  commit: string;
  /** The file with the kernels that were chosen for this processor. */
  cpuBackend: string;
  /** The runtime that this program runs on. */
  runtime: "deno" | "bun";
}

/**
 * Returns facts about the native libraries in use.
 *
 * Throws one of the Library…Errors when they can't be used.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { librariesInfo } from "./libraries.ts";
 *
 * const { ggmlVersion } = await librariesInfo();
 * assert.match(ggmlVersion, /^\d+\.\d+\.\d+$/);
 * ```
 */
export async function librariesInfo(): Promise<LibrariesInfo> {
  const native = await open();
  const { set, cpu } = native.opened();
  const { directory, target, ggmlVersion, llamaVersion, commit } = set;
  return { directory, target, ggmlVersion, llamaVersion, commit, cpuBackend: cpu, runtime: native.runtime };
}
