import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { GgmlError, loadModel, type Model } from "../../mod.ts";
import { splitGguf } from "../../lib/ggml/mod.ts";
import { smallLlama } from "../hostile/small_llama.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { slow } from "./support.ts";

const options = { threads: 1, contextSize: 64 };

async function tokensOf(model: Model): Promise<number[]> {
  return (await model.complete("a b c", { maxTokens: 16, temperature: 0 })).tokens;
}

async function load(path: string): Promise<number[]> {
  await using model = await loadModel(path, options);
  return await tokensOf(model);
}

async function refused(path: string, code: string, words: RegExp): Promise<void> {
  await assert.rejects(load(path), (error: unknown) => {
    assert.ok(error instanceof GgmlError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, words);
    return true;
  });
}

/** A folder with a small model, whole and split into three files. */
class ModelFolder extends TemporaryFolder {
  readonly whole = this.file("whole.gguf");
  parts: string[] = [];

  static async make(): Promise<ModelFolder> {
    const folder = new ModelFolder();
    writeFileSync(folder.whole, await smallLlama());
    folder.parts = await splitGguf(folder.whole, folder.file("part"), { maxTensors: 5 });
    return folder;
  }

  part(index: number): string {
    return this.parts[index] as string;
  }
}

test(
  "a split model loads by a path with .., by links to its files, and without tensors in its first file",
  slow,
  async () => {
    using folder = await ModelFolder.make();
    const expected = await load(folder.whole);
    assert.equal(folder.parts.length, 3);
    mkdirSync(folder.file("deep"));
    assert.deepEqual(await load(`${folder.path}/deep/../${basename(folder.part(0))}`), expected);
    const [emptyFirst = ""] = await splitGguf(folder.whole, folder.file("empty"), { maxTensors: 6, emptyFirst: true });
    assert.deepEqual(await load(emptyFirst), expected);
    if (process.platform === "win32") return;
    for (const [index, path] of folder.parts.entries()) {
      symlinkSync(
        path,
        folder.file(`deep/link-0000${index + 1}-of-00003.gguf`),
      );
    }
    assert.deepEqual(await load(folder.file("deep/link-00001-of-00003.gguf")), expected);
  },
);

test(
  "files of a split model that are missing, exchanged, damaged or misnamed are refused before llama.cpp opens them",
  slow,
  async () => {
    using folder = await ModelFolder.make();
    const [first, second, third] = [folder.part(0), folder.part(1), folder.part(2)];
    await refused(second, "MODEL_PART", /is part 2 of 3 .*give the first/);
    const copy = folder.file("model.gguf");
    copyFileSync(first, copy);
    await refused(copy, "GGUF_FORMAT", /isn't named as the first file of a split model/);
    const kept = folder.file("kept");
    renameSync(second, kept);
    await refused(first, "MODEL_PART", /but there is no .*part-00002-of-00003\.gguf/);
    copyFileSync(third, second);
    await refused(first, "GGUF_FORMAT", /is file 3 of the model, not 2/);
    copyFileSync(folder.whole, second);
    await refused(first, "GGUF_FORMAT", /has no split\.no/);
    writeFileSync(second, "no model at all");
    await refused(first, "NOT_GGUF", /part-00002-of-00003\.gguf/);
    copyFileSync(kept, second);
    truncateSync(second, 3_000);
    await refused(first, "GGUF_TRUNCATED", /part-00002-of-00003\.gguf/);
    if (process.platform === "win32") return;
    rmSync(second);
    symlinkSync(basename(second), second);
    await refused(first, "MODEL_ACCESS", /part-00002-of-00003\.gguf/);
  },
);

test(
  "a model file that is renamed over, removed, or rewritten while it is in use changes nothing for its users",
  slow,
  async () => {
    using folder = await ModelFolder.make();
    const expected = await load(folder.whole);
    await using mapped = await loadModel(folder.whole, options);
    writeFileSync(folder.file("other"), "another file");
    renameSync(folder.file("other"), folder.whole);
    assert.deepEqual(await tokensOf(mapped), expected);
    await refused(folder.whole, "NOT_GGUF", /whole\.gguf/);
    rmSync(folder.whole);
    assert.deepEqual(await tokensOf(mapped), expected);

    const path = join(folder.path, "read.gguf");
    writeFileSync(path, await smallLlama());
    await using read = await loadModel(path, { ...options, mmap: false });
    writeFileSync(path, new Uint8Array(200_000));
    assert.deepEqual(await tokensOf(read), expected);
    truncateSync(path, 0);
    assert.deepEqual(await tokensOf(read), expected);
  },
);
