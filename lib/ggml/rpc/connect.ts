/**
 * Devices of other machines, by ggml's RPC.
 *
 * @module
 */

import { integer, options, type RulesOf, signal } from "../../../base/options.ts";
import { askServer, type RpcServerInfo } from "./protocol.ts";
import { parseEndpoint } from "./endpoint.ts";
import { endpointInUse } from "./connections.ts";

/** Options of {@linkcode connectRpc}. */
export interface RpcConnectOptions {
  /** Time limit of an answer in milliseconds: 1 to 2,147,483,647, default 5,000. */
  readonly timeoutMs?: number | undefined;
  /** Stops; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Time limit of a server's answer in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 5_000;

/**
 * Asks an RPC server for its version and its devices, which the option `devices` of `loadModel` takes. The connection ends with the answer, since a
 * server serves one client at a time.
 *
 * RPC has no password and no encryption: whoever reaches the port can use the machine. Keep it within a network that you trust.
 *
 * Throws RpcConnectError when it can't be reached or gives no answer in time, RpcProtocolError when it is no RPC server of this release, RpcInUseError when
 * this program uses it, InvalidArgumentError, and the signal's reason. C: `ggml_backend_rpc_add_server`, `ggml_backend_rpc_get_device_memory`.
 *
 * ```ts ignore
 * const { devices } = await connectRpc("192.168.1.7:50052");
 * await using model = await loadModel("model.gguf", { devices });
 * ```
 */
export async function connectRpc(endpoint: string, options?: RpcConnectOptions): Promise<RpcServerInfo> {
  parseEndpoint(endpoint);
  const { timeoutMs, signal } = connectSpec.check(options);
  signal?.throwIfAborted();
  endpointInUse(endpoint);
  return await askServer(endpoint, timeoutMs, signal);
}

/** The options of a connection. */
export const connectRules = {
  timeoutMs: integer({ min: 1, max: 0x7fff_ffff, default: DEFAULT_TIMEOUT_MS }),
  signal: signal(),
} satisfies RulesOf<RpcConnectOptions>;

const connectSpec = options("connectRpc", connectRules);
