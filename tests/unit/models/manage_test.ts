import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import test from "node:test";
import { InvalidArgumentError, ModelDownloadError, ModelNotFoundError } from "../../../lib/errors.ts";
import { DEFAULT_MODEL, DEFAULT_MODEL_FILE } from "../../../lib/models/default_model.ts";
import { listModels, pullDefaultModel, pullModel, removeModel, verifyModels } from "../../../lib/models/mod.ts";
import { moduleCommand, ROOT, runProgram } from "../../support/program.ts";
import { withCache } from "./own_cache.ts";

const FILE = new Uint8Array(600_000).fill(9);

test("models are listed, verified and removed, by name and by source", async () => {
  await withCache(FILE, async (server, cache) => {
    assert.deepEqual(await listModels(), []);
    const url = `${server.origin()}/models/small.gguf`;
    const { path } = await pullModel(url);
    mkdirSync(join(cache, "models"), { recursive: true });
    writeFileSync(join(cache, "models", "own.gguf"), "GGUF");
    const [own, small] = await listModels();
    assert.equal(own?.name, "own.gguf");
    assert.equal(small?.name, basename(dirname(path)));
    assert.deepEqual({ path: small?.path, complete: small?.complete, source: small?.source }, {
      path,
      complete: true,
      source: url,
    });
    assert.deepEqual((await verifyModels()).map(({ fault }) => fault), [undefined, undefined]);
    const damaged = FILE.slice();
    damaged[500_000] = 1;
    writeFileSync(path, damaged);
    assert.match((await verifyModels(url))[0]?.fault ?? "", /small.gguf has the SHA-256 .* instead of/);
    assert.equal((await removeModel(url)).name, small?.name);
    assert.equal(existsSync(dirname(path)), false);
    await assert.rejects(removeModel(url), ModelNotFoundError);
    await assert.rejects(removeModel("../own.gguf"), ModelNotFoundError);
    await assert.rejects(removeModel(undefined as unknown as string), InvalidArgumentError);
    await removeModel("own.gguf");
    assert.deepEqual(await listModels(), []);
  });
});

test("a download that was cut is listed as such, and continued", async () => {
  await withCache(FILE, async (server) => {
    const stop = new AbortController();
    server.misbehave = ({ index }) => {
      if (index === 2) stop.abort();
      return false;
    };
    const url = `${server.origin()}/models/small.gguf`;
    await assert.rejects(pullModel(url, { signal: stop.signal, connections: 1 }));
    assert.deepEqual((await listModels()).map(({ complete }) => complete), [false]);
    await pullModel(url);
    assert.deepEqual((await listModels()).map(({ complete }) => complete), [true]);
  });
});

test("the default model is the one that set-up knows, and no other file is taken for it", async () => {
  const { models } = JSON.parse(await readFile(join(ROOT, "scripts", "models.json"), "utf8")) as {
    models: { file: string; bytes: number; sha256: string }[];
  };
  const pinned = models.find(({ file }) => file === DEFAULT_MODEL_FILE);
  assert.deepEqual({ bytes: pinned?.bytes, sha256: pinned?.sha256 }, {
    bytes: DEFAULT_MODEL.bytes,
    sha256: DEFAULT_MODEL.sha256,
  });
  await withCache(FILE, async (server) => {
    server.files.set(`/${DEFAULT_MODEL.source.slice(3).replace(/\/([^/]*)$/, "/resolve/main/$1")}`, FILE);
    await assert.rejects(
      pullDefaultModel(),
      (error) => error instanceof ModelDownloadError && /has 600000 bytes instead of 98362432/.test(error.message),
    );
  });
});

test("the command models does the same", async () => {
  await withCache(FILE, async (server, cache) => {
    const url = `${server.origin()}/models/small.gguf`;
    const env = { GGML_FFI_CACHE: cache };
    const models = (...args: string[]) => runProgram(moduleCommand("cli/main.ts", ["models", ...args]), { env });
    const pulled = await models("pull", url);
    assert.equal(pulled.code, 0, pulled.stderr);
    assert.match(pulled.stderr, /downloading small.gguf \(0.6 MB\)/);
    assert.match((await models("list")).stdout, /0\.6 MB {2}small-\w+ {2}http/);
    assert.match((await models("verify")).stdout, /: fine/);
    assert.equal((await models("path", url)).stdout, pulled.stdout);
    assert.match((await models("remove", url)).stderr, /removed small-/);
    assert.equal((await models("list")).stdout, "");
    assert.equal((await models("remove", url)).code, 1);
    assert.equal((await models("frobnicate")).code, 2);
  });
});
