/** A server on this machine that gives a file, well or badly. */

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as a test sees it. */
export interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  /** First and last byte of the range, if there is one. */
  readonly range: readonly [number, number] | undefined;
  /** How many requests came before. */
  readonly index: number;
}

/** Answers a request by itself, and returns true; or leaves it to the server. */
export type Misbehave = (asked: Asked, response: ServerResponse, server: FileServer) => boolean;

/** Serves files by path, in parts too, until it is disposed. */
export class FileServer implements AsyncDisposable {
  /** The requests, in their order. */
  readonly requests: Asked[] = [];
  /** The files by path. */
  readonly files = new Map<string, Uint8Array>();
  /** Comes before the normal answer. */
  misbehave: Misbehave | undefined;
  /** Headers of each normal answer. */
  headers: Readonly<Record<string, string>> = {};
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Starts it with one file. */
  static async start(path: string, bytes: Uint8Array, misbehave?: Misbehave): Promise<FileServer> {
    const http = createServer();
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const server = new FileServer(http);
    server.files.set(path, bytes);
    server.misbehave = misbehave;
    http.on("request", (request: IncomingMessage, response: ServerResponse) => server.#answer(request, response));
    return server;
  }

  /** Its address, without a slash at its end; by another name of this machine it is another host. */
  origin(host: string = "127.0.0.1"): string {
    return `http://${host}:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The bytes that were asked for. */
  get askedBytes(): number {
    return this.requests.reduce((sum, { range }) => sum + (range === undefined ? 0 : range[1] - range[0] + 1), 0);
  }

  /** Gives a file, or the part that is asked for. */
  give(asked: Asked, response: ServerResponse, bytes: Uint8Array): void {
    const tag = `"${createHash("sha1").update(bytes).digest("hex")}"`;
    const headers = { "content-type": "application/octet-stream", etag: tag, ...this.headers };
    const [from, to] = asked.range ?? [0, bytes.length - 1];
    const part = bytes.subarray(from, to + 1);
    if (asked.range === undefined) {
      return void response.writeHead(200, { ...headers, "content-length": bytes.length }).end(bytes);
    }
    if (part.length === 0) return void response.writeHead(416, { "content-range": `bytes */${bytes.length}` }).end();
    response.writeHead(206, {
      ...headers,
      "content-length": part.length,
      "content-range": `bytes ${from}-${from + part.length - 1}/${bytes.length}`,
    });
    response.end(part);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(new URL(request.url ?? "", this.origin()).pathname);
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const range = from === undefined ? undefined : [Number(from), Number(to)] as const;
    const asked: Asked = { path, headers: request.headers, range, index: this.requests.length };
    this.requests.push(asked);
    if (this.misbehave?.(asked, response, this) === true) return;
    const bytes = this.files.get(path);
    if (bytes === undefined) return void response.writeHead(404).end("not here");
    this.give(asked, response, bytes);
  }
}
