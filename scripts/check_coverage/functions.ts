import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A function of ggml's headers. */
export interface HeaderFunction {
  readonly name: string;
  readonly header: string;
}

const headers: readonly string[] = ["ggml.h", "ggml-alloc.h", "ggml-backend.h", "ggml-opt.h", "gguf.h"];

/** Every function of ggml's public headers, as the generated tables have them. */
export function headerFunctions(root: string): HeaderFunction[] {
  const folder = join(root, "ffi", "tables");
  const files = readdirSync(folder).filter((name) => name.endsWith("_functions.ts"));
  const found = files.flatMap((name) => {
    const text = readFileSync(join(folder, name), "utf8");
    return [...text.matchAll(/\/\*\* .*?` \(([\w-]+\.h)\).*\n {2}(\w+)\(/g)].map(([, header = "", fn = ""]) => ({
      name: fn,
      header,
    }));
  });
  return found.filter(({ header }) => headers.includes(header));
}
