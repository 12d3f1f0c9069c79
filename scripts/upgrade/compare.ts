// What two releases of upstream's headers declare differently.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { printCType } from "../bindgen/ctype.ts";
import { prototype } from "../bindgen/emit.ts";
import { headers, includeFolders } from "../bindgen/headers.ts";
import type { Api, RecordDecl } from "../bindgen/model.ts";

/** Named things of one kind, by what became of them. */
export interface Changes {
  readonly kind: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Each as `name`, before and after. */
  readonly changed: readonly (readonly [name: string, before: string, after: string])[];
}

/** The differences of two releases: header files, functions, structs, enums, constants. */
export function compareReleases(
  [oldRoot, oldApi]: readonly [root: string, api: Api],
  [newRoot, newApi]: readonly [root: string, api: Api],
): Changes[] {
  const of = (kind: string, read: (root: string, api: Api) => Map<string, string>): Changes =>
    compare(kind, read(oldRoot, oldApi), read(newRoot, newApi));
  return [
    of("headers", (root) => headerFiles(root)),
    of("functions", (_, api) => new Map(api.functions.map((fn) => [fn.name, prototype(fn)]))),
    of("structs", (_, api) => new Map(api.records.map((record) => [record.name, structText(record)]))),
    of("enums", (_, api) => new Map(api.enums.map(({ name, values }) => [name, pairs(values)]))),
    of("constants", (_, api) => new Map(api.constants.map(({ name, value }) => [name, String(value)]))),
  ];
}

/** The header files of the folders that are read, those that aren't bound too, each with a hash of its text. */
function headerFiles(root: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const folder of includeFolders) {
    const path = join(root, folder);
    for (const name of existsSync(path) ? readdirSync(path).sort() : []) {
      if (!name.endsWith(".h")) continue;
      const isBound = headers.some((header) => header.name === name);
      if (!isBound && folder === "ggml/src") continue;
      const hash = createHash("sha256").update(readFileSync(join(path, name))).digest("hex").slice(0, 12);
      files.set(`${name}${isBound ? "" : " (not bound)"}`, hash);
    }
  }
  return files;
}

function structText({ tag, size, align, fields }: RecordDecl): string {
  const list = fields.map(({ name, type, offset }) => `${offset}: ${printCType(type, name)};`);
  return `${tag} of ${size} bytes, alignment ${align} { ${list.join(" ")} }`;
}

function pairs(values: readonly (readonly [string, number])[]): string {
  return values.map(([name, value]) => `${name} = ${value}`).join(", ");
}

function compare(kind: string, before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): Changes {
  return {
    kind,
    added: [...after].filter(([name]) => !before.has(name)).map(([name, text]) => `${name}: ${text}`),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: [...after].flatMap(([name, text]) => {
      const old = before.get(name);
      return old === undefined || old === text ? [] : [[name, old, text] as const];
    }),
  };
}

/** The report of the differences, one line each; of what changed only the parts that differ. */
export function reportChanges(all: readonly Changes[]): string {
  return all.map(({ kind, added, removed, changed }) => {
    const lines = [
      ...added.map((text) => `  + ${text}`),
      ...removed.map((name) => `  - ${name}`),
      ...changed.flatMap(([name, before, after]) => [`  ~ ${name}`, ...differingParts(before, after)]),
    ];
    const head = `${kind}: ${added.length} added, ${removed.length} removed, ${changed.length} changed`;
    return [head, ...lines].map((line) => `${line}\n`).join("");
  }).join("");
}

/** Of two lists in text form the entries that only one has. */
function differingParts(before: string, after: string): string[] {
  const split = (text: string): string[] => text.split(/(?<=[;{]) |, (?=\w+ = )/);
  const [old, now] = [split(before), split(after)];
  return [
    ...old.filter((part) => !now.includes(part)).map((part) => `      was ${part}`),
    ...now.filter((part) => !old.includes(part)).map((part) => `      is  ${part}`),
  ];
}
