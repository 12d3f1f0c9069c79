import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import test from "node:test";
import { GgufFetchError, GgufTruncatedError, InvalidArgumentError, NotGgufError } from "../../../lib/errors.ts";
import { GgufFile } from "../../../lib/gguf/file.ts";
import { encodeGguf } from "../../../lib/gguf/writer.ts";

const size = 8 << 20;
const file = encodeGguf({
  metadata: {
    "general.architecture": "test",
    "t.words": Array.from({ length: 50_000 }, (_, index) => `word ${index}`),
  },
  tensors: [
    { name: "zeros", type: "i8", shape: [size], data: new Uint8Array(size) },
    { name: "last", type: "f32", shape: [2], data: Float32Array.of(1, 2) },
  ],
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Server extends AsyncDisposable {
  readonly url: string;
  /** How many bytes of bodies were given out. */
  sent: number;
  /** How often it was asked. */
  requests: number;
}

async function serve(handler: Handler): Promise<Server> {
  const server = createServer((request, response) => {
    one.requests++;
    handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const one: Server = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/model.gguf`,
    sent: 0,
    requests: 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return one;
}

function rangeOf(request: IncomingMessage): { from: number; to: number } {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
  return { from: Number(from), to: Math.min(Number(to), file.length - 1) };
}

/** A server as it should be. */
const right = (of: () => Server): Handler => (request, response) => {
  const { from, to } = rangeOf(request);
  const body = file.subarray(from, to + 1);
  of().sent += body.length;
  response.writeHead(206, {
    "content-range": `bytes ${from}-${to}/${file.length}`,
    "content-length": body.length,
    etag: '"one"',
  });
  response.end(body);
};

test("of a file on a server the header is fetched, and what is asked for", async () => {
  await using server: Server = await serve((request, response) => right(() => server)(request, response));
  await using opened = await GgufFile.open(server.url, { headers: { "x-test": "1" } });
  assert.equal(opened.metadata.get("general.architecture"), "test");
  assert.equal(opened.header.fileSize, file.length);
  assert.ok(server.sent <= opened.header.dataOffset + (1 << 20), `${server.sent} of ${file.length}`);
  const { sent } = server;
  assert.deepEqual(await opened.readNumbers("last"), Float32Array.of(1, 2));
  assert.equal(server.sent, sent + 8);
  const words = await opened.value("t.words");
  assert.equal(words?.type === "array" && words.value[49_999], "word 49999");
  await using again = await GgufFile.open(new URL(server.url));
  assert.equal(again.tensors.length, 2);
});

test("a server that ignores ranges: read as far as the header goes", async () => {
  await using server = await serve((_request, response) => {
    response.writeHead(200, { "content-length": file.length });
    response.end(file);
  });
  await using opened = await GgufFile.open(server.url);
  assert.equal(opened.tensors.length, 2);
  assert.deepEqual(await opened.readNumbers("last"), Float32Array.of(1, 2));
  await assert.rejects(async () => {
    await using small = await GgufFile.open(server.url, { maxSkippedBytes: 1 << 20 });
    await small.readNumbers("last");
  }, GgufFetchError);
});

test("servers that lie", async () => {
  const lies: [string, Handler, new (...args: never[]) => Error][] = [
    ["another part", (_, response) => {
      response.writeHead(206, { "content-range": `bytes 7-${file.length - 1}/${file.length}` }).end(file.subarray(7));
    }, GgufFetchError],
    ["no content-range", (_, response) => void response.writeHead(206).end(file), GgufFetchError],
    ["a content-range of nonsense", (_, response) => {
      response.writeHead(206, { "content-range": "bytes a-b/c" }).end(file);
    }, GgufFetchError],
    ["an unknown size", (_, response) => {
      response.writeHead(206, { "content-range": `bytes 0-65535/*` }).end(file.subarray(0, 65536));
    }, GgufFetchError],
    ["an absurd size", (_, response) => {
      response.writeHead(206, { "content-range": `bytes 0-65535/99999999999999999999` }).end(file.subarray(0, 65536));
    }, GgufFetchError],
    ["a smaller size", (request, response) => {
      const { from, to } = rangeOf(request);
      response.writeHead(206, { "content-range": `bytes ${from}-${to}/5000` }).end(file.subarray(from, to + 1));
    }, GgufTruncatedError],
    ["a larger size than there is", (request, response) => {
      const { from, to } = rangeOf(request);
      response.writeHead(206, { "content-range": `bytes ${from}-${to}/${2 ** 40}` }).end(
        file.subarray(from, Math.min(to, 1000)),
      );
    }, GgufFetchError],
    ["a body that is too short", (request, response) => {
      const { from, to } = rangeOf(request);
      response.writeHead(206, { "content-range": `bytes ${from}-${to}/${file.length}` }).end(
        file.subarray(from, from + 10),
      );
    }, GgufFetchError],
    ["a body without a size", (_, response) => {
      response.writeHead(200);
      response.write("GGUF");
      response.end();
    }, GgufFetchError],
    ["encoded", (_, response) => {
      response.writeHead(206, { "content-range": `bytes 0-65535/${file.length}`, "content-encoding": "x-test" }).end(
        "xx",
      );
    }, GgufFetchError],
    ["not found", (_, response) => void response.writeHead(404).end("no"), GgufFetchError],
    ["an error", (_, response) => void response.writeHead(500).end(), GgufFetchError],
    ["a web page", (_, response) => {
      const page = "<html>please log in</html>";
      response.writeHead(200, { "content-length": page.length }).end(page);
    }, NotGgufError],
    ["hanging up", (request) => void request.socket.destroy(), GgufFetchError],
    [
      "an endless redirect",
      (_, response) => void response.writeHead(302, { location: "/again" }).end(),
      GgufFetchError,
    ],
  ];
  for (const [name, handler, kind] of lies) {
    await using server = await serve(handler);
    await assert.rejects(GgufFile.open(server.url), (error) => {
      assert.ok(error instanceof kind, `${name}: ${error}`);
      return true;
    });
  }
});

test("a longer body than was asked for is left", async () => {
  await using server = await serve((request, response) => {
    const { from, to } = rangeOf(request);
    response.writeHead(206, { "content-range": `bytes ${from}-${to}/${file.length}` }).end(file.subarray(from));
  });
  await using opened = await GgufFile.open(server.url);
  assert.deepEqual(await opened.readNumbers("last"), Float32Array.of(1, 2));
});

test("a file that changes while it is read is noticed", async () => {
  let tag = 0;
  await using server = await serve((request, response) => {
    const { from, to } = rangeOf(request);
    response.writeHead(206, { "content-range": `bytes ${from}-${to}/${file.length}`, etag: `"${tag++}"` })
      .end(file.subarray(from, to + 1));
  });
  await assert.rejects(GgufFile.open(server.url), /changed while it was read/);
});

test("a redirect is followed", async () => {
  await using server: Server = await serve((request, response) => {
    if (request.url === "/model.gguf") response.writeHead(307, { location: "/real.gguf" }).end();
    else right(() => server)(request, response);
  });
  await using opened = await GgufFile.open(server.url);
  assert.equal(opened.tensors.length, 2);
});

test("a server that hangs is given up, before and amid its answer", async () => {
  await using silent = await serve(() => {});
  await assert.rejects(GgufFile.open(silent.url, { timeoutMs: 100 }), /gave nothing for 100 milliseconds/);
  await using stuck = await serve((request, response) => {
    const { from, to } = rangeOf(request);
    response.writeHead(206, { "content-range": `bytes ${from}-${to}/${file.length}`, "content-length": to - from + 1 });
    response.write(file.subarray(from, from + 100));
  });
  await assert.rejects(GgufFile.open(stuck.url, { timeoutMs: 100 }), /gave nothing for 100 milliseconds/);
  const stop = new AbortController();
  const waiting = GgufFile.open(silent.url, { signal: stop.signal });
  stop.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
});

test("a server that isn't there, and options that can't be", async () => {
  let url = "";
  {
    await using server = await serve(() => {});
    url = server.url;
  }
  await assert.rejects(GgufFile.open(url), GgufFetchError);
  await assert.rejects(GgufFile.open("http://"), InvalidArgumentError);
  await assert.rejects(GgufFile.open(url, { timeoutMs: 0 }), InvalidArgumentError);
  await assert.rejects(GgufFile.open(url, { timeout: 5 } as never), InvalidArgumentError);
});
