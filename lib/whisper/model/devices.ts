import type { Lib, Native, Pointer } from "../../../ffi/mod.ts";
import { Device } from "../../ggml/backend/device.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { checkArray, isInstance, refuse } from "../../../base/check.ts";
import type { GpuChoice } from "../thread/protocol.ts";

/** The functions that list devices. */
export type DeviceList = Pick<Lib, "ggml_backend_dev_count" | "ggml_backend_dev_get" | "ggml_backend_dev_type">;

const EXPECTED = "an array of one device of this machine: a GPU, or the processor";

/**
 * Maps the option `devices` to whisper.cpp's parameters, which know a GPU by its number among the GPUs. Throws {@linkcode InvalidArgumentError} for what
 * whisper.cpp can't compute on.
 */
export function chooseGpu(native: Native, devices: unknown): GpuChoice {
  const [device] = checkArray("devices", devices, checkDevice, { min: 1, max: 1 }) as [Device];
  return gpuOf(native.lib, device);
}

/** The parameters for one device. Throws {@linkcode InvalidArgumentError} for one of another kind. */
export function gpuOf(lib: DeviceList, device: Pick<Device, "kind" | "name" | "unsafePointer">): GpuChoice {
  const { kind } = device;
  if (kind === "cpu") return { useGpu: false, gpuDevice: 0 };
  const gpuDevice = gpus(lib).indexOf(device.unsafePointer);
  if (gpuDevice >= 0) return { useGpu: true, gpuDevice };
  throw new InvalidArgumentError(
    `devices has ${device.name} of the kind ${kind}, on which whisper.cpp doesn't compute; expected ${EXPECTED}`,
    { value: device.name, expected: EXPECTED },
  );
}

function checkDevice(name: string, value: unknown): Device {
  return isInstance(value, Device) ? value : refuse(name, value, "a Device of a Registry");
}

/** In the order in which whisper.cpp counts them. */
function gpus(lib: DeviceList): Pointer<"ggml_backend_device">[] {
  const found: Pointer<"ggml_backend_device">[] = [];
  for (let index = 0n; index < lib.ggml_backend_dev_count(); index++) {
    const device = lib.ggml_backend_dev_get(index);
    if (device !== null && GPU_TYPES.has(lib.ggml_backend_dev_type(device))) found.push(device);
  }
  return found;
}

/** `GGML_BACKEND_DEVICE_TYPE_GPU` and `_IGPU`. */
const GPU_TYPES: ReadonlySet<number> = new Set([1, 2]);
