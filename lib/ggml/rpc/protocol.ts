/**
 * Asks an RPC server who it is, before native code does: that ends the process when the answer is wrong.
 *
 * @module
 */

import { rethrowDenied } from "../../../base/permission.ts";
import { joined } from "../../../ffi/memory/concat.ts";
import { createConnection, type Socket } from "node:net";
import { RPC_PROTO_MAJOR_VERSION, RPC_PROTO_MINOR_VERSION } from "../../../ffi/tables/constants.ts";
import { RpcConnectError, RpcProtocolError } from "../../errors.ts";
import { parseEndpoint } from "./endpoint.ts";

/** A device of a server. Plain data. */
export interface RemoteDevice {
  /** The address of its server: `host:port`. */
  readonly endpoint: string;
  /** Its number on that server, from 0. */
  readonly index: number;
  /** Bytes of its memory that were free when it was asked. */
  readonly memoryFree: number;
  /** Bytes of its memory. */
  readonly memoryTotal: number;
}

/** Description of a server. Plain data. */
export interface RpcServerInfo {
  /** Its address. */
  readonly endpoint: string;
  /** The version of the protocol that it speaks, such as `"7.0.0"`. */
  readonly version: string;
  /** Its devices. */
  readonly devices: readonly RemoteDevice[];
}

/** C: `enum rpc_cmd`. */
const commands = { getDeviceMemory: 11, hello: 14, deviceCount: 15 } as const;
/** C: `RPC_CONN_CAPS_SIZE`. */
const CAPABILITIES = 24;
/** More than any server has: beyond it the answer is nonsense. */
const MAX_DEVICES = 1024;

/** Asks a server. Throws RpcConnectError, RpcProtocolError, and the signal's reason. */
export async function askServer(
  endpoint: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<RpcServerInfo> {
  const connection = new Connection(endpoint, timeoutMs, signal);
  try {
    const hello = await connection.ask(commands.hello, new Uint8Array(CAPABILITIES), 4 + CAPABILITIES);
    const [major = 0, minor = 0, patch = 0] = new Uint8Array(hello.buffer, hello.byteOffset, 4);
    const version = `${major}.${minor}.${patch}`;
    if (major !== RPC_PROTO_MAJOR_VERSION || minor > RPC_PROTO_MINOR_VERSION) {
      throw new RpcProtocolError(
        `${endpoint} speaks version ${version} of the RPC protocol, and this library ${RPC_PROTO_MAJOR_VERSION}.${RPC_PROTO_MINOR_VERSION}; use the same release of llama.cpp on both sides`,
        { value: version, expected: `${RPC_PROTO_MAJOR_VERSION}.${RPC_PROTO_MINOR_VERSION}` },
      );
    }
    const count = (await connection.ask(commands.deviceCount, new Uint8Array(0), 4)).getUint32(0, true);
    if (count === 0 || count > MAX_DEVICES) {
      throw new RpcProtocolError(`${endpoint} says that it has ${count} devices; start it with at least one`, {
        value: count,
        expected: "1 or more devices",
      });
    }
    const devices: RemoteDevice[] = [];
    for (let index = 0; index < count; index++) {
      const answer = await connection.ask(commands.getDeviceMemory, new Uint8Array(Uint32Array.of(index).buffer), 16);
      const [memoryFree, memoryTotal] = [answer.getBigUint64(0, true), answer.getBigUint64(8, true)].map(Number);
      devices.push({ endpoint, index, memoryFree: memoryFree ?? 0, memoryTotal: memoryTotal ?? 0 });
    }
    return { endpoint, version, devices };
  } finally {
    await connection.close();
  }
}

/** A connection on which one question is asked after another. */
class Connection {
  readonly #endpoint: string;
  readonly #socket: Socket;
  readonly #failed: Promise<never>;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #closed: Promise<void>;
  #chunks: Uint8Array[] = [];
  #length = 0;
  #arrived: (() => void) | undefined;

  constructor(endpoint: string, timeoutMs: number, signal: AbortSignal | undefined) {
    this.#endpoint = endpoint;
    const { host, port } = parseEndpoint(endpoint);
    const { promise, reject } = Promise.withResolvers<never>();
    this.#failed = promise;
    promise.catch(() => {});
    this.#socket = createConnection({ host, port, family: 4 });
    this.#closed = new Promise((resolve) => this.#socket.once("close", () => resolve()));
    this.#socket.on("data", (chunk: Uint8Array) => {
      this.#chunks.push(chunk);
      this.#length += chunk.length;
      this.#arrived?.();
    });
    this.#socket.on(
      "error",
      (cause: Error) => reject(this.#refused(cause)),
    );
    this.#socket.on(
      "close",
      () => reject(this.#connectError("closed the connection; it isn't an RPC server, or is one of another release")),
    );
    this.#timer = setTimeout(() => {
      const words =
        `gave no answer within ${timeoutMs} milliseconds; a server serves one client at a time: another may use it`;
      reject(this.#connectError(words));
    }, timeoutMs);
    const abort = (): void => reject(signal?.reason);
    if (signal?.aborted === true) abort();
    signal?.addEventListener("abort", abort, { once: true });
    void this.#closed.then(() => signal?.removeEventListener("abort", abort));
  }

  #refused(cause: Error): Error {
    try {
      rethrowDenied(cause, `connecting to ${this.#endpoint}`, `--allow-net=${this.#endpoint}`);
    } catch (denied) {
      return denied as Error;
    }
    return this.#connectError(`can't be reached (${cause.message})`, cause);
  }

  #connectError(words: string, cause?: unknown): RpcConnectError {
    return new RpcConnectError(`the RPC server at ${this.#endpoint} ${words}; check the address, and that it runs`, {
      value: this.#endpoint,
      expected: "the address of an RPC server",
      ...(cause === undefined ? {} : { cause }),
    });
  }

  /** Sends a command, and gives the answer, which must have this many bytes. */
  async ask(command: number, input: Uint8Array, size: number): Promise<DataView> {
    const message = new Uint8Array(9 + input.length);
    message[0] = command;
    new DataView(message.buffer).setBigUint64(1, BigInt(input.length), true);
    message.set(input, 9);
    this.#socket.write(message);
    const said = (await this.#take(8)).getBigUint64(0, true);
    if (said !== BigInt(size)) {
      throw new RpcProtocolError(
        `${this.#endpoint} answers what no RPC server of this release does (${said} bytes instead of ${size}); check the address`,
        { value: said, expected: `${size} bytes` },
      );
    }
    return await this.#take(size);
  }

  async #take(size: number): Promise<DataView> {
    while (this.#length < size) {
      const arrived = new Promise<void>((resolve) => this.#arrived = resolve);
      await Promise.race([arrived, this.#failed]);
    }
    const all = joined(Uint8Array, this.#chunks);
    this.#chunks = all.length > size ? [all.slice(size)] : [];
    this.#length -= size;
    return new DataView(all.buffer, 0, size);
  }

  /** Ends it. The server serves the next one only when it has seen the end. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#socket.destroy();
    await this.#closed;
  }
}
