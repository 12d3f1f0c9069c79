import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/**
 * A kind of import: `value` runs the other module, `type` is erased, `dynamic` is `import()`, `url` is `new URL(…, import.meta.url)` or `import.meta.resolve(…)`.
 */
export type ImportKind = "value" | "type" | "dynamic" | "url";

/** An import as it is written. */
export interface Import {
  readonly kind: ImportKind;
  /** The file, relative to the root with `/`; or the specifier, where it isn't a path. */
  readonly target: string;
  /** Where it is written, from 1. */
  readonly line: number;
}

/** A module and what it imports. */
export interface Module {
  /** The file, relative to the root with `/`. */
  readonly path: string;
  /** The source with its comments blanked. */
  readonly source: string;
  readonly imports: readonly Import[];
}

/** Modules by their paths. */
export type Modules = ReadonlyMap<string, Module>;

/** Reads the modules of these files and folders, as far as they are there. */
export function readModules(root: string, roots: readonly string[]): Modules {
  const modules = new Map<string, Module>();
  for (const name of roots) {
    for (const path of filesIn(root, name)) {
      const source = blankComments(readFileSync(join(root, path), "utf8"));
      modules.set(path, { path, source, imports: importsOf(path, source) });
    }
  }
  return modules;
}

function filesIn(root: string, name: string): string[] {
  const path = join(root, name);
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [name];
  const names = readdirSync(path, { recursive: true, encoding: "utf8" });
  return names.filter((one) => one.endsWith(".ts")).map((one) => join(name, one).replaceAll("\\", "/")).sort();
}

/** Comments become spaces, so that offsets and lines stay. The source is formatted by `deno fmt`: comments begin a line or follow a space. */
function blankComments(source: string): string {
  const blank = (text: string): string => text.replaceAll(/[^\n]/g, " ");
  return source.replaceAll(/^[ \t]*\/\*[\s\S]*?\*\//gm, blank).replaceAll(/(^|[ \t])\/\/ .*$/gm, blank);
}

/** The forms in which a module is named, each with its specifier in the group `to`; names between braces in `names`. */
const FORMS: readonly { readonly kind: ImportKind; readonly pattern: RegExp }[] = [
  { kind: "type", pattern: /^(?:import|export) type [^;"]*?from "(?<to>[^"]+)"/gm },
  {
    kind: "value",
    pattern: /^import (?!type )(?:[\w$]+,? ?)?(?:\{(?<names>[^}]*)\}|\* as \w+)? ?from "(?<to>[^"]+)"/gm,
  },
  { kind: "value", pattern: /^import "(?<to>[^"]+)"/gm },
  { kind: "value", pattern: /^export (?:\{(?<names>[^}]*)\}|\*(?: as \w+)?) from "(?<to>[^"]+)"/gm },
  { kind: "type", pattern: /\bimport\("(?<to>[^"]+)"\)\.(?!then\b|catch\b)/g },
  { kind: "dynamic", pattern: /\bimport\(\s*["`](?<to>[^"`$]+)["`](?:\)(?!\.(?!then\b|catch\b))|,)/g },
  { kind: "url", pattern: /new URL\(\s*["`](?<to>[^"`]+)["`],\s*import\.meta\.url/g },
  { kind: "url", pattern: /import\.meta\.resolve\(\s*["`](?<to>[^"`]+)["`]/g },
];

function importsOf(path: string, source: string): Import[] {
  return FORMS.flatMap(({ kind, pattern }) =>
    [...source.matchAll(pattern)].map(({ groups, index }) => ({
      kind: kind === "value" && onlyTypes(groups?.names) ? "type" as const : kind,
      target: targetOf(path, groups?.to ?? ""),
      line: source.slice(0, index).split("\n").length,
    }))
  );
}

/** Whether each name between the braces is a type; TypeScript then erases the import. */
function onlyTypes(names: string | undefined): boolean {
  const list = names?.split(",").map((name) => name.trim()).filter((name) => name !== "") ?? [];
  return list.length > 0 && list.every((name) => name.startsWith("type "));
}

function targetOf(from: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  return relative(".", join(dirname(from), specifier)).replaceAll("\\", "/");
}
