/**
 * The RPC servers that this program uses, and the native thread of each.
 *
 * ggml keeps one connection for each endpoint, as it is written, in tables of the process: one that was lost stays there for ever, and the thread that
 * serves it belongs to whoever was the first. So each use gets a spelling of its own (a port may have zeros before it), and the connection is made on the
 * native thread that works with it: there its abort is contained.
 *
 * @module
 */

import type { NativeThread, Pointer } from "../../../ffi/mod.ts";
import { NativeAbortError, NativeHangError } from "../../../base/errors.ts";
import { InvalidArgumentError, RpcConnectError, RpcInUseError } from "../../errors.ts";
import { checkInteger, checkText, isPlainObject, show } from "../../../base/check.ts";
import { askServer, type RemoteDevice } from "./protocol.ts";
import { parseEndpoint } from "./endpoint.ts";
import type { GgmlTasks } from "../thread/tasks.ts";

/** A device as a native thread finds it. Plain data. */
export interface RemotePlace {
  /** The endpoint, spelled for this use. */
  readonly endpoint: string;
  /** The device's number on its server. */
  readonly index: number;
}

/** Devices that are open on a native thread. Plain data. */
export interface OpenedRemote {
  /** The devices, in the order in which they were asked for. */
  readonly devices: readonly Pointer<"ggml_backend_device">[];
  /** Backends that keep the connections open. */
  readonly backends: readonly Pointer<"ggml_backend">[];
}

/** The spellings of each endpoint that may be used, and whether one is. */
interface Spellings {
  zeros: number;
  used: boolean;
}

const known = new Map<string, Spellings>();
/** Set when a native thread was lost while it held ggml's tables of servers. */
let blocked = false;

/** Throws RpcInUseError when this program uses that server. */
export function endpointInUse(endpoint: string): void {
  if (known.get(endpoint)?.used !== true) return;
  throw new RpcInUseError(
    `the RPC server at ${endpoint} is in use by this program, and serves one client at a time; dispose what uses it, or start another server`,
    { value: endpoint, expected: "a server that nothing uses" },
  );
}

/** Devices of other machines, open on a native thread until they are closed. */
export class RemoteDevices {
  readonly #thread: NativeThread<GgmlTasks>;
  readonly #endpoints: readonly string[];
  readonly #opened: OpenedRemote;

  private constructor(thread: NativeThread<GgmlTasks>, endpoints: readonly string[], opened: OpenedRemote) {
    this.#thread = thread;
    this.#endpoints = endpoints;
    this.#opened = opened;
  }

  /** Checks the servers, then opens the devices on the thread. Throws RpcConnectError, RpcProtocolError, RpcInUseError, InvalidArgumentError. */
  static async open(
    devices: readonly RemoteDevice[],
    thread: NativeThread<GgmlTasks>,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<RemoteDevices> {
    if (blocked) {
      throw new RpcConnectError(
        "an RPC server was lost while it was connected, and this program can't use RPC any more; start it anew",
        {
          expected: "a new process",
        },
      );
    }
    const endpoints = [...new Set(devices.map(({ endpoint }) => endpoint))];
    const places = take(endpoints);
    try {
      for (const endpoint of endpoints) {
        const info = await askServer(endpoint, timeoutMs, signal);
        const beyond = devices.find((one) => one.endpoint === endpoint && one.index >= info.devices.length);
        if (beyond === undefined) continue;
        throw new InvalidArgumentError(
          `${endpoint} has ${info.devices.length} devices, and no number ${beyond.index}`,
          {
            value: beyond.index,
            expected: `0 to ${info.devices.length - 1}`,
          },
        );
      }
      const input = devices.map(({ endpoint, index }) => ({ endpoint: places.get(endpoint) as string, index }));
      const opened = await thread.run("openRemote", input);
      return new RemoteDevices(thread, endpoints, opened);
    } catch (error) {
      const lost = error instanceof NativeAbortError || error instanceof NativeHangError;
      blocked ||= lost;
      giveBack(endpoints, lost);
      throw error;
    }
  }

  /** The devices, for the native thread. */
  get pointers(): readonly Pointer<"ggml_backend_device">[] {
    return this.#opened.devices;
  }

  /** A backend for each device. */
  get backends(): readonly Pointer<"ggml_backend">[] {
    return this.#opened.backends;
  }

  /** Ends the connections, after all that uses them is gone. After a loss nothing is touched. */
  async close(): Promise<void> {
    try {
      if (this.#thread.lost === undefined) await this.#thread.run("closeRemote", this.#opened);
    } finally {
      giveBack(this.#endpoints, this.#thread.lost !== undefined);
    }
  }
}

function take(endpoints: readonly string[]): Map<string, string> {
  endpoints.forEach(endpointInUse);
  return new Map(endpoints.map((endpoint) => {
    const spellings = known.get(endpoint) ?? { zeros: 0, used: false };
    spellings.used = true;
    known.set(endpoint, spellings);
    const { host, port } = parseEndpoint(endpoint);
    return [endpoint, `${host}:${"0".repeat(spellings.zeros)}${port}`];
  }));
}

function giveBack(endpoints: readonly string[], lost: boolean): void {
  for (const endpoint of endpoints) {
    const spellings = known.get(endpoint);
    if (spellings === undefined) continue;
    spellings.used = false;
    if (lost) spellings.zeros++;
  }
}

/** Whether a value is a device of another machine. Throws InvalidArgumentError for one that looks like it and isn't. */
export function checkRemoteDevice(name: string, value: unknown): RemoteDevice {
  if (!isPlainObject(value) || !("endpoint" in value) || !("index" in value)) {
    throw new InvalidArgumentError(`${name} is ${show(value)}; give a device of connectRpc, or { endpoint, index }`, {
      value,
      expected: "{ endpoint, index }",
    });
  }
  parseEndpoint(checkText(`${name}.endpoint`, value.endpoint));
  checkInteger(`${name}.index`, value.index, { min: 0, max: 0xffff });
  return value as unknown as RemoteDevice;
}
