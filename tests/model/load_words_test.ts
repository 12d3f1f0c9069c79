import { Buffer } from "node:buffer";
import assert from "node:assert/strict";
import { copyFile, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { defaultModelPath, loadModel, ModelLoadError } from "../../mod.ts";
import { slow, testModel } from "./support.ts";

/** Changes text in the start of a copy of the default model; the new text is as long as the old. */
async function changed<T>(from: string, to: string, use: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "load-words-"));
  try {
    const path = join(folder, "model.gguf");
    await copyFile(await defaultModelPath(), path);
    const file = await open(path, "r+");
    const start = Buffer.alloc(4 << 20);
    await file.read(start, 0, start.length, 0);
    const at = start.indexOf(from, 24, "latin1");
    assert.ok(at > 0, from);
    await file.write(Buffer.from(to, "latin1"), 0, to.length, at);
    await file.close();
    return await use(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const cases = [
  ["llama", "xxxxx", /unknown model architecture: 'xxxxx'/],
  ["llama.block_count", "llama.block_xxxxx", /llama\.block_count/],
  ["blk.0.attn_q.weight", "blk.0.attn_x.weight", /blk\.0\.attn_q\.weight/],
] as const;

for (const [from, to, words] of process.platform === "linux" ? cases : []) {
  test(`a load that fails says why: ${to} for ${from}`, slow, async () => {
    await changed(from, to, (path) =>
      assert.rejects(loadModel(path, { contextSize: 64 }), (error: Error) => {
        assert.ok(error instanceof ModelLoadError, String(error));
        assert.match(error.message, words);
        assert.ok(error.message.includes(path));
        return true;
      }));
  });
}

test("it has the words of its own load, and none of another that fails at the same time", slow, async () => {
  await using model = await testModel();
  const stream = model.complete("Once upon a time", { maxTokens: 16, temperature: 0 });
  await changed("llama", "xxxxx", (one) =>
    changed("llama", "yyyyy", async (two) => {
      const ends = await Promise.allSettled([loadModel(one), loadModel(two)]);
      const messages = ends.map((end) => end.status === "rejected" ? String(end.reason) : "loaded");
      if (process.platform !== "linux") return;
      assert.match(messages[0] ?? "", /'xxxxx'/);
      assert.doesNotMatch(messages[0] ?? "", /yyyyy/);
      assert.match(messages[1] ?? "", /'yyyyy'/);
      assert.doesNotMatch(messages[1] ?? "", /xxxxx/);
    }));
  assert.equal((await stream).stopReason, "maxTokens");
});
