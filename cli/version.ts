import deno from "../deno.json" with { type: "json" };

/** The package's version. */
export const packageVersion: string = deno.version;
