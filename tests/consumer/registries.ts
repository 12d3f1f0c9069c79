/** Stand-ins for the JSR and npm registries on this machine, with the packages of this tree. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { filesOf } from "../../scripts/setup/tar.ts";
import { jsrAsNpm } from "./jsr_as_npm.ts";

/** An answer, before it is sent. */
interface Answer {
  readonly type: string;
  readonly body: Uint8Array;
}

const LONG_AGO = "2020-01-01T00:00:00.000Z";
const TYPES: Readonly<Record<string, string>> = {
  ts: "application/typescript",
  js: "text/javascript",
  json: "application/json",
};

/** Both registries, until they are disposed. */
export class Registries implements AsyncDisposable {
  /** The paths that were asked for. */
  readonly requests: string[] = [];
  /** Changes an answer, or ends the connection after so many bytes of it. */
  edit:
    | ((path: string, answer: Answer, request: IncomingMessage) => Answer | { cutAfter: number } | undefined)
    | undefined;
  readonly #server: Server;
  readonly #files = new Map<string, Answer>();

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Starts them with the packages in a folder, as they are or changed. */
  static async start(packed: string, change?: (name: string, tgz: Uint8Array) => Uint8Array): Promise<Registries> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const registries = new Registries(server);
    registries.#addJsr(join(packed, "jsr"));
    for (const name of readdirSync(packed)) {
      if (!name.endsWith(".tgz")) continue;
      const tgz: Uint8Array = readFileSync(join(packed, name));
      registries.#addTarball(name, change?.(name, tgz) ?? tgz);
    }
    registries.#addTarball("jsr.tgz", await jsrAsNpm(join(packed, "jsr")));
    server.on("request", (request: IncomingMessage, response: ServerResponse) => registries.#answer(request, response));
    return registries;
  }

  get #origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The address of the JSR registry. */
  get jsr(): string {
    return `${this.#origin}/jsr/`;
  }

  /** The address of the npm registry. */
  get npm(): string {
    return `${this.#origin}/npm/`;
  }

  /** The size in bytes of the file that a pattern names. */
  size(pattern: RegExp): number {
    const [, found] = [...this.#files].find(([path]) => pattern.test(path)) ?? [];
    return found?.body.length ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #addJsr(folder: string): void {
    const config = JSON.parse(readFileSync(join(folder, "deno.json"), "utf8")) as {
      name: string;
      version: string;
      exports: Record<string, string>;
    };
    const { name, version, exports } = config;
    const manifest: Record<string, { size: number; checksum: string }> = {};
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name).slice(folder.length).replaceAll("\\", "/");
      const body = readFileSync(join(folder, path));
      manifest[path] = { size: body.length, checksum: `sha256-${createHash("sha256").update(body).digest("hex")}` };
      const type = TYPES[path.split(".").at(-1) ?? ""] ?? "text/plain";
      this.#files.set(`/jsr/${name}/${version}${path}`, { type, body });
    }
    const [scope, short] = name.slice(1).split("/");
    const versions = { [version]: { createdAt: LONG_AGO } };
    this.#addJson(`/jsr/${name}/meta.json`, { scope, name: short, latest: version, versions });
    this.#addJson(`/jsr/${name}/${version}_meta.json`, { manifest, exports });
  }

  #addTarball(file: string, body: Uint8Array): void {
    const found = [...filesOf(body)].find(({ path }) => path === "package/package.json");
    const config = JSON.parse(new TextDecoder().decode(found?.bytes)) as { name: string; version: string };
    const { name, version } = config;
    const hash = (kind: string, encoding: "hex" | "base64"): string => createHash(kind).update(body).digest(encoding);
    const dist = {
      tarball: `${this.npm}-/${file}`,
      integrity: `sha512-${hash("sha512", "base64")}`,
      shasum: hash("sha1", "hex"),
    };
    this.#files.set(`/npm/-/${file}`, { type: "application/octet-stream", body });
    this.#addJson(`/npm/${name}`, {
      name,
      "dist-tags": { latest: version },
      versions: { [version]: { ...config, dist } },
      time: { modified: LONG_AGO, created: LONG_AGO, [version]: LONG_AGO },
    });
  }

  #addJson(path: string, value: unknown): void {
    this.#files.set(path, { type: "application/json", body: new TextEncoder().encode(JSON.stringify(value)) });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(new URL(request.url ?? "", this.#origin).pathname);
    this.requests.push(path);
    const found = this.#files.get(path);
    if (found === undefined) return void response.writeHead(404, { "content-type": "application/json" }).end("{}");
    const edited = this.edit?.(path, found, request) ?? found;
    const { type, body } = "body" in edited ? edited : found;
    const first = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const part = body.subarray(first);
    if (part.length === 0 && first > 0) return void response.writeHead(416).end();
    const range = first === 0 ? {} : { "content-range": `bytes ${first}-${body.length - 1}/${body.length}` };
    response.writeHead(first === 0 ? 200 : 206, { "content-type": type, "content-length": part.length, ...range });
    if ("body" in edited) return void response.end(part);
    response.write(part.subarray(0, edited.cutAfter), () => response.destroy());
  }
}
