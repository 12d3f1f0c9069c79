import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { GgmlError, ModelDownloadError, ModelHashError } from "../../../lib/errors.ts";
import { downloadFile, type DownloadGoal, type DownloadSettings } from "../../../lib/models/download/download_file.ts";
import { randomBelow } from "../../support/random.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { type Asked, FileServer, type Misbehave } from "./file_server.ts";

/** Segments have 256 KiB. */
const FILE = new Uint8Array(2_000_000);
{
  const next = randomBelow(7);
  for (let at = 0; at < FILE.length; at++) FILE[at] = next(256);
}
const SHA256 = createHash("sha256").update(FILE).digest("hex");
const OTHER = FILE.slice().reverse();

const SETTINGS: DownloadSettings = {
  signal: undefined,
  timeoutMs: 10_000,
  headers: {},
  allowHttp: false,
  connections: 4,
  onProgress: undefined,
  retryDelayMs: 1,
};

interface Result {
  readonly path: string;
  readonly server: FileServer;
  readonly download: (settings?: Partial<DownloadSettings>, goal?: Partial<DownloadGoal>) => Promise<unknown>;
}

/** Runs a test with a server that misbehaves, and a folder to download to. */
async function withServer(misbehave: Misbehave | undefined, run: (result: Result) => Promise<void>): Promise<void> {
  await using server = await FileServer.start("/model.gguf", FILE, misbehave);
  using folder = new TemporaryFolder();
  const path = folder.file("model.gguf");
  const goal: DownloadGoal = {
    url: new URL(`${server.origin()}/model.gguf`),
    path,
    sha256: undefined,
    bytes: undefined,
  };
  const download: Result["download"] = (settings = {}, more = {}) =>
    downloadFile({ ...goal, ...more }, { ...SETTINGS, ...settings });
  await run({ path, server, download });
}

async function assertRight(misbehave: Misbehave | undefined, goal: Partial<DownloadGoal> = {}): Promise<void> {
  await withServer(misbehave, async ({ path, download }) => {
    await download({}, goal);
    assert.equal(createHash("sha256").update(readFileSync(path)).digest("hex"), SHA256);
  });
}

async function assertRefused(
  misbehave: Misbehave,
  pattern: RegExp,
  type: typeof GgmlError = ModelDownloadError,
  goal: Partial<DownloadGoal> = {},
  settings: Partial<DownloadSettings> = {},
): Promise<void> {
  await withServer(misbehave, async ({ path, download }) => {
    await assert.rejects(
      download(settings, goal),
      (error) => error instanceof type && pattern.test(error.message) || assert.fail(String(error)),
    );
    assert.ok(!readdirSync(path.replace(/\/[^/]*$/, "")).includes("model.gguf"));
  });
}

/** Misbehaves in the requests of which this is true. */
const when = (which: (asked: Asked) => boolean, then: Misbehave): Misbehave => (asked, response, server) =>
  which(asked) && then(asked, response, server);

const status = (code: number, headers: Record<string, string> = {}): Misbehave => (_, response) => {
  response.writeHead(code, headers).end("refused");
  return true;
};

/** Sends half of what was asked for, then ends the connection. */
const breakOff: Misbehave = ({ range }, response) => {
  const [from, to] = range ?? [0, FILE.length - 1];
  response.writeHead(range === undefined ? 200 : 206, {
    "content-length": to - from + 1,
    "content-range": `bytes ${from}-${to}/${FILE.length}`,
    etag: tagOf(FILE),
  });
  response.write(FILE.subarray(from, from + Math.ceil((to - from + 1) / 2)), () => response.socket?.end());
  return true;
};

const tagOf = (bytes: Uint8Array): string => `"${createHash("sha1").update(bytes).digest("hex")}"`;

/** True for the first request of each part. */
function firstOfEach(): (asked: Asked) => boolean {
  const seen = new Set<number | undefined>();
  return ({ range }) => seen.size !== seen.add(range?.[0]).size;
}

test("a good server: in parallel segments, each asked for once", async () => {
  await withServer(undefined, async ({ path, server, download }) => {
    const progress: number[] = [];
    await download({ onProgress: ({ receivedBytes }) => progress.push(receivedBytes) });
    assert.equal(createHash("sha256").update(readFileSync(path)).digest("hex"), SHA256);
    assert.equal(server.askedBytes, FILE.length);
    assert.ok(server.requests.length > 4);
    assert.deepEqual([progress[0], progress.at(-1)], [0, FILE.length]);
    assert.deepEqual(readdirSync(path.replace(/\/[^/]*$/, "")), ["model.gguf"]);
  });
});

test("a server that breaks off is asked for the rest", async () => {
  const isFirst = firstOfEach();
  await assertRight(
    when((asked) => (asked.range?.[1] ?? 0) - (asked.range?.[0] ?? 0) > 50_000 && isFirst(asked), breakOff),
  );
});

test("a server that always breaks off at once is given up", async () => {
  await assertRefused((_, response) => {
    response.destroy();
    return true;
  }, /can't be downloaded/);
});

test("a server without ranges, even one that breaks off", async () => {
  const whole: Misbehave = (asked, response, server) => {
    server.give({ ...asked, range: undefined }, response, FILE);
    return true;
  };
  await assertRight(whole);
  await assertRight((asked, response, server) =>
    asked.index === 0 ? breakOff({ ...asked, range: undefined }, response, server) : whole(asked, response, server)
  );
});

test("wrong ranges: another part, none that is said, bytes a-b/*", async () => {
  const shifted: Misbehave = (asked, response, server) => {
    const [from, to] = asked.range ?? [0, 0];
    server.give({ ...asked, range: [from + 10, to + 10] }, response, FILE);
    return true;
  };
  await assertRefused(when(({ index }) => index > 0, shifted), /on, where byte/);
  await assertRight(when(firstOfEach(), shifted));
  const range = (text: string): Misbehave => ({ range: asked }, response) => {
    const [from, to] = asked ?? [0, FILE.length - 1];
    const part = FILE.subarray(from, to + 1);
    const headers = asked === undefined
      ? {}
      : { "content-range": text.replace("a-b", `${from}-${from + part.length - 1}`) };
    response.writeHead(asked === undefined ? 200 : 206, {
      ...headers,
      etag: tagOf(FILE),
      "content-length": part.length,
    });
    response.end(part);
    return true;
  };
  await assertRight(range("bytes a-b/*"));
  await assertRefused(range("bytes */2000000"), /doesn't say which/);
  await assertRefused(range("lines 1-2/3"), /doesn't say which/);
  await assertRefused(range("bytes 9-1/2000000"), /doesn't say which/);
});

test("a file that changes meanwhile is fetched anew; one that goes on changing is refused", async () => {
  const change = (until: number): Misbehave => (asked, response, server) => {
    const bytes = asked.index < until ? OTHER : FILE;
    server.give(asked, response, bytes);
    return true;
  };
  await assertRight(change(5));
  let turn = 0;
  await assertRefused((asked, response) => {
    const [from, to] = asked.range ?? [0, 0];
    response.writeHead(206, {
      etag: `"${turn++}"`,
      "content-range": `bytes ${from}-${Math.min(to, FILE.length - 1)}/${FILE.length}`,
    });
    response.end(FILE.subarray(from, to + 1));
    return true;
  }, /changed 3 times/);
});

test("a wrong length: too short, too long, without an end", async () => {
  const long = (bytes: number): Misbehave => ({ range }, response) => {
    const [from, to] = range ?? [0, 0];
    response.writeHead(206, {
      etag: tagOf(FILE),
      "content-range": `bytes ${from}-${Math.min(to, FILE.length - 1)}/${FILE.length}`,
    });
    response.write(FILE.subarray(from, to + 1));
    const more = new Uint8Array(1 << 16);
    const pour = (left: number): void => {
      if (left > 0 && !response.destroyed) response.write(more, () => pour(left - more.length));
      else response.end();
    };
    pour(bytes);
    return true;
  };
  await assertRight(long(100_000));
  await assertRight(long(Infinity));
  const endless: Misbehave = (_, response) => {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    const pour = (): void => void (response.destroyed || response.write(FILE.subarray(0, 1 << 16), () => pour()));
    pour();
    return true;
  };
  await assertRefused(endless, /doesn't say how long it is/);
  await assertRefused(
    (_, response) => {
      response.writeHead(200, { "content-length": 10 ** 17 }).write("x");
      return true;
    },
    /./,
    GgmlError,
  );
  await assertRefused(() => false, /has 2000000 bytes instead of 4000000/, ModelDownloadError, { bytes: 4_000_000 });
});

test("redirects: followed, in a loop, to nowhere, to another protocol", async () => {
  await assertRight(when(
    ({ path }) => path === "/start",
    (_, response, server) => status(302, { location: `${server.origin()}/model.gguf` })({} as Asked, response, server),
  ));
  await assertRefused(status(302, { location: "/model.gguf" }), /redirects more than 10 times/);
  await assertRefused(status(302), /redirects to no address/);
  await assertRefused(status(302, { location: "file:///etc/passwd" }), /isn't an https: address/, GgmlError);
  await assertRefused(status(302, { location: "http://example.org/model.gguf" }), /isn't an https: address/, GgmlError);
});

test("headers stay with their host", async () => {
  await using other = await FileServer.start("/file", FILE);
  await withServer(
    (_, response) => status(302, { location: `${other.origin("localhost")}/file` })({} as Asked, response, other),
    async ({ server, download, path }) => {
      await download({ headers: { authorization: "Bearer secret", "x-key": "secret" } });
      assert.equal(createHash("sha256").update(readFileSync(path)).digest("hex"), SHA256);
      assert.ok(server.requests.every(({ headers }) => headers.authorization === "Bearer secret"));
      assert.ok(other.requests.length > 4);
      assert.ok(other.requests.every(({ headers }) => !JSON.stringify(headers).includes("secret")));
    },
  );
});

test("a server that sends nothing is given up after the time limit", async () => {
  const hang: Misbehave = () => true;
  await assertRefused(hang, /sent nothing for 30 milliseconds/, ModelDownloadError, {}, { timeoutMs: 30 });
  const stall: Misbehave = (asked, response) => {
    const [from, to] = asked.range ?? [0, 0];
    response.writeHead(206, { etag: tagOf(FILE), "content-range": `bytes ${from}-${to}/${FILE.length}` });
    response.write(FILE.subarray(from, from + 10_000));
    return true;
  };
  await withServer(when(({ index }) => index === 2, stall), async ({ download, path }) => {
    await download({ timeoutMs: 1000 });
    assert.equal(createHash("sha256").update(readFileSync(path)).digest("hex"), SHA256);
  });
});

test("statuses: each is told, passing ones are tried again", async () => {
  await assertRefused(status(401), /401.*set HF_TOKEN/);
  await assertRefused(status(403), /403/);
  await assertRefused(status(404), /404.*check the address/);
  await assertRefused(status(410), /410/);
  await assertRefused(status(416), /doesn't say how long|416/);
  await assertRefused(status(429, { "retry-after": "0" }), /429/);
  await assertRefused(status(500), /500/);
  await assertRefused(status(204), /204|can't be downloaded/);
  for (const code of [429, 500, 502, 503, 504]) {
    await assertRight(when(firstOfEach(), status(code, { "retry-after": "0" })));
  }
  await assertRight(when(({ index }) => index === 3, status(416)));
});

test("what is packed, a page, a pointer, nothing", async () => {
  await assertRefused((_, response) => {
    const packed = gzipSync(FILE);
    response.writeHead(200, { "content-encoding": "gzip", "content-length": packed.length }).end(packed);
    return true;
  }, /packs it \(gzip\)/);
  const give = (text: string, type = "application/octet-stream"): Misbehave => (_, response) => {
    response.writeHead(200, { "content-type": type, "content-length": text.length }).end(text);
    return true;
  };
  await assertRefused(give("<!DOCTYPE html><title>Sign in</title>", "text/html; charset=utf-8"), /HTML page/);
  await assertRefused(give("<html><title>Sign in</title>"), /HTML page/);
  await assertRefused(give("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"), /Git LFS pointer/);
  await assertRefused(give('{"error":"no"}'), /JSON/);
  await assertRefused(give(""), /it is empty/);
});

test("another SHA-256 than wanted, or than the hub says", async () => {
  await assertRefused(() => false, /instead of 0{64}/, ModelHashError, { sha256: "0".repeat(64) });
  await assertRight(undefined, { sha256: SHA256 });
  await withServer(undefined, async ({ server, download }) => {
    server.headers = { "x-linked-etag": `"${"1".repeat(64)}"` };
    await assert.rejects(download(), ModelHashError);
    server.headers = { "x-linked-etag": `"${SHA256}"` };
    await download();
  });
});

test("cancelled, it continues where it ended", async () => {
  await withServer(undefined, async ({ path, server, download }) => {
    const stop = new AbortController();
    server.misbehave = ({ index }) => {
      if (index === 5) stop.abort(new Error("enough"));
      return false;
    };
    await assert.rejects(download({ signal: stop.signal }), /enough/);
    const before = server.askedBytes;
    await download();
    assert.equal(createHash("sha256").update(readFileSync(path)).digest("hex"), SHA256);
    assert.ok(server.askedBytes - before < FILE.length, "all was fetched again");
  });
});

test("what onProgress throws ends it", async () => {
  await withServer(undefined, async ({ download }) => {
    const boom = new Error("boom");
    const onProgress = (): void => {
      throw boom;
    };
    await assert.rejects(download({ onProgress }), (error) => error === boom);
  });
});
