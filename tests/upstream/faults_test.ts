// Faults of upstream, each by its reproducer in docs/upstream.md: one that ends otherwise than is said there was mended, and its workaround can go.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { jfkPath, tinyEnglishPath } from "../whisper/files.ts";
import { type Finished, moduleCommand, ROOT, runProgram } from "../support/program.ts";
import { type Fault, readFaults } from "./faults.ts";

const slow = { timeout: 120_000, skip: process.platform !== "linux" };
const faults = readFaults();
const folder = mkdtempSync(join(tmpdir(), "ggml-upstream-"));
after(() => rmSync(folder, { recursive: true }));

const numbers: Readonly<Record<string, number>> = { SIGABRT: 6, SIGFPE: 8, SIGSEGV: 11 };

async function run({ program, hears }: Fault, index: number): Promise<Finished> {
  const place = pathToFileURL(join(ROOT, "ffi/mod.ts")).href;
  const paths = {
    VOCABULARY: join(ROOT, "csrc/upstream/llama.cpp/models/ggml-vocab-gpt-2.gguf"),
    ...(hears ? { SPEECH_MODEL: tinyEnglishPath, SPEECH_FILE: jfkPath } : {}),
  };
  const constants = Object.entries(paths).map(([name, path]) => `const ${name} = ${JSON.stringify(path)};\n`).join("");
  const speech = hears
    ? `const file = (await import("node:fs")).readFileSync(SPEECH_FILE).subarray(44);
const SPEECH = Float32Array.from({ length: file.length >> 1 }, (_, at) => file.readInt16LE(at * 2) / 32768);\n`
    : "";
  const file = join(folder, `fault_${index}.ts`);
  const [imports = "", ...rest] = program.replace("../../ffi/mod.ts", place).split("\n");
  writeFileSync(file, [imports, constants, speech, ...rest].join("\n"));
  return await runProgram(moduleCommand(file));
}

/** Whether a process ended by one of these signals, which Bun tells by its exit code. */
function endedBy({ signal, code }: Finished, names: readonly string[]): boolean {
  return names.some((name) => signal === name || code === 128 + (numbers[name] ?? 0));
}

test("docs/upstream.md has reproducers, and files that exist", () => {
  assert.ok(faults.length >= 20, String(faults.length));
  for (const { name, ends, files } of faults) {
    assert.notEqual(ends, "", name);
    for (const file of files) assert.ok(existsSync(join(ROOT, file)), `${name}: ${file}`);
  }
  const all = readFileSync(join(ROOT, "docs/upstream.md"), "utf8").matchAll(/`((?:lib|ffi|csrc|tests)\/[^`]*)`/g);
  for (const [, file = ""] of all) assert.ok(existsSync(join(ROOT, file)), file);
});

for (const [index, fault] of faults.entries()) {
  test(`upstream: ${fault.name}`, slow, async () => {
    const end = await run(fault, index);
    const told = `ended by ${end.signal ?? end.code}, wrote ${end.stdout} ${end.stderr.slice(0, 2_000)}`;
    const [, words] = /^[\w ]+ `(.*)`$/.exec(fault.ends) ?? [];
    if (!fault.ends.startsWith("SIG")) {
      assert.equal(end.code, 0, told);
      return assert.equal(end.stdout.trim().replace(/n$/, ""), fault.ends.split(",")[0], told);
    }
    assert.ok(endedBy(end, fault.ends.match(/SIG\w+/g) ?? []), told);
    if (words !== undefined) assert.ok(end.stderr.includes(words), told);
  });
}
