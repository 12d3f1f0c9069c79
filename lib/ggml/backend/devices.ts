import { type Native, open } from "../../../ffi/mod.ts";
import { type DeviceKind, deviceKind } from "./device_kind.ts";

export type { DeviceKind } from "./device_kind.ts";

/** A device that models can run on. Plain data. */
export interface DeviceInfo {
  /** Its short name, such as `"CPU"`. C: `ggml_backend_dev_name`. */
  name: string;
  /** Description, such as the processor's model. C: `ggml_backend_dev_description`. */
  description: string;
  /** C: `ggml_backend_dev_type`. */
  kind: DeviceKind;
  /** Bytes of its memory that were free just now. C: `ggml_backend_dev_memory`. */
  memoryFree: number;
  /** Bytes of its memory. C: `ggml_backend_dev_memory`. */
  memoryTotal: number;
}

/**
 * Returns the devices that models can run on, best first.
 *
 * Throws one of the Library…Errors when the native libraries can't be used.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { devices } from "./devices.ts";
 *
 * const found = await devices();
 * assert.ok(found.some(({ kind }) => kind === "cpu"));
 * ```
 */
export async function devices(): Promise<DeviceInfo[]> {
  const native = await open();
  return Array.from({ length: Number(native.lib.ggml_backend_dev_count()) }, (_, index) => describe(native, index))
    .filter((device) => device !== undefined);
}

function describe(native: Native, index: number): DeviceInfo | undefined {
  const { lib } = native;
  const device = lib.ggml_backend_dev_get(BigInt(index));
  if (device === null) return undefined;
  const free = new BigUint64Array(1);
  const total = new BigUint64Array(1);
  lib.ggml_backend_dev_memory(device, free, total);
  return {
    name: native.readCString(lib.ggml_backend_dev_name(device)),
    description: native.readCString(lib.ggml_backend_dev_description(device)),
    kind: deviceKind(lib.ggml_backend_dev_type(device)),
    memoryFree: Number(free[0] ?? 0n),
    memoryTotal: Number(total[0] ?? 0n),
  };
}
