import process from "node:process";
import { packageVersion } from "../../base/version.ts";
import { manifestHashes } from "./release.ts";

const NAME = "@ggml-ffi/ggml-ffi";
/** Deno runs modules from http addresses, as JSR's are. */
export const IS_REMOTE: boolean = /^https?:/.test(import.meta.url);

/** The commands that start the command line program, of this version or of the newest. */
export function programCommands(version: string = ""): { readonly deno: string; readonly bun: string } {
  if (manifestHashes === null) return { deno: "deno run -A cli/main.ts", bun: "bun cli/main.ts" };
  return {
    deno: `deno run -A ${IS_REMOTE ? `jsr:${NAME}${version}/cli` : `npm:${NAME}${version}`}`,
    bun: `bunx --bun ${NAME}${version}`,
  };
}

/** The command that brings the libraries to where they are looked for. */
export function installCommand(): string {
  if (manifestHashes === null) return "npm run setup";
  const { deno, bun } = programCommands(`@${packageVersion}`);
  return `${"deno" in process.versions ? deno : bun} install-libraries`;
}
