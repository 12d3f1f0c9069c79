/**
 * An RPC server in a process of its own.
 *
 * @module
 */

import { definePicture } from "../../../base/inspect.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer, isIPv4 } from "node:net";
import { availableParallelism } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { open } from "../../../ffi/mod.ts";
import { RpcConnectError, RpcServerError } from "../../errors.ts";
import { checkText, refuse } from "../../../base/check.ts";
import {
  arrayOf,
  callback,
  custom,
  integer,
  oneOf,
  options,
  type RulesOf,
  type Settings,
  signal,
} from "../../../base/options.ts";
import { askServer } from "./protocol.ts";

/** Options of a server. */
export interface RpcServerOptions {
  /**
   * The IPv4 address of the network that it listens on. Default `"127.0.0.1"`, which other machines don't reach. Any other one is open to all that
   * reach it: there is no password and no encryption, and a warning says so.
   */
  readonly host?: string | undefined;
  /** The port: 1 to 65,535; default one that is free. */
  readonly port?: number | undefined;
  /** Number of threads: 1 to 512, default one for each core. */
  readonly threads?: number | undefined;
  /** The names of the devices that it offers, such as `"CPU"`; default the graphics cards, and without one the processor. */
  readonly devices?: readonly string[] | undefined;
  /** A folder in which large weights are kept, so that they aren't sent again; default none. */
  readonly cache?: string | undefined;
  /** Time limit of the start in milliseconds: 1 to 2,147,483,647, default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Gets warnings; default `process.emitWarning`. */
  readonly onWarning?: ((warning: string) => void) | undefined;
  /** Whether what the server writes is shown on this program's outputs. Default false. */
  readonly output?: "show" | "hide" | undefined;
  /** Stops the start. */
  readonly signal?: AbortSignal | undefined;
}

/** Settings of the child process. Plain data. */
export interface RpcChildSettings {
  /** Its address. */
  readonly endpoint: string;
  /** Number of threads. */
  readonly threads: number;
  /** Its devices by name; none for the default. */
  readonly devices: readonly string[];
  /** The folder for weights, or none. */
  readonly cache: string | null;
}

/** {@linkcode RpcServerOptions}, declared. */
const serverSpec = options(
  "RpcServer.start",
  {
    host: custom("an IPv4 address", checkHost, { default: "127.0.0.1" }),
    port: integer({ min: 1, max: 65_535 }),
    threads: integer({ min: 1, max: 512, default: () => availableParallelism() }),
    devices: arrayOf(checkText, { default: [] }),
    cache: custom<string, Record<never, never>>("a folder that is there", checkCache),
    timeoutMs: integer({ min: 1, max: 0x7fff_ffff, default: 30_000 }),
    onWarning: callback<NonNullable<RpcServerOptions["onWarning"]>>(),
    output: oneOf(["show", "hide"], { default: "hide" }),
    signal: signal(),
  } satisfies RulesOf<RpcServerOptions>,
);
/** Milliseconds that a child may take to end by itself, and between polls while it starts. */
const PATIENCE_MS = 2_000;
const PAUSE_MS = 25;
/** Characters of its output that are kept for an error. */
const KEPT_OUTPUT = 4_096;

/**
 * An RPC server, which lets other programs use the devices of this machine. Made by {@linkcode RpcServer.start}; it runs until it is disposed, or this
 * program ends.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { connectRpc } from "./connect.ts";
 * import { RpcServer } from "./server.ts";
 *
 * await using server = await RpcServer.start({ threads: 1 });
 * const { devices } = await connectRpc(server.endpoint);
 * assert.equal(devices.length, 1);
 * ```
 */
export class RpcServer implements AsyncDisposable {
  /** Its address: `host:port`. */
  readonly endpoint: string;
  /** The number of its process. */
  readonly pid: number;
  readonly #child: Child;

  #disposed = false;

  private constructor(endpoint: string, child: Child) {
    this.endpoint = endpoint;
    this.#child = child;
    this.pid = child.pid;
  }

  /**
   * Starts a server and waits until it answers. Throws InvalidArgumentError for a bad option, RpcServerError when it doesn't come up, and the signal's
   * reason. C: `ggml_backend_rpc_start_server`.
   */
  static async start(options?: RpcServerOptions): Promise<RpcServer> {
    const given = serverSpec.check(options);
    const { signal, timeoutMs, onWarning = (text) => process.emitWarning(text) } = given;
    signal?.throwIfAborted();
    const settings = await childSettings(given);
    const warning = warningFor(given.host);
    if (warning !== undefined) onWarning(warning);
    const { set } = await open();
    const child = new Child(settings, set.directory, given.output === "show");
    try {
      await untilUp(settings.endpoint, child, performance.now() + timeoutMs, signal);
      return new RpcServer(settings.endpoint, child);
    } catch (error) {
      await child.end();
      throw error;
    }
  }

  /** Settles when it has ended, by itself or by dispose, with how. */
  get ended(): Promise<string> {
    return this.#child.ended;
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#disposed;
  }

  /** Ends it, at once: its clients lose what was there. A second call does nothing. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.#child.end();
  }

  /** {@linkcode RpcServer.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  static {
    definePicture(RpcServer, "RpcServer", (server) => `at ${server.endpoint}, process ${server.pid}`);
  }
}

async function childSettings(given: Settings<typeof serverSpec>): Promise<RpcChildSettings> {
  const { host, threads, devices, cache = null } = given;
  const port = given.port ?? await freePort(host);
  return { endpoint: `${host}:${port}`, threads, devices, cache };
}

function checkHost(name: string, value: unknown): string {
  const host = checkText(name, value);
  return isIPv4(host) ? host : refuse(name, host, "an IPv4 address, such as 127.0.0.1");
}

function checkCache(name: string, value: unknown): string {
  const folder = checkText(name, value);
  return existsSync(folder) ? folder : refuse(name, folder, "a folder that is there");
}

/** Why an address is a danger; `undefined` for one that isn't. */
export function warningFor(host: string): string | undefined {
  if (host.startsWith("127.")) return undefined;
  return `the RPC server listens on ${host}: there is no password and no encryption, so whoever reaches it can use this machine's memory and processors, and make ` +
    "its process run wild with crafted messages; use it in a network that you trust, and nowhere else";
}

/** A port that nothing listens on just now. */
async function freePort(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once(
      "error",
      (cause) => reject(new RpcServerError(`nothing can listen on ${host} (${cause.message})`, { value: host, cause })),
    );
    server.listen(0, host, resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Polls until the server answers, its process has ended, or the time is over. */
async function untilUp(
  endpoint: string,
  child: Child,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    if (child.gone !== undefined) {
      throw new RpcServerError(`the RPC server didn't start: ${child.gone}${child.words}`, {
        value: endpoint,
        expected: "an address and a port that are free",
      });
    }
    const left = deadline - performance.now();
    if (left <= 0) {
      throw new RpcServerError(`the RPC server at ${endpoint} wasn't up in time; give it more by timeoutMs`, {
        value: endpoint,
      });
    }
    try {
      return void await askServer(endpoint, Math.ceil(left), signal);
    } catch (error) {
      if (!(error instanceof RpcConnectError)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** The process that serves. */
class Child {
  readonly #process: ChildProcess;
  readonly ended: Promise<string>;
  #output = "";
  /** How it ended. */
  gone: string | undefined;

  constructor(settings: RpcChildSettings, libraries: string, show: boolean) {
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const entry = new URL(`./server_process.${extension}`, import.meta.url);
    // Deno runs modules at http addresses too, as JSR's are.
    if (!/^https?:$/.test(entry.protocol) && (entry.protocol !== "file:" || !existsSync(entry))) {
      throw new RpcServerError(
        "the module of the RPC server isn't beside this one, as in a bundle; start `rpc-server` of the CLI",
        {
          value: entry.href,
          expected: "an unbundled install",
        },
      );
    }
    const run = "deno" in process.versions ? ["run", "-A", "--no-lock", entry.href] : [fileURLToPath(entry)];
    const env = { ...process.env, GGML_FFI_LIBRARY_PATH: libraries };
    this.#process = spawn(process.execPath, [...run, JSON.stringify(settings)], {
      env,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const { promise, resolve } = Promise.withResolvers<string>();
    this.ended = promise;
    const end = (how: string): void => {
      this.gone ??= how;
      resolve(this.gone);
    };
    this.#process.once("error", (cause) => end(cause.message));
    this.#process.once(
      "exit",
      (code, signal) => end(signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`),
    );
    for (
      const [stream, to] of [[this.#process.stdout, process.stdout], [this.#process.stderr, process.stderr]] as const
    ) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output = (this.#output + text).slice(-KEPT_OUTPUT);
        if (show) to.write(text);
      });
    }
    this.#letGo();
  }

  /** The program may end before it. It hears of that by its input. */
  #letGo(): void {
    this.#process.unref();
    for (const stream of [this.#process.stdin, this.#process.stdout, this.#process.stderr]) {
      (stream as { unref?: () => void } | null)?.unref?.();
    }
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** The last of what it wrote. */
  get words(): string {
    const text = this.#output.trim();
    return text === "" ? "" : `: ${text}`;
  }

  async end(): Promise<void> {
    if (this.gone !== undefined) return;
    this.#process.ref();
    const late = setTimeout(() => this.#process.kill("SIGKILL"), PATIENCE_MS);
    this.#process.kill();
    await this.ended;
    clearTimeout(late);
  }
}
