/** Loads a module of set-up. They are plain JavaScript, so that set-up needs nothing but Node. */
// deno-lint-ignore no-explicit-any
export async function setupModule(name: string): Promise<any> {
  return await import(new URL(`../../scripts/setup/${name}.mjs`, import.meta.url).href);
}

/** The folder of the source tree. */
export const root: URL = new URL("../../../", import.meta.url);
