import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";

const PROGRAM = `
import { defaultModelPath, loadModel } from ${JSON.stringify(new URL("../../mod.ts", import.meta.url).href)};
await using model = await loadModel(await defaultModelPath(), { threads: 1, contextSize: 256 });
const { text } = await model.chat({ system: "You are a helpful assistant." })
  .send("What is the capital of France?", { maxTokens: 32, temperature: 0 });
console.log(text);
`;

test("a program in another folder imports the source tree by its path, and chats", () => {
  const folder = mkdtempSync(join(tmpdir(), "ggml-ffi-elsewhere-"));
  try {
    writeFileSync(join(folder, "main.ts"), PROGRAM);
    const before = "deno" in process.versions ? ["run", "-A", "--no-check"] : [];
    const { status, stdout, stderr } = spawnSync(process.execPath, [...before, "main.ts"], {
      cwd: folder,
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /Paris/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
