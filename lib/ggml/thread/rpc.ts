import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { RpcConnectError } from "../../errors.ts";
import type { OpenedRemote, RemotePlace } from "../rpc/connections.ts";

/**
 * Opens devices of other machines on this thread, and keeps each connection by a backend. C: `ggml_backend_rpc_add_server`, `ggml_backend_rpc_init`,
 * `ggml_backend_rpc_buffer_type`.
 */
export function openRemote(places: readonly RemotePlace[], { lib }: TaskContext): OpenedRemote {
  const devices: Pointer<"ggml_backend_device">[] = [];
  const backends: Pointer<"ggml_backend">[] = [];
  for (const { endpoint, index } of places) {
    const backend = lib.ggml_backend_rpc_init(endpoint, index);
    const registration = lib.ggml_backend_rpc_add_server(endpoint);
    if (backend === null || registration === null) {
      throw new RpcConnectError(`ggml can't use the RPC server at ${endpoint}`, {
        value: endpoint,
        expected: "a server",
      });
    }
    backends.push(backend);
    const device = lib.ggml_backend_reg_dev_get(registration, BigInt(index)) as Pointer<"ggml_backend_device">;
    // Asks the server now, once, for what ggml keeps in a table that it locks meanwhile.
    lib.ggml_backend_rpc_buffer_type(endpoint, index);
    devices.push(device);
  }
  return { devices, backends };
}

/** Ends the connections. */
export function closeRemote({ backends }: OpenedRemote, { lib }: TaskContext): void {
  for (const backend of backends) lib.ggml_backend_free(backend);
}
