import { type Native, open } from "../../ffi/mod.ts";
import { BackendError, InvalidArgumentError } from "../errors.ts";
import { checkInteger, checkOneOf, checkText } from "../options.ts";
import { Device } from "./device.ts";
import type { DeviceKind } from "./device_kind.ts";
import { Registration } from "./registration.ts";

/** In the order of `enum ggml_backend_dev_type`. */
const kinds = ["cpu", "gpu", "igpu", "accelerator"] as const satisfies readonly DeviceKind[];

/**
 * The backends of this process: modules, and their devices. There is one registry a process; every thread sees the same.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { Registry } from "./registry.ts";
 *
 * const registry = await Registry.open();
 * using cpu = registry.device("CPU").open({ threads: 1 });
 * assert.equal(cpu.name, "CPU");
 * ```
 */
export class Registry {
  /** The libraries. */
  readonly native: Native;

  private constructor(native: Native) {
    this.native = native;
  }

  /** Opens the libraries. Throws one of the Library…Errors when they can't be used. */
  static async open(): Promise<Registry> {
    return new Registry(await open());
  }

  /** The modules that are loaded. C: `ggml_backend_reg_count`, `ggml_backend_reg_get`. */
  get registrations(): Registration[] {
    const { lib } = this.native;
    return Array.from(
      { length: Number(lib.ggml_backend_reg_count()) },
      (_, index) => new Registration(this.native, lib.ggml_backend_reg_get(BigInt(index))),
    );
  }

  /** The module of this name, whatever its case. Throws InvalidArgumentError when there is none. C: `ggml_backend_reg_by_name`. */
  registration(name: string): Registration {
    const pointer = this.native.lib.ggml_backend_reg_by_name(checkText("the name of a module", name));
    if (pointer !== null) return new Registration(this.native, pointer);
    throw unknown("module", name, this.registrations);
  }

  /** The devices of all modules. C: `ggml_backend_dev_count`, `ggml_backend_dev_get`. */
  get devices(): Device[] {
    const { lib } = this.native;
    return Array.from(
      { length: Number(lib.ggml_backend_dev_count()) },
      (_, index) => new Device(this.native, lib.ggml_backend_dev_get(BigInt(index))),
    );
  }

  /**
   * The device of this name, whatever its case, or at this place among all. Throws InvalidArgumentError when there is none.
   * C: `ggml_backend_dev_by_name`, `ggml_backend_dev_get`.
   */
  device(nameOrIndex: string | number): Device {
    const { devices } = this;
    if (typeof nameOrIndex === "number") {
      checkInteger("the index of a device", nameOrIndex, { min: 0, max: devices.length - 1 });
      return devices[nameOrIndex] as Device;
    }
    const pointer = this.native.lib.ggml_backend_dev_by_name(checkText("the name of a device", nameOrIndex));
    if (pointer !== null) return new Device(this.native, pointer);
    throw unknown("device", nameOrIndex, devices);
  }

  /** The first device of a kind; `undefined` when there is none. C: `ggml_backend_dev_by_type`. */
  deviceOfKind(kind: Exclude<DeviceKind, "other">): Device | undefined {
    const index = kinds.indexOf(checkOneOf("kind", kind, kinds));
    const pointer = this.native.lib.ggml_backend_dev_by_type(index as 0 | 1 | 2 | 3);
    return pointer === null ? undefined : new Device(this.native, pointer);
  }

  /** The best device: a graphics card, else one built in, else the processor. C: `ggml_backend_init_best` opens the same. */
  best(): Device {
    const found = this.deviceOfKind("gpu") ?? this.deviceOfKind("igpu") ?? this.deviceOfKind("cpu");
    if (found !== undefined) return found;
    throw new BackendError("no device can compute; load a backend", { value: 0, expected: "at least one device" });
  }
}

function unknown(what: string, name: string, known: readonly { readonly name: string }[]): InvalidArgumentError {
  const expected = known.map((one) => one.name).join(", ");
  return new InvalidArgumentError(`there is no ${what} ${JSON.stringify(name)}; there are: ${expected}`, {
    value: name,
    expected,
  });
}
