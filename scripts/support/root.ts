import { fileURLToPath } from "node:url";

/** The folder of the source tree, without a separator at its end. */
export const ROOT: string = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");
