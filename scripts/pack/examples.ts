import { entryPoints, publicNames } from "../public_names/read.ts";

const PACKAGE = "@ggml-ffi/ggml-ffi";
/** An import of a file of the tree in an example: of a doc comment, or of a block in Markdown. */
const RELATIVE = /^( (?: {2})?\* |)import (type )?\{([^}]*)\} from "\.{1,2}\/[^"]*";/gm;

/**
 * Returns a function that makes examples import the package: each name from the entry point that exports it, the first one where more do. Examples of what no
 * entry point exports stay.
 */
export function examplesOfPackage(): (source: string, file: string) => string {
  const entries = new Map<string, string>();
  for (const entry of Object.keys(entryPoints())) {
    for (const { name } of publicNames(entry)) if (!entries.has(name)) entries.set(name, entry);
  }
  return (source, file) =>
    source.replaceAll(RELATIVE, (whole, indent: string, type: string | undefined, list: string) => {
      if (indent === "" && !file.endsWith(".md")) return whole;
      const found = imports(list, entries);
      if (found === undefined) return whole;
      return found.map(([from, names]) => `${indent}import ${type ?? ""}{ ${names.join(", ")} } from "${from}";`).join(
        "\n",
      );
    });
}

/** Names by the specifier that they are imported from; `undefined` when one of them isn't public. */
function imports(list: string, entries: ReadonlyMap<string, string>): [string, string[]][] | undefined {
  const bySpecifier = new Map<string, string[]>();
  for (const written of list.split(",").map((one) => one.trim()).filter((one) => one !== "")) {
    const entry = entries.get(written.replace(/^type /, "").split(" as ")[0] ?? "");
    if (entry === undefined) return undefined;
    const from = PACKAGE + entry.slice(1);
    bySpecifier.set(from, [...bySpecifier.get(from) ?? [], written]);
  }
  return [...bySpecifier];
}
