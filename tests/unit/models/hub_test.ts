import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import test from "node:test";
import { InvalidArgumentError, ModelDownloadError } from "../../../lib/errors.ts";
import { chooseHubFile } from "../../../lib/models/hub/choose_file.ts";
import { parseHubReference } from "../../../lib/models/hub/reference.ts";
import { pullModel } from "../../../lib/models/pull.ts";
import { withCache } from "./own_cache.ts";

const FILE = Uint8Array.from({ length: 5000 }, (_, index) => index % 251);

function choose(reference: string, ...files: string[]): string {
  return chooseHubFile(parseHubReference(reference), files);
}

test("the file of a quantization, Q4_K_M, or the only one is chosen", () => {
  const files = ["README.md", "a-Q4_0.gguf", "a-Q4_K_M.gguf", "a.IQ2_XXS.gguf", "mmproj-a-f16.gguf", "a-imatrix.gguf"];
  assert.equal(choose("hf:o/r", ...files), "a-Q4_K_M.gguf");
  assert.equal(choose("hf:o/r:q4_0", ...files), "a-Q4_0.gguf");
  assert.equal(choose("hf:o/r:IQ2_XXS", ...files), "a.IQ2_XXS.gguf");
  assert.equal(choose("hf:o/r", "a-Q8_0.gguf", "mmproj.gguf"), "a-Q8_0.gguf");
  const parts = ["Q8_0/a-Q8_0-00001-of-00002.gguf", "Q8_0/a-Q8_0-00002-of-00002.gguf", "Q4_K_S/a.gguf"];
  assert.equal(choose("hf:o/r:Q8_0", ...parts), parts[0]);
  assert.equal(choose("hf:o/r:Q4_K_S", ...parts), parts[2]);
});

test("where none or several fit, the error lists what is there", () => {
  const refused = (words: RegExp) => (error: unknown) =>
    error instanceof InvalidArgumentError && words.test(error.message);
  assert.throws(
    () => choose("hf:o/r:Q5_K_M", "a-Q4_0.gguf", "a-Q8_0.gguf"),
    refused(/no file fits.*a-Q4_0\.gguf, a-Q8_0/),
  );
  assert.throws(() => choose("hf:o/r", "a-Q4_0.gguf", "a-Q8_0.gguf"), refused(/name one: hf:o\/r\/file\.gguf/));
  assert.throws(() => choose("hf:o/r", "a-Q4_K_M.gguf", "b-Q4_K_M.gguf"), refused(/several files fit/));
  assert.throws(() => choose("hf:o/r", "model.safetensors"), refused(/no GGUF file/));
});

test("a repository of the hub without a file's name", async () => {
  await withCache(FILE, async (server) => {
    const siblings = ["README.md", "deep/a-Q4_K_M.gguf", "deep/a-Q8_0.gguf"].map((rfilename) => ({ rfilename }));
    server.files.set("/api/models/owner/repo/revision/v1", new TextEncoder().encode(JSON.stringify({ siblings })));
    server.files.set("/owner/repo/resolve/v1/deep/a-Q4_K_M.gguf", FILE);
    const { path, source } = await pullModel("hf:owner/repo@v1");
    assert.equal(source, "hf:owner/repo@v1");
    assert.equal(basename(path), "a-Q4_K_M.gguf");
    assert.deepEqual(new Uint8Array(readFileSync(path)), FILE);
    await assert.rejects(pullModel("hf:owner/repo@v1:Q2_K"), InvalidArgumentError);
  });
});

test("answers that are no list of files", async () => {
  await withCache(FILE, async (server) => {
    for (const body of ["", "<html>", "null", "[]", '{"siblings":5}']) {
      server.files.set("/api/models/owner/repo/revision/main", new TextEncoder().encode(body));
      await assert.rejects(pullModel("hf:owner/repo"), ModelDownloadError, body);
    }
    server.files.set("/api/models/owner/repo/revision/main", new TextEncoder().encode('{"siblings":[null,5,{}]}'));
    await assert.rejects(pullModel("hf:owner/repo"), /no GGUF file/);
    await assert.rejects(pullModel("hf:owner/none"), ModelDownloadError);
  });
});
