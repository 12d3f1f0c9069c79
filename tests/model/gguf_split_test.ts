import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { defaultModelPath, loadModel } from "../../mod.ts";
import { editGguf, GgufFile, mergeGguf, splitGguf } from "../../lib/ggml/mod.ts";
import { slow } from "./support.ts";

async function answer(path: string): Promise<{ text: string; name: string | undefined }> {
  await using model = await loadModel(path, { threads: 1, contextSize: 256 });
  const { text } = await model.complete("The capital of France is", { maxTokens: 6, temperature: 0 });
  return { text, name: model.info.name };
}

test("llama.cpp loads what was split, merged and edited, and answers the same", slow, async () => {
  const folder = await mkdtemp(join(tmpdir(), "gguf-model-"));
  try {
    const source = await defaultModelPath();
    const { text } = await answer(source);
    assert.match(text, /Paris/);
    const paths = await splitGguf(source, join(folder, "part"), { maxTensors: 100 });
    assert.equal(paths.length, 3);
    assert.equal((await answer(paths[0] as string)).text, text);
    const merged = join(folder, "merged.gguf");
    await mergeGguf(paths[0] as string, merged);
    await Promise.all(paths.map((path) => rm(path)));
    const { inPlace } = await editGguf(merged, { set: { "general.name": "edited" }, inPlace: "require" });
    assert.equal(inPlace, true);
    assert.deepEqual(await answer(merged), { text, name: "edited" });
    await using file = await GgufFile.open(merged);
    await using original = await GgufFile.open(source);
    for (const { name } of original.tensors) {
      assert.ok(Buffer.from(await file.readTensor(name)).equals(await original.readTensor(name)), name);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
