import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import process from "node:process";
import test from "node:test";
import { GgufWriteError, ModelAccessError } from "../../../lib/errors.ts";
import { NativeGguf } from "../../../lib/ggml/native_gguf/native_gguf.ts";
import { encodeGguf, writeGguf } from "../../../lib/gguf/writer.ts";
import { writeModel } from "../../../lib/whisper/convert/output.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

const content = { metadata: { "general.architecture": "test" }, tensors: [] };

async function* pieces(): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  yield Uint8Array.of(1, 2, 3);
}

/** What replaces a file when it is whole. */
const writers: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  writeGguf: (path) => writeGguf(path, content),
  async "NativeGguf.write"(path) {
    using gguf = await NativeGguf.fromBytes(encodeGguf(content));
    await gguf.write(path);
  },
  writeModel: (path) => writeModel(path, pieces()),
};

function isRefusal(error: unknown): boolean {
  return error instanceof GgufWriteError || error instanceof ModelAccessError;
}

for (const [name, write] of Object.entries(writers)) {
  test(
    `${name} replaces files only, not devices, pipes or folders`,
    { skip: process.platform === "win32" },
    async () => {
      using folder = new TemporaryFolder();
      const pipe = folder.file("pipe");
      execFileSync("mkfifo", [pipe]);
      await mkdir(folder.file("folder"));
      await assert.rejects(write(pipe), isRefusal);
      await assert.rejects(write(folder.file("folder")), isRefusal);
      assert.equal((await lstat(pipe)).isFIFO(), true);
      assert.deepEqual((await readdir(folder.path)).sort(), ["folder", "pipe"]);
    },
  );

  test(`${name} to a link replaces the file that it leads to`, { skip: process.platform === "win32" }, async () => {
    using folder = new TemporaryFolder();
    await mkdir(folder.file("elsewhere"));
    await writeFile(folder.file("elsewhere/real"), "old");
    await symlink("elsewhere/real", folder.file("link"));
    await write(folder.file("link"));
    assert.equal((await lstat(folder.file("link"))).isSymbolicLink(), true);
    assert.notEqual(await readFile(folder.file("elsewhere/real"), "latin1"), "old");
    assert.deepEqual(await readdir(folder.file("elsewhere")), ["real"]);
  });
}
