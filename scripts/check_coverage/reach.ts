import type { Declaration, readModules } from "./code.ts";

type Modules = ReturnType<typeof readModules>;

/** The public names of the entries: of declarations, as `file name`. */
export function publicNames(modules: Modules, entry: string, prefix = ""): Map<string, string> {
  const found = new Map<string, string>();
  const module = modules.get(entry);
  if (module === undefined) return found;
  for (const { name, exported } of module.declarations) {
    if (exported && !name.includes(".")) found.set(`${entry} ${name}`, prefix + name);
  }
  for (const [as, { file, name }] of module.exports) {
    if (name !== "*") found.set(resolve(modules, file, name), prefix + as);
    else {for (const [key, value] of publicNames(modules, file, as.startsWith("* ") ? prefix : `${prefix}${as}.`)) {
        found.set(key, value);
      }}
  }
  return found;
}

/** The declaration of a name that a module exports. */
function resolve(modules: Modules, file: string, name: string): string {
  const passed = modules.get(file)?.exports.get(name);
  return passed === undefined ? `${file} ${name}` : resolve(modules, passed.file, passed.name);
}

/** For each function of C the public, documented names of the library from which code leads to it. */
export function reachFunctions(
  modules: Modules,
  open: ReadonlyMap<string, string>,
  functions: ReadonlySet<string>,
): Map<string, string[]> {
  const reached = new Map<string, string[]>();
  const byKey = new Map<string, Declaration[]>();
  for (const { declarations } of modules.values()) {
    for (const one of declarations) {
      const key = `${one.file} ${one.name}`;
      byKey.set(key, [...(byKey.get(key) ?? []), one]);
    }
  }
  const linksOf = linker(modules, byKey, functions);
  for (const [key, publicName] of open) {
    const [file = "", name = ""] = key.split(" ");
    const starts = [...byKey.keys()].filter((one) => one === key || one.startsWith(`${file} ${name}.`));
    for (const start of starts) {
      const entries = byKey.get(start) ?? [];
      if (!entries.some(({ exported, documented }) => exported && (documented || start.endsWith(".constructor")))) {
        continue;
      }
      const shown = publicName + start.slice(key.length);
      for (const fn of usedFrom(linksOf, start)) {
        const names = reached.get(fn) ?? [];
        if (!names.includes(shown)) reached.set(fn, [...names, shown]);
      }
    }
  }
  return reached;
}

interface Links {
  readonly functions: readonly string[];
  readonly keys: readonly string[];
}

/** The functions that a declaration, and what it mentions, calls. */
function usedFrom(linksOf: (key: string) => Links, start: string): Set<string> {
  const used = new Set<string>();
  const seen = new Set<string>();
  const open = [start];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (seen.has(key)) continue;
    seen.add(key);
    const { functions, keys } = linksOf(key);
    functions.forEach((fn) => used.add(fn));
    open.push(...keys);
  }
  return used;
}

/** The functions and declarations that each declaration mentions, looked up once. */
function linker(
  modules: Modules,
  byKey: ReadonlyMap<string, Declaration[]>,
  functions: ReadonlySet<string>,
): (key: string) => Links {
  const known = new Map<string, Links>();
  return (key) => {
    let links = known.get(key);
    if (links === undefined) {
      links = { functions: [], keys: [] };
      for (const { file, name, text } of byKey.get(key) ?? []) {
        const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
        const called = [...code.matchAll(/(?:\blib(?:Of\([^)]*\))?\??\.|"|\bLib\[")(\w+)(?=["(,;\s\]).])/g)].map((
          [, fn = ""],
        ) => fn);
        links = {
          functions: [...links.functions, ...called.filter((fn) => functions.has(fn))],
          keys: [...links.keys, ...mentioned(modules, file, name, code, byKey), ...assigners(file, name, byKey)],
        };
      }
      known.set(key, links);
    }
    return links;
  };
}

/** The static blocks of the module that give a variable its value: `create = (handle) => new Model(handle)`. */
function assigners(file: string, name: string, byKey: ReadonlyMap<string, Declaration[]>): string[] {
  const assigns = new RegExp(`\\b${name.replace("#", "")} = `);
  return [...byKey].filter(([key, all]) =>
    key.startsWith(`${file} `) && key.endsWith(".static") && all.some(({ text }) => assigns.test(text))
  ).map(([key]) => key);
}

/** The declarations that code mentions: names of its module, imported ones, private members, tasks by their name. */
function mentioned(
  modules: Modules,
  file: string,
  name: string,
  code: string,
  byKey: ReadonlyMap<string, Declaration[]>,
): string[] {
  const module = modules.get(file);
  if (module === undefined) return [];
  const [owner] = name.split(".");
  const words = new Set(code.match(/[A-Za-z_]\w*/g) ?? []);
  const keys = [...words].flatMap((word) => {
    if (byKey.has(`${file} ${word}`) && word !== name) {
      return [`${file} ${word}`, ...staticMembers(byKey, file, word, code)];
    }
    const from = module.imports.get(word);
    if (from === undefined) return [];
    if (from.name === "*") {
      return [...code.matchAll(new RegExp(`\\b${word}\\.(\\w+)`, "g"))].map(([, member = ""]) =>
        resolve(modules, from.file, member)
      );
    }
    const target = resolve(modules, from.file, from.name);
    const [targetFile = "", targetName = ""] = target.split(" ");
    return [target, ...staticMembers(byKey, targetFile, targetName, code, word)];
  });
  const own = [...code.matchAll(/this\.(#?\w+)/g)].map(([, member = ""]) => `${file} ${owner}.${member}`);
  // A method called on an object may be a member of any class that the module knows.
  const files = new Set([file, ...[...module.imports.values()].map((one) => one.file)]);
  const members = new Set([...code.matchAll(/\.(\w+)\(/g)].map(([, member = ""]) => member));
  const onObjects = [...byKey.values()].flat()
    .filter((one) => files.has(one.file) && one.exported && members.has(one.name.split(".")[1] ?? ""))
    .map((one) => `${one.file} ${one.name}`);
  const tasks = [...code.matchAll(/\.run\("(\w+)"/g)].map(([, task = ""]) => task);
  const taskKeys = tasks.flatMap((task) =>
    [...byKey.keys()].filter((key) => /\/thread\//.test(key) && key.endsWith(` ${task}`))
  );
  return [...keys, ...own, ...onObjects, ...taskKeys];
}

/** The members that a mention of a class reaches: its constructor when it is made, and its static members that are named. */
function staticMembers(
  byKey: ReadonlyMap<string, Declaration[]>,
  file: string,
  name: string,
  code: string,
  as = name,
): string[] {
  const made = new RegExp(`new ${as}\\b`).test(code) ? [`${file} ${name}.constructor`] : [];
  const named = [...code.matchAll(new RegExp(`\\b${as}\\.(\\w+)`, "g"))].map(([, member = ""]) =>
    `${file} ${name}.${member}`
  );
  return [...made, ...named].filter((key) => byKey.has(key));
}
