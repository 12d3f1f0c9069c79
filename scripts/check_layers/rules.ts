import { findChain, findCycles } from "./cycles.ts";
import type { Import, ImportKind, Module, Modules } from "./imports.ts";

/** The files and folders of the library. */
export const ROOTS = ["mod.ts", "base", "ffi", "lib", "cli"] as const;

/** What a folder may not import, in any way, and why. The first folder that a path begins with counts. */
interface Ban {
  readonly from: string;
  readonly to: RegExp;
  readonly because: string;
}

const PURE = /^(ffi|lib|cli|mod\.ts)(\/|$)|^node:|^bun|^npm:|^@/;

const BANS: readonly Ban[] = [
  { from: "base/", to: PURE, because: "base/ is beneath everything, and runs anywhere" },
  { from: "ffi/", to: /^(lib|cli)\/|^mod\.ts$/, because: "ffi/ is beneath lib/" },
  { from: "lib/", to: /^cli\/|^mod\.ts$/, because: "lib/ is beneath cli/ and mod.ts" },
  { from: "lib/whisper/", to: /^lib\/llama\//, because: "speech and language models know nothing of each other" },
  { from: "lib/llama/", to: /^lib\/whisper\//, because: "speech and language models know nothing of each other" },
  { from: "lib/ggml/", to: /^lib\/(llama|whisper|server)\//, because: "tensors are beneath models" },
  { from: "lib/support/", to: /^lib\/(?!support\/|errors\.ts)/, because: "what everything uses uses nothing of it" },
  {
    from: "lib/models/",
    to: /^lib\/(llama|whisper|ggml|server)\//,
    because: "files of models are found before they are loaded",
  },
  { from: "lib/gbnf/", to: /^ffi\/|^lib\/(?!gbnf\/|errors\.ts|support\/)/, because: "grammars are pure TypeScript" },
  {
    from: "lib/json_schema/",
    to: /^ffi\/|^lib\/(?!json_schema\/|gbnf\/|errors\.ts|support\/)/,
    because: "schemas are pure TypeScript",
  },
  {
    from: "lib/gguf/",
    to: /^ffi\/|^lib\/(?!gguf\/|errors\.ts|support\/)/,
    because: "the GGUF format is pure TypeScript",
  },
  { from: "lib/jinja/", to: /^ffi\/|^lib\/(?!jinja\/|errors\.ts|support\/)/, because: "templates are pure TypeScript" },
];

/** lib/server is above the rest of lib. */
const SERVER: Ban = { from: "lib/", to: /^lib\/server\//, because: "lib/server is above the rest of lib/" };

/** Where a runtime's own names may be used. */
const ADAPTERS = "ffi/";
const RUNTIME_NAMES = /(?<![\w$"'])(?:Deno|Bun)\s*(?:\?\.|\.(?=[a-zA-Z_])|\[)|\.(?:Deno|Bun)\b|\b(?:Deno|Bun)\?:/;

/** The entry points without native code: none of the modules that they run may match. */
export const PURE_ENTRIES: Readonly<Record<string, RegExp>> = {
  "lib/gguf/mod.ts": /^ffi\/|^node:|^bun/,
  "lib/json_schema/mod.ts": /^ffi\/|^node:|^bun/,
};

/** All that breaks a rule, each as text that shows the chain. */
export function violations(modules: Modules): string[] {
  return [
    ...findCycles(modules).map((cycle) => `circle of value imports:\n${chainText(cycle)}`),
    ...[...modules.values()].flatMap((module) => [...bannedImports(module), ...runtimeNames(module)]),
    ...Object.entries(PURE_ENTRIES).flatMap(([entry, banned]) => impureChain(modules, entry, banned)),
    ...missingFiles(modules),
  ];
}

function bannedImports(module: Module): string[] {
  const { path, imports } = module;
  const bans = BANS.filter(({ from }) => path.startsWith(from));
  if (path.startsWith("lib/") && !path.startsWith("lib/server/")) bans.push(SERVER);
  const found = bans.flatMap((ban) =>
    imports.filter(({ target }) => ban.to.test(target)).map((one) => importText(module, one, ban.because))
  );
  if (path.startsWith(ADAPTERS)) return found;
  const native = imports.filter(({ target }) => /^bun:|^node:ffi$/.test(target));
  return [...found, ...native.map((one) => importText(module, one, "only ffi/ uses a runtime's FFI"))];
}

function importText({ path }: Module, { kind, target, line }: Import, because: string): string {
  return `forbidden ${kind} import (${because}):\n${chainText([`${path}:${line}`, target])}`;
}

function runtimeNames({ path, source }: Module): string[] {
  if (path.startsWith(ADAPTERS)) return [];
  return source.split("\n").flatMap((text, at) => {
    const [name] = RUNTIME_NAMES.exec(text) ?? [];
    return name === undefined ? [] : [`only ffi/ uses the runtimes' own names:\n  ${path}:${at + 1} ${text.trim()}`];
  });
}

/** What is imported when it is needed runs too, but the runtime's own modules may be asked for then. */
function impureChain(modules: Modules, entry: string, banned: RegExp): string[] {
  const chain = findChain(modules, entry, ["value"], (target) => banned.test(target)) ??
    findChain(modules, entry, ["value", "dynamic", "url"], (target) => target.startsWith("ffi/"));
  return chain === undefined ? [] : [`${entry} must run anywhere, without native code:\n${chainText(chain)}`];
}

/** A file that isn't there would hide what is behind it. */
function missingFiles(modules: Modules): string[] {
  const kinds: readonly ImportKind[] = ["value", "type", "dynamic"];
  return [...modules.values()].flatMap(({ path, imports }) =>
    imports.filter(({ kind, target }) => kinds.includes(kind) && target.endsWith(".ts") && !modules.has(target))
      .map(({ line, target }) => `there is no such module:\n${chainText([`${path}:${line}`, target])}`)
  );
}

function chainText(chain: readonly string[]): string {
  return chain.map((path, at) => at === 0 ? `  ${path}` : `  -> ${path}`).join("\n");
}
