import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** A declaration of a module, or a member of a class. */
export interface Declaration {
  readonly file: string;
  /** `"Tensor.setInput"` for a member. */
  readonly name: string;
  readonly exported: boolean;
  /** Whether a doc comment stands before it. */
  readonly documented: boolean;
  readonly text: string;
}

interface Module {
  readonly file: string;
  readonly declarations: readonly Declaration[];
  /** The file of each imported name, and its name there. */
  readonly imports: ReadonlyMap<string, { file: string; name: string }>;
  /** Names that are passed on: `"*"` for all. */
  readonly exports: ReadonlyMap<string, { file: string; name: string }>;
}

const declarationStart =
  /^(export )?(?:default )?(?:abstract )?(?:async )?(function\*?|class|const|let|interface|type|enum) (\w+)/;
const memberStart = /^ {2}(?:private |static |readonly |override |async |get |set |\*)*(#?\w+)[?!]?(?:<[^>]*>)?[(:=; ]/;

/** The modules that are reached from some, by their files. */
export function readModules(root: string, entries: readonly string[]): Map<string, Module> {
  const modules = new Map<string, Module>();
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (modules.has(file) || !existsSync(join(root, file))) continue;
    const module = readModule(root, file);
    modules.set(file, module);
    for (const { file: other } of [...module.imports.values(), ...module.exports.values()]) open.push(other);
  }
  return modules;
}

function readModule(root: string, file: string): Module {
  const text = readFileSync(join(root, file), "utf8");
  const imports = new Map<string, { file: string; name: string }>();
  const exports = new Map<string, { file: string; name: string }>();
  const target = (path: string): string => normalize(join(dirname(file), path));
  for (const [, names = "", path = ""] of text.matchAll(/^import (?:type )?\{([^}]*)\} from "(\.[^"]+)";/gm)) {
    for (const [name, as] of listed(names)) imports.set(as, { file: target(path), name });
  }
  for (const [, as = "", path = ""] of text.matchAll(/^import \* as (\w+) from "(\.[^"]+)";/gm)) {
    imports.set(as, { file: target(path), name: "*" });
  }
  for (const [, names = "", path = ""] of text.matchAll(/^export (?:type )?\{([^}]*)\} from "(\.[^"]+)";/gm)) {
    for (const [name, as] of listed(names)) exports.set(as, { file: target(path), name });
  }
  for (const [, as = "", path = ""] of text.matchAll(/^export \*(?: as (\w+))? from "(\.[^"]+)";/gm)) {
    exports.set(as === "" ? `* ${path}` : as, { file: target(path), name: "*" });
  }
  return { file, declarations: declarationsOf(file, text), imports, exports };
}

function listed(names: string): [name: string, as: string][] {
  return names.split(",").map((one) => one.trim().replace(/^type /, "")).filter((one) => one !== "").map((one) => {
    const [name = "", as = name] = one.split(" as ");
    return [name, as];
  });
}

function declarationsOf(file: string, text: string): Declaration[] {
  const lines = text.split("\n");
  const starts = lines.flatMap((line, index) => declarationStart.test(line) ? [index] : []);
  return starts.flatMap((start, at) => {
    const own = lines.slice(start, starts[at + 1] ?? lines.length);
    const [, exported, kind, name = ""] = declarationStart.exec(lines[start] ?? "") ?? [];
    const documented = /\*\/\s*$/.test(lines[start - 1] ?? "");
    const whole = { file, name, exported: exported !== undefined, documented, text: own.join("\n") };
    return kind === "class" ? [{ ...whole, text: own[0] ?? "" }, ...membersOf(whole, own)] : [whole];
  });
}

function membersOf(owner: Declaration, lines: readonly string[]): Declaration[] {
  const end = lines.findIndex((line, index) => index > 0 && line === "}");
  const body = lines.slice(0, end < 0 ? lines.length : end);
  const starts = body.flatMap((line, index) => index > 0 && memberStart.test(line) ? [index] : []);
  return starts.map((start, at) => {
    const name = memberStart.exec(body[start] ?? "")?.[1] ?? "";
    return {
      file: owner.file,
      name: `${owner.name}.${name}`,
      exported: owner.exported && !name.startsWith("#") && !/^ {2}private /.test(body[start] ?? ""),
      documented: /\*\/\s*$/.test(body[start - 1] ?? ""),
      text: body.slice(start, starts[at + 1] ?? body.length).join("\n"),
    };
  });
}
