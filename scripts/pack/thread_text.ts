import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lineTable } from "./line_table.ts";

/** The entries of native threads, each with a module beside it that carries its text, and that text's name. */
export const THREAD_ENTRIES = [
  { folder: "ffi/thread", constant: "callThreadSource" },
  { folder: "lib/worker", constant: "nativeThreadSource" },
] as const;

/**
 * Puts the whole program of each native thread, as text, into the module that carries it. A bundler then takes it along with everything else, and the thread
 * starts without a file of its own. Names and lines stay, so that errors can be read.
 */
export async function embedThreads(staged: string): Promise<void> {
  for (const { folder, constant } of THREAD_ENTRIES) {
    const path = join(staged, folder, "entry_source.ts");
    const source = readFileSync(path, "utf8");
    const text = JSON.stringify(await threadText(staged, folder));
    const made = source.replace(`${constant}: string | null = null`, () => `${constant}: string | null = ${text}`);
    if (made === source) throw new Error(`${path} has no place for the text`);
    writeFileSync(path, made);
  }
}

async function threadText(staged: string, folder: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: staged,
    entryPoints: [`${folder}/entry.ts`],
    outfile: "thread.js",
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "esnext",
    sourcemap: "external",
    legalComments: "none",
  });
  const [map, text] = ["thread.js.map", "thread.js"].map((name) =>
    outputFiles.find(({ path }) => path.endsWith(name))?.text
  );
  if (map === undefined || text === undefined) throw new Error(`esbuild made nothing of ${folder}/entry.ts`);
  return `${text}globalThis.ggmlFfiLines = ${JSON.stringify(lineTable(map))};\n`;
}
