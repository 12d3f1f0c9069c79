import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { includeFolders } from "../../../scripts/bindgen/headers.ts";
import { moduleCommand, ROOT, runProgram } from "../../support/program.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

const upstream = join(ROOT, "csrc", "upstream", "llama.cpp");

/** Copies the headers of the pinned release, and the files that name its versions. */
function copyHeaders(to: string): void {
  for (const folder of includeFolders) {
    for (const name of readdirSync(join(upstream, folder)).filter((one) => one.endsWith(".h"))) {
      mkdirSync(join(to, folder), { recursive: true });
      cpSync(join(upstream, folder, name), join(to, folder, name));
    }
  }
  for (const file of ["CMakeLists.txt", "ggml/CMakeLists.txt", "../whisper.cpp/CMakeLists.txt"]) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(join(upstream, file), join(to, file));
  }
}

function change(path: string, before: string, after: string): void {
  const text = readFileSync(path, "utf8");
  assert.ok(text.includes(before), `${path} has no ${before}`);
  writeFileSync(path, text.replace(before, after));
}

test("a release with the same headers changes nothing and passes every check", { timeout: 300_000 }, async () => {
  using folder = new TemporaryFolder();
  copyHeaders(folder.file("llama.cpp"));
  const command = moduleCommand("scripts/upgrade.ts", ["--to", folder.file("llama.cpp")]);
  const { code, stdout, stderr } = await runProgram(command, { limitMs: 280_000 });
  assert.equal(code, 0, stdout + stderr);
  for (const kind of ["headers", "functions", "structs", "enums", "constants"]) {
    assert.match(stdout, new RegExp(`^${kind}: 0 added, 0 removed, 0 changed$`, "m"));
  }
  assert.equal(stdout.match(/^ok {4}/gm)?.length, 3, stdout);
});

test(
  "a release with planted changes: each is reported, and the checks that it breaks fail",
  { timeout: 300_000 },
  async () => {
    using folder = new TemporaryFolder();
    const to = folder.file("llama.cpp");
    copyHeaders(to);
    const llama = join(to, "include", "llama.h");
    change(
      llama,
      "LLAMA_API void llama_backend_init(void);",
      [
        "LLAMA_API int32_t llama_planted(const struct llama_model * model, float share);",
        "struct llama_planted_pair { int32_t first; double second; };",
        "#define LLAMA_PLANTED 7",
      ].join("\n"),
    );
    change(llama, "LLAMA_POOLING_TYPE_MEAN = 1", "LLAMA_POOLING_TYPE_MEAN = 11");
    change(llama, "int32_t n_gpu_layers;", "int64_t n_gpu_layers;");
    change(llama, "LLAMA_API void llama_backend_free(void);", "LLAMA_API int32_t llama_backend_free(void);");
    writeFileSync(join(to, "include", "llama-new.h"), "");
    const { code, stdout, stderr } = await runProgram(moduleCommand("scripts/upgrade.ts", ["--to", to]), {
      limitMs: 280_000,
    });
    assert.equal(code, 1, stdout + stderr);
    for (
      const line of [
        "headers: 1 added, 0 removed, 1 changed",
        /^ {2}\+ llama-new\.h \(not bound\): /m,
        /^ {2}~ llama\.h$/m,
        "functions: 1 added, 1 removed, 1 changed",
        /^ {2}\+ llama_planted: int32_t llama_planted\(const struct llama_model \* model, float share\)$/m,
        "  - llama_backend_init",
        /^ {2}~ llama_backend_free\n {6}was void llama_backend_free\(void\)\n {6}is {2}int32_t llama_backend_free\(void\)$/m,
        /^structs: 1 added, 0 removed, \d+ changed$/m,
        /^ {2}\+ llama_planted_pair: struct of 16 bytes, alignment 8 /m,
        /^ {2}~ llama_model_params\n[^~]*was \d+: int32_t n_gpu_layers;[^~]*is {2}\d+: int64_t n_gpu_layers;$/m,
        /^enums: 0 added, 0 removed, 1 changed\n {2}~ llama_pooling_type\n {6}was LLAMA_POOLING_TYPE_MEAN = 1\n {6}is {2}LLAMA_POOLING_TYPE_MEAN = 11$/m,
        /^constants: 1 added, 0 removed, 0 changed\n {2}\+ LLAMA_PLANTED: 7$/m,
        /^FAILED each function has an annotation .*\n[^F]*llama_planted/m,
        /^FAILED the committed tables are what the headers give/m,
        /^FAILED clang agrees with the committed layouts/m,
      ]
    ) {
      if (typeof line === "string") assert.ok(stdout.split("\n").includes(line), `${line}\n${stdout}`);
      else assert.match(stdout, line);
    }
  },
);
