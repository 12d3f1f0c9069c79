import type { NativeThread, Pointer } from "../../../ffi/mod.ts";
import { Device } from "../../ggml/backend/device.ts";
import type { RemoteDevice } from "../../ggml/rpc/protocol.ts";
import { DEFAULT_TIMEOUT_MS } from "../../ggml/rpc/connect.ts";
import { checkRemoteDevice, RemoteDevices } from "../../ggml/rpc/connections.ts";
import type { GgmlTasks } from "../../ggml/thread/tasks.ts";
import { checkArray, isInstance } from "../../../base/check.ts";
import type { LlamaTasks } from "../thread/tasks.ts";

/** The devices of a model, open as long as the model is loaded. */
export interface OpenDevices {
  /** The devices in the order in which they were given. */
  readonly pointers: readonly Pointer<"ggml_backend_device">[];
  /** Closes the connections to other machines; call it once the model is freed. */
  close(): Promise<void>;
}

/**
 * Checks the option `devices`, and returns a function that opens the devices of other machines on the model's thread. Throws
 * {@linkcode InvalidArgumentError}; that function throws what RemoteDevices.open throws.
 */
export function deviceOpener(
  given: unknown,
): (thread: NativeThread<LlamaTasks>, signal: AbortSignal) => Promise<OpenDevices> {
  const devices = checkDevices(given);
  return async (thread, signal) => {
    const wanted = devices.filter((one) => !(one instanceof Device)) as RemoteDevice[];
    const ggml = thread as unknown as NativeThread<GgmlTasks>;
    const remote = wanted.length === 0 ? undefined : await RemoteDevices.open(wanted, ggml, DEFAULT_TIMEOUT_MS, signal);
    let next = 0;
    const pointers = devices.map((one) =>
      one instanceof Device ? one.unsafePointer : remote?.pointers[next++] as Pointer<"ggml_backend_device">
    );
    return { pointers, close: () => remote?.close() ?? Promise.resolve() };
  };
}

function checkDevices(devices: unknown): readonly (RemoteDevice | Device)[] {
  return checkArray(
    "devices",
    devices,
    (name, one) => isInstance(one, Device) ? one : checkRemoteDevice(name, one),
    { min: 1, max: Infinity },
  );
}
