import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { InvalidArgumentError, ModelCacheError, ModelDownloadError, ModelPartError } from "../../../lib/errors.ts";
import { safeName } from "../../../lib/models/cache/entry.ts";
import { pullModel } from "../../../lib/models/pull.ts";
import { moduleCommand, runProgram } from "../../support/program.ts";
import { randomBelow } from "../../support/random.ts";
import { withCache } from "./own_cache.ts";

const FILE = Uint8Array.from({ length: 700_000 }, (_, index) => index * 7 % 251);
const SHA256 = createHash("sha256").update(FILE).digest("hex");

test("a URL is downloaded once", async () => {
  await withCache(FILE, async (server, cache) => {
    const url = `${server.origin()}/models/small.gguf`;
    const first = await pullModel(url);
    assert.ok(first.path.startsWith(join(cache, "models", "downloads", "small-")) && first.path.endsWith("small.gguf"));
    assert.deepEqual(first.files, [{ name: "small.gguf", bytes: FILE.length, sha256: SHA256 }]);
    assert.deepEqual(new Uint8Array(readFileSync(first.path)), FILE);
    const count = server.requests.length;
    assert.deepEqual(await pullModel(new URL(url)), first);
    assert.equal(server.requests.length, count);
    writeFileSync(first.path, "cut");
    assert.deepEqual(await pullModel(url), first);
    assert.ok(server.requests.length > count);
    assert.deepEqual(readdirSync(dirname(first.path)).sort(), ["model.json", "small.gguf"]);
  });
});

test("a file of the hub, with the token for the hub alone", async () => {
  await withCache(FILE, async (server) => {
    server.files.set("/owner/repo/resolve/main/deep/small.gguf", FILE);
    process.env["HF_TOKEN"] = "hf_secret";
    try {
      const { path, source } = await pullModel("hf:owner/repo/deep/small.gguf");
      assert.deepEqual(new Uint8Array(readFileSync(path)), FILE);
      assert.equal(source, "hf:owner/repo/deep/small.gguf");
      assert.ok(server.requests.every(({ headers }) => headers.authorization === "Bearer hf_secret"));
      await pullModel(`${server.origin("localhost")}/models/small.gguf`);
      assert.equal(server.requests.at(-1)?.headers.authorization, undefined);
    } finally {
      delete process.env["HF_TOKEN"];
    }
  });
});

test("a model in several files comes whole, given its first", async () => {
  await withCache(FILE, async (server) => {
    const names = [1, 2, 3].map((number) => `big-0000${number}-of-00003.gguf`);
    names.forEach((name, index) => server.files.set(`/${name}`, FILE.subarray(0, 1000 * (index + 1))));
    const { path, files, bytes } = await pullModel(`${server.origin()}/${names[0]}`);
    assert.deepEqual(files.map(({ name }) => name), names);
    assert.equal(bytes, 6000);
    assert.deepEqual(readdirSync(dirname(path)).sort(), [...names, "model.json"]);
    await assert.rejects(
      pullModel(`${server.origin()}/${names[1]}`),
      (error) =>
        error instanceof ModelPartError && /is part 2 of 3.*give the first, big-00001-of-00003/.test(error.message),
    );
  });
});

test("concurrent downloads in one process share one transfer", async () => {
  await withCache(FILE, async (server) => {
    const url = `${server.origin()}/models/small.gguf`;
    const [one, other] = await Promise.all([pullModel(url), pullModel(url)]);
    assert.deepEqual(one, other);
    assert.equal(server.askedBytes, FILE.length);
  });
});

test("two processes share one transfer", async () => {
  await withCache(FILE, async (server, cache) => {
    const url = `${server.origin()}/models/small.gguf`;
    const env = { GGML_FFI_CACHE: cache };
    const pull = () => runProgram(moduleCommand("tests/unit/models/pull_child.ts", [url]), { env });
    const results = await Promise.all([pull(), pull()]);
    for (const { code, stdout, stderr } of results) assert.equal(`${code} ${stdout.trim()}`, `0 ${SHA256}`, stderr);
    assert.equal(server.askedBytes, FILE.length);
  });
});

test("a process that is killed leaves a cache that the next one continues", async () => {
  await withCache(FILE, async (server, cache) => {
    const next = randomBelow(11);
    const path = "/models/large.gguf";
    const large = new Uint8Array(3_000_000).fill(5);
    server.files.set(path, large);
    const sha256 = createHash("sha256").update(large).digest("hex");
    for (let round = 0; round < 6; round++) {
      const killAt = server.requests.length + 1 + next(4);
      const kill = new AbortController();
      server.misbehave = ({ index }) => {
        if (index >= killAt) kill.abort();
        return index >= killAt;
      };
      const command = moduleCommand("tests/unit/models/pull_child.ts", [`${server.origin()}${path}`]);
      await runProgram(command, {
        env: { GGML_FFI_CACHE: cache },
        onOutput: (_, child) => kill.signal.addEventListener("abort", () => child.kill("SIGKILL")),
      });
    }
    server.misbehave = undefined;
    const { path: found } = await pullModel(`${server.origin()}${path}`);
    assert.equal(createHash("sha256").update(readFileSync(found)).digest("hex"), sha256);
  });
});

test("names of files that are none are made safe", async () => {
  for (
    const [text, safe] of [
      ["../../etc/passwd", "_.._etc_passwd"],
      ["a b\\c:d.gguf", "a_b_c_d.gguf"],
      ["", "model_"],
      ["CON", "model_CON"],
      ["model.json", "model.json.bin"],
      ["x.gguf.part", "x.gguf.part.bin"],
      ["..", "model_"],
    ] as const
  ) {
    assert.equal(safeName(text), safe);
    assert.equal(safeName(safe), safe);
  }
  await withCache(FILE, async (server, cache) => {
    server.misbehave = (asked, response) => {
      server.give(asked, response, FILE);
      return true;
    };
    for (const name of ["..%2f..%2fescape.gguf", "%2e%2e%5cescape.gguf", "con", "model.json"]) {
      const { path } = await pullModel(`${server.origin()}/${name}`);
      assert.equal(dirname(dirname(path)), join(cache, "models", "downloads"));
    }
  });
});

test("what isn't an address, and what the cache can't hold, is refused", async () => {
  await withCache(FILE, async (server, cache) => {
    for (
      const bad of [
        "model.gguf",
        "hf:owner",
        "hf:../repo/x.gguf",
        "hf:owner/repo/../../x.gguf",
        "hf:owner/repo@/x.gguf",
        "hf:owner/repo:Q4 K",
        "http://user:password@localhost/x.gguf",
        "https://",
        "ftp://host/x",
      ]
    ) {
      await assert.rejects(pullModel(bad), InvalidArgumentError, bad);
    }
    await assert.rejects(pullModel("http://example.org/x.gguf"), InvalidArgumentError);
    await assert.rejects(pullModel(server.origin(), { headers: { "a b": "c" } }), InvalidArgumentError);
    for (const headers of [5, "a: b", new Map([["a", "b"]])]) {
      await assert.rejects(
        pullModel(server.origin(), { headers: headers as unknown as Record<string, string> }),
        /headers is .*an object of texts/,
      );
    }
    await assert.rejects(pullModel(`${server.origin()}/none.gguf`), ModelDownloadError);
    rmSync(join(cache, "models", "downloads"), { recursive: true });
    writeFileSync(join(cache, "models", "downloads"), "a file");
    await assert.rejects(pullModel(`${server.origin()}/models/other.gguf`), ModelCacheError);
  });
});
