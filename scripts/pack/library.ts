import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { ROOT } from "../support/root.ts";
import type { PlatformPackage } from "./platform.ts";
import { withPackages } from "./stage.ts";
import { THREAD_ENTRIES } from "./thread_text.ts";
import { npmPack, readJson, run, writeJson } from "./tools.ts";

const RUNTIME_CHECK = "cli/runtime_check";
/** Modules that are started by their address, or added by this script: exports while `deno pack` runs, so that it takes them along. */
const STARTED = [
  ...THREAD_ENTRIES.map(({ folder }) => `${folder}/entry`),
  "lib/ggml/rpc/server_process",
  RUNTIME_CHECK,
];
/** The program that `bunx`, `npx` and `deno run npm:…` start. */
const PROGRAM = "cli/bin";

/** Makes the npm package of the library out of the staged sources, and gives its tarball's path. */
export async function packLibrary(
  platforms: readonly PlatformPackage[],
  sources: string,
  work: string,
  out: string,
): Promise<string> {
  const staged = join(work, "library");
  cpSync(sources, staged, { recursive: true });
  const config = readJson(join(staged, "deno.json")) as { exports: Record<string, string> };
  const hidden = [...STARTED, PROGRAM].map((path) => [`./${path}`, `./${path}.ts`]);
  writeJson(join(staged, "deno.json"), { ...config, exports: { ...config.exports, ...Object.fromEntries(hidden) } });
  const pack = ["pack", "--allow-dirty", "--no-source-maps", "--output", join(work, "library.tgz")];
  await withPackages(staged, () => run(process.execPath, pack, staged));
  run("tar", ["-xzf", join(work, "library.tgz"), "-C", work], work);
  const folder = join(work, "package");
  removeSources(folder);
  await completePackage(folder, platforms);
  return npmPack(folder, out);
}

/** `deno pack` takes along as they are the files that no export leads to; here they are of no use. */
function removeSources(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".ts") && !name.endsWith(".d.ts")) rmSync(join(folder, name));
  }
}

/** The conditions of an export. */
type Conditions = Readonly<Record<string, string>>;

/** `deno pack` knows deno.json only: what npm, Node and bundlers want beside it is added here. */
async function completePackage(folder: string, platforms: readonly PlatformPackage[]): Promise<void> {
  const path = join(folder, "package.json");
  const made = readJson(path) as { exports: Record<string, Conditions> };
  const { description, repository, dependencies, keywords } = readJson(join(ROOT, "package.json"));
  const hidden = new Set([...STARTED, PROGRAM].map((name) => `./${name}`));
  const exports: Record<string, Conditions | string> = { "./package.json": "./package.json" };
  for (const [entry, conditions] of Object.entries(made.exports)) {
    if (!hidden.has(entry)) exports[entry] = PURE.has(entry) ? conditions : await withNode(folder, conditions);
  }
  addShebang(join(folder, `${PROGRAM}.js`));
  writeJson(path, {
    ...made,
    description,
    repository,
    keywords,
    bin: { "ggml-ffi": `./${PROGRAM}.js` },
    exports,
    dependencies,
    optionalDependencies: Object.fromEntries(platforms.map(({ name, version }) => [name, version])),
    engines: { bun: ">=1.4.0", deno: ">=2.9.0" },
  });
}

/** The entry points that run anywhere. */
const PURE = new Set(["./gguf", "./schema"]);

/**
 * In Node an entry point says what it needs before anything else. It has the names of the real one, without which Node would complain of those, and nothing
 * that an older Node can't parse. Bundlers, which ask for modules under the condition `module`, get the real one.
 */
async function withNode(folder: string, conditions: Conditions): Promise<Conditions> {
  const { types = "", default: file = "" } = conditions;
  const node = file.replace(/\.js$/, ".node.js");
  const names = Object.keys(await import(pathToFileURL(join(folder, file)).href)).sort();
  const depth = "../".repeat(file.split("/").length - 2) || "./";
  const source = `import "${depth}${RUNTIME_CHECK}.js";\n${
    names.map((name) => `export const ${name} = undefined;\n`).join("")
  }`;
  writeFileSync(join(folder, node), source);
  return { types, bun: file, deno: file, module: file, node, default: file };
}

function addShebang(path: string): void {
  writeFileSync(path, `#!/usr/bin/env node\n${readFileSync(path, "utf8").replace(/^#!.*\n/, "")}`);
  chmodSync(path, 0o755);
}
