import type { NativeThread, Pointer } from "../../../ffi/mod.ts";
import { Device } from "../../ggml/backend/device.ts";
import type { RemoteDevice } from "../../ggml/rpc/protocol.ts";
import { DEFAULT_TIMEOUT_MS } from "../../ggml/rpc/connect.ts";
import { checkRemoteDevice, RemoteDevices } from "../../ggml/rpc/connections.ts";
import type { GgmlTasks } from "../../ggml/thread/tasks.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { isInstance, show } from "../../support/check.ts";
import type { LlamaTasks } from "../thread/tasks.ts";

/** Devices that a model is to be loaded on, open as long as it is there. */
export interface OpenDevices {
  /** The devices in the order in which they were given. */
  readonly pointers: readonly Pointer<"ggml_backend_device">[];
  /** Ends the connections to other machines; call it once the model is gone. */
  close(): Promise<void>;
}

/**
 * Checks the option `devices`, and gives what opens the devices of other machines on the model's thread; those of this one are there. Throws
 * {@linkcode InvalidArgumentError}; opening throws what RemoteDevices.open throws.
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
  if (!Array.isArray(devices) || devices.length === 0) {
    throw new InvalidArgumentError(
      `devices is ${show(devices)}; give an array of at least one device, or leave it out`,
      {
        value: devices,
        expected: "an array of devices",
      },
    );
  }
  return devices.map((one, index) => isInstance(one, Device) ? one : checkRemoteDevice(`devices[${index}]`, one));
}
