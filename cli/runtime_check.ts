/**
 * Throws in a runtime that the library doesn't run in. The npm package's entry points for Node import it first.
 *
 * @module
 */

import process from "node:process";

/** The sentence for those who run Node. */
export const OTHER_RUNTIME =
  "@ggml-ffi/ggml-ffi needs Deno 2.9 or Bun 1.4, or newer: run your program by `bun` or `deno run -A` instead of `node`";

if (!("deno" in process.versions || "bun" in process.versions)) throw new Error(OTHER_RUNTIME);
