import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { closeSync, mkdirSync, openSync, readFileSync, readSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { type GgmlError, loadModel, type ModelSource } from "../../mod.ts";
import { splitGguf } from "../../lib/gguf/mod.ts";
import { defaultModelPath } from "../../lib/models/default_model.ts";
import { speechModelPath } from "../../lib/models/default_speech_models.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { FileServer } from "../unit/models/file_server.ts";

const path = await defaultModelPath();
const bytes = readFileSync(path);

async function answer(source: ModelSource): Promise<string> {
  await using model = await loadModel(source, { contextSize: 256 });
  const { text } = await model.complete("The capital of France is", { maxTokens: 8, temperature: 0 });
  return text;
}

const expected = await answer(path);

test("each form of a source gives the same greedy tokens", { skip: process.platform === "win32" }, async () => {
  using folder = new TemporaryFolder();
  await using server = await FileServer.start("/model.gguf", bytes);
  server.files.set("/owner/repo/resolve/main/model.gguf", bytes);
  const before = { GGML_FFI_CACHE: process.env["GGML_FFI_CACHE"], HF_ENDPOINT: process.env["HF_ENDPOINT"] };
  Object.assign(process.env, { GGML_FFI_CACHE: folder.path, HF_ENDPOINT: server.origin() });
  try {
    assert.equal(await answer(pathToFileURL(path)), expected);
    assert.equal(await answer(`${server.origin()}/model.gguf`), expected);
    assert.equal(await answer("hf:owner/repo/model.gguf"), expected);
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
  assert.equal(await answer(bytes), expected);
  assert.equal(await answer(new Blob([bytes])), expected);
  const parts = await splitGguf(path, folder.file("split"), { maxBytes: 50_000_000 });
  assert.equal(await answer(parts[0] ?? ""), expected);
});

test(
  "an open file, also inside of a larger one, stays the caller's",
  { skip: process.platform === "win32" },
  async () => {
    using folder = new TemporaryFolder();
    // A multiple of 32 can be mapped, another is read.
    for (const offset of [0, 4096, 4097]) {
      const file = folder.file(`at-${offset}`);
      writeFileSync(file, Buffer.concat([Buffer.alloc(offset, "x"), bytes, Buffer.from("behind")]));
      const fd = openSync(file, "r");
      try {
        const start = new Uint8Array(3);
        readSync(fd, start, 0, 3, null);
        assert.equal(await answer({ fd, offset }), expected, String(offset));
        const next = new Uint8Array(3);
        readSync(fd, next, 0, 3, null);
        assert.deepEqual(next, new Uint8Array(readFileSync(file).subarray(3, 6)), "its position moved");
      } finally {
        closeSync(fd);
        rmSync(file);
      }
    }
  },
);

test("what isn't a model is told by what it is", async () => {
  using folder = new TemporaryFolder();
  const file = (name: string, content: string | Uint8Array): string => {
    writeFileSync(folder.file(name), content);
    return folder.file(name);
  };
  const safetensors = new Uint8Array(80);
  safetensors.set([60, 0, 0, 0, 0, 0, 0, 0, ...new TextEncoder().encode('{"a":{"dtype":"F32"}}')]);
  const parts = await splitGguf(path, folder.file("split"), { maxBytes: 50_000_000 });
  mkdirSync(folder.file("alone"));
  const alone = join(folder.file("alone"), basename(parts[0] ?? ""));
  symlinkSync(parts[0] ?? "", alone);
  const writeOnly = openSync(folder.file("write-only"), "w");
  const directory = openSync(folder.path, "r");
  const cases: readonly (readonly [ModelSource, string, RegExp])[] = [
    [
      file("pointer.gguf", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"),
      "NOT_GGUF",
      /Git LFS pointer.*git lfs pull/,
    ],
    [file("page.gguf", "<!doctype html>\n<html>"), "NOT_GGUF", /an HTML page.*\/resolve\//],
    [file("a.safetensors", safetensors), "NOT_GGUF", /a safetensors file.*convert it/],
    [await speechModelPath(), "NOT_GGUF", /a Whisper model.*loadWhisper/],
    [parts[1] ?? "", "MODEL_PART", /is part 2 of 2.*give the first/],
    [alone, "MODEL_PART", /part 1 of 2, but there is no .*00002-of-00002/],
    [readFileSync(parts[0] ?? ""), "MODEL_PART", /one of 2 parts/],
    [new Uint8Array(3), "NOT_GGUF", /./],
    [new Blob([]), "NOT_GGUF", /empty/],
    [{ fd: 9999 }, "MODEL_ACCESS", /descriptor 9999 can't be read/],
    [{ fd: writeOnly }, "MODEL_ACCESS", /descriptor \d+ can't be read/],
    [{ fd: directory }, "MODEL_ACCESS", /isn't a regular file/],
    [{ fd: -1 }, "INVALID_ARGUMENT", /fd is -1/],
    [{ fd: 5, ofset: 3 } as unknown as ModelSource, "INVALID_ARGUMENT", /offset/],
    [null as unknown as ModelSource, "INVALID_ARGUMENT", /null/],
  ];
  for (const [source, code, words] of cases) {
    await assert.rejects(loadModel(source), (error: GgmlError) => {
      assert.equal(error.code, code, error.message);
      assert.match(error.message, words);
      return true;
    });
  }
  closeSync(writeOnly);
  closeSync(directory);
});
