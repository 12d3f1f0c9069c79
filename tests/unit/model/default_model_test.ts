import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { ModelAccessError, ModelNotFoundError } from "../../../lib/errors.ts";
import { DEFAULT_MODEL_FILE, defaultModelPath } from "../../../lib/models/default_model.ts";

/** Does something with a cache folder of its own. */
async function withCache(action: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "default-model-"));
  const before = process.env["GGML_FFI_CACHE"];
  process.env["GGML_FFI_CACHE"] = folder;
  try {
    await action(folder);
  } finally {
    if (before === undefined) delete process.env["GGML_FFI_CACHE"];
    else process.env["GGML_FFI_CACHE"] = before;
    rmSync(folder, { recursive: true });
  }
}

test("the default model: there, missing, out of reach", async () => {
  await withCache(async (folder) => {
    await assert.rejects(defaultModelPath(), ModelNotFoundError);
    const models = join(folder, "models");
    symlinkSync(models, models);
    await assert.rejects(defaultModelPath(), (error) => error instanceof ModelAccessError && error.cause !== undefined);
    rmSync(models);
    mkdirSync(models);
    writeFileSync(join(models, DEFAULT_MODEL_FILE), "");
    assert.equal(await defaultModelPath(), join(models, DEFAULT_MODEL_FILE));
  });
});

test("in Deno: what isn't permitted is told as such", { skip: "bun" in process.versions }, () => {
  const url = new URL("../../../lib/models/default_model.ts", import.meta.url).href;
  const code = `import { defaultModelPath } from ${JSON.stringify(url)};
    try { console.log(await defaultModelPath()); } catch (error) { console.log(error.code, error.message); }`;
  const told = (...flags: string[]): string =>
    spawnSync(process.execPath, ["run", "--no-prompt", ...flags, `data:text/typescript,${encodeURIComponent(code)}`], {
      encoding: "utf8",
      env: { ...process.env, HOME: "/home/nobody", XDG_CACHE_HOME: "", GGML_FFI_CACHE: "" },
    }).stdout;
  const read = `--allow-read=/,${process.cwd()}`;
  assert.match(told(read, "--allow-env"), /^MODEL_NOT_FOUND .*\/home\/nobody\/.cache/);
  assert.match(told(read), /^PERMISSION.* --allow-sys=homedir/);
  assert.match(told("--allow-env", "--allow-read", "--deny-read=/home"), /^PERMISSION .*--allow-read/);
});
