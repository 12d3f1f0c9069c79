import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { defaultModelPath } from "../../mod.ts";
import { ROOT, runProgram, runtime, runtimeProgram } from "../support/program.ts";
import { basePath, jfkPath, tinyEnglishPath, voiceActivityPath } from "../whisper/files.ts";
import { type Block, blocksOf, documents } from "./blocks.ts";

/** The folder of the modules: in the tree, so that they import the package by its name. */
let modules: string;
/** The folder that they run in, with the files that the documents name. */
let place: string;
before(async () => {
  mkdirSync(join(ROOT, ".tmp"), { recursive: true });
  modules = mkdtempSync(join(ROOT, ".tmp", "docs-"));
  place = join(modules, "place");
  mkdirSync(place);
  const files = {
    "model.gguf": await defaultModelPath(),
    "talk.wav": jfkPath,
    "ggml-tiny.en.bin": tinyEnglishPath,
    "ggml-base.bin": basePath,
    "ggml-silero.bin": voiceActivityPath,
  };
  // The module that docs/sampling.md names.
  writeFileSync(
    join(modules, "sampler.ts"),
    "export default () => (candidates) => candidates.keep((token) => token % 2 === 0);\n",
  );
  for (const [name, path] of Object.entries(files)) symlinkSync(path, join(place, name));
});
after(() => rmSync(modules, { recursive: true, force: true }));

/** Its programs end their process: tests/upstream/faults_test.ts runs each in one of its own. */
const RUN_ELSEWHERE = "docs/upstream.md";

test("every block says its language", () => {
  for (const document of documents().filter((one) => one !== RUN_ELSEWHERE)) {
    for (const { language, line } of blocksOf(document)) {
      // Programs, which run here; commands, which the other test knows; data and output.
      assert.match(language, /^(ts|sh|json|text)$/, `${document}:${line}`);
    }
  }
});

const GROUPS = ["README.md", "docs/guide/", "docs/migration/", "docs/"];
const LIMIT_MS = 290_000;

/** The group of a document: the first that its path begins with. */
const groupOf = (document: string): string => GROUPS.find((group) => document.startsWith(group)) ?? "";

/** Writes the programs of documents as modules, and returns their paths. */
function programsOf(named: readonly string[]): string[] {
  return named.flatMap((document) =>
    blocksOf(document).filter(({ language }) => language === "ts").map((block) => write(document, block))
  );
}

for (const group of GROUPS) {
  test(`the programs in ${group} run, in one process`, async () => {
    const files = programsOf(documents().filter((document) => groupOf(document) === group));
    assert.ok(files.length > 0);
    const main = join(modules, `all_${GROUPS.indexOf(group)}.ts`);
    const lines = files.map((file) =>
      `console.error(${JSON.stringify(file)});\nawait import(${JSON.stringify(file)});\n`
    );
    writeFileSync(main, lines.join(""));
    const before = runtime === "deno" ? ["run", "-A", "--no-check", `--config=${join(ROOT, "deno.json")}`] : [];
    const { code, stderr } = await runProgram([runtimeProgram(), ...before, main], { cwd: place, limitMs: LIMIT_MS });
    assert.equal(code, 0, stderr.slice(-4000));
  });
}

if (runtime === "deno") {
  test("the programs in the documents have right types", async () => {
    const { code, stderr } = await runProgram([runtimeProgram(), "check", ...programsOf(documents())], {
      cwd: ROOT,
      limitMs: LIMIT_MS,
    });
    assert.equal(code, 0, stderr.replaceAll(/^Check .*\n/gm, ""));
  });
}

/** Writes a block as a module, and returns its path; its name has the document's line. */
function write(document: string, { code, line }: Block): string {
  const file = join(modules, `${document.replaceAll("/", "_")}_line_${line}.ts`);
  // A block without an import or export is a module all the same.
  writeFileSync(file, `${code}\nexport {};\n`);
  return file;
}
