import { AllocationError, InvalidArgumentError } from "../../errors.ts";
import { isInstance, show } from "../../../base/check.ts";
import { BackendBuffer } from "./buffer.ts";
import type { Device } from "./device.ts";

/** {@linkcode Device.bufferFromBytes}, for a device that can. */
export function bufferFromBytes(device: Device, bytes: Uint8Array<ArrayBuffer>): BackendBuffer {
  const { native } = device;
  if (!isInstance(bytes, Uint8Array) || bytes.byteLength === 0 || !(bytes.buffer instanceof ArrayBuffer)) {
    throw new InvalidArgumentError(`the bytes of a buffer are ${show(bytes)}; give a Uint8Array that isn't empty`, {
      value: bytes,
      expected: "a Uint8Array of at least one byte, not shared between threads",
    });
  }
  const { alignment } = device.bufferType;
  const address = native.addressOf(bytes);
  if (address % BigInt(alignment) !== 0n) {
    throw new InvalidArgumentError(
      `the bytes start at an address that isn't a multiple of ${alignment}; make them by the device's alignedBytes()`,
      { value: Number(address % BigInt(alignment)), expected: `an address that is a multiple of ${alignment}` },
    );
  }
  const size = BigInt(bytes.byteLength);
  const pointer = native.lib.ggml_backend_dev_buffer_from_host_ptr(device.unsafePointer, address, size, size);
  if (pointer === null) {
    throw new AllocationError(
      `${device.name} refused ${bytes.byteLength} bytes of the processor's memory as a buffer`,
      {
        value: bytes.byteLength,
        expected: "memory that the device takes",
      },
    );
  }
  return new BackendBuffer(native, pointer, bytes);
}
