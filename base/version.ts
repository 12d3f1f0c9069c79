/** The version of this package, that of deno.json and package.json; a test compares them. */
export const packageVersion: string = "0.1.0";
