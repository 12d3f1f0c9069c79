import { build } from "esbuild";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { PlatformPackage } from "./platform.ts";
import { ROOT } from "../support/root.ts";
import { npmPack, readJson, run, writeJson } from "./tools.ts";

const CONTENTS = ["mod.ts", "base", "ffi", "lib", "deno.json", "LICENSE", "README.md"] as const;

/** The entries of native threads, each with a module beside it that carries its text, and that text's name. */
const THREAD_ENTRIES = [
  { folder: join("ffi", "thread"), constant: "callThreadSource" },
  { folder: join("lib", "worker"), constant: "nativeThreadSource" },
] as const;

/** Makes the package of the library, and gives its tarball's path. */
export async function packLibrary(platforms: readonly PlatformPackage[], work: string, out: string): Promise<string> {
  const staged = join(work, "library");
  mkdirSync(staged);
  for (const name of CONTENTS) {
    if (existsSync(join(ROOT, name))) cpSync(join(ROOT, name), join(staged, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(staged, "node_modules"), "junction");
  for (const entry of THREAD_ENTRIES) await embedEntry(staged, entry);
  run(process.execPath, ["pack", "--allow-dirty", "--no-source-maps", "--output", join(work, "library.tgz")], staged);
  run("tar", ["-xzf", join(work, "library.tgz"), "-C", work], work);
  const folder = join(work, "package");
  removeSources(folder);
  completePackage(folder, platforms);
  return npmPack(folder, out);
}

/**
 * Puts the whole program of a native thread, as text, into the module that carries it. A bundler then takes it along with everything else,
 * and the thread starts without a file of its own.
 */
async function embedEntry(staged: string, { folder, constant }: (typeof THREAD_ENTRIES)[number]): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [join(staged, folder, "entry.ts")],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "esnext",
    minify: true,
    legalComments: "none",
  });
  const text = outputFiles[0]?.text;
  if (text === undefined) throw new Error(`esbuild made nothing of ${folder}/entry.ts`);
  writeFileSync(
    join(staged, folder, "entry_source.ts"),
    `/** The native thread's program, put here by the packing script. */\nexport const ${constant}: string | null = ${
      JSON.stringify(text)
    };\n`,
  );
}

/** `deno pack` takes along as they are the files that no export leads to; here they are of no use. */
function removeSources(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".ts") && !name.endsWith(".d.ts")) rmSync(join(folder, name));
  }
}

/** `deno pack` knows deno.json only: what npm and bundlers want beside it is added here. */
function completePackage(folder: string, platforms: readonly PlatformPackage[]): void {
  const path = join(folder, "package.json");
  const { description, dependencies } = readJson(join(ROOT, "package.json"));
  writeJson(path, {
    ...readJson(path),
    description,
    dependencies,
    optionalDependencies: Object.fromEntries(platforms.map(({ name, version }) => [name, version])),
    engines: { bun: ">=1.4.0", deno: ">=2.9.0" },
  });
}
