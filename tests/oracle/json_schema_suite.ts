/**
 * Brings the official JSON Schema test suite into the cache: it is in the source package of Python's `jsonschema`. Run as a program, it prints what the
 * grammars make of it, by keyword: `deno run -A tests/oracle/json_schema_suite.ts`.
 */

import { readdir, readFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { matchesGrammar, parseGrammar } from "../../lib/gbnf/mod.ts";
import { type JsonSchema, schemaToGrammar } from "../../lib/json_schema/mod.ts";
import { cacheFolder, produce } from "../../scripts/setup/cache.ts";
import { runPython } from "../../scripts/setup/python.ts";
import { filesOf } from "../../scripts/setup/tar.ts";
import {
  readSuite,
  remoteSchemas,
  runSuite,
  type SuiteCounts,
  type SuiteDraft,
  totalOf,
} from "../unit/schema/suite.ts";

const VERSION = "4.25.1";
const SHA256 = "e4a9655ce0da0c0b67a085847e00a3a51449e1157f4f75e9fb5aa545e122eb85";

/** Returns the folder of the suite. */
export async function ensureJsonSchemaSuite(cache = cacheFolder()): Promise<string> {
  const folder = join(cache, "oracle", `json-schema-suite-${VERSION}`);
  await produce(folder, async (temporary) => {
    const download = `${temporary}-download`;
    await mkdir(download, { recursive: true });
    try {
      const flags = ["--no-deps", "--no-input", "--no-binary=jsonschema", "--disable-pip-version-check"];
      await runPython(["-m", "pip", "download", "-q", ...flags, "-d", download, `jsonschema==${VERSION}`], {
        task: `fetching jsonschema ${VERSION}`,
      });
      const [name = ""] = (await readdir(download)).filter((one) => one.endsWith(".tar.gz"));
      const bytes = await readFile(join(download, name));
      const hash = createHash("sha256").update(bytes).digest("hex");
      if (hash !== SHA256) throw new Error(`jsonschema ${VERSION} has the hash ${hash} instead of ${SHA256}`);
      await unpack(bytes, `${temporary}-unpacked`);
      await rename(`${temporary}-unpacked`, temporary);
    } finally {
      await rm(download, { recursive: true, force: true });
    }
  });
  return folder;
}

async function unpack(tgz: Uint8Array, folder: string): Promise<void> {
  for (const { path, bytes } of filesOf(tgz)) {
    const inside = /^[^/]+\/json\/((?:tests|remotes)\/.+\.json)$/.exec(path)?.[1];
    if (inside === undefined) continue;
    const target = join(folder, inside);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, bytes);
  }
}

/** Runs a draft of the suite against the grammars. */
export async function suiteCounts(draft: SuiteDraft): Promise<ReturnType<typeof runSuite>> {
  const folder = await ensureJsonSchemaSuite();
  const schemas = remoteSchemas(folder);
  return runSuite(readSuite(folder, draft), (schema: JsonSchema) => {
    const grammar = parseGrammar(schemaToGrammar(schema, { schemas }));
    return (text) => matchesGrammar(grammar, text);
  });
}

function line(keyword: string, { schemas, refused, unsound, valid, validRefused }: SuiteCounts): string {
  const cells = [String(schemas), String(refused), String(unsound), `${validRefused}/${valid}`];
  return keyword.padEnd(28) + cells.map((cell) => cell.padStart(10)).join("");
}

if (import.meta.main) {
  for (const draft of ["draft7", "draft2020-12"] as const) {
    const { counts, findings } = await suiteCounts(draft);
    const head = ["schemas", "refused", "unsound", "valid ref."].map((cell) => cell.padStart(10)).join("");
    const lines = [...counts].map(([keyword, count]) => line(keyword, count));
    process.stdout.write(`${draft.padEnd(28)}${head}\n${lines.join("\n")}\n${line("all", totalOf(counts))}\n\n`);
    for (const { kind, keyword, title, detail } of findings) {
      if (kind !== "valid refused") process.stdout.write(`${kind}: ${keyword}: ${title}: ${detail.slice(0, 300)}\n`);
    }
    process.stdout.write("\n");
  }
}
