import { definePicture } from "../../../base/inspect.ts";
import type { FunctionArgument, Native, Pointer, Signature } from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { checkInteger, checkText } from "../../../base/check.ts";
import { checkAddress } from "../tensor/address.ts";
import { brands } from "../brands.ts";
import type { Device } from "./device.ts";
import { wrapDevice } from "./wrappers.ts";

/**
 * A backend's module in the process-wide registry, with its name, its devices and its own functions.
 *
 * C: `ggml_backend_reg_t`.
 */
export class BackendModule {
  /** The libraries. */
  readonly native: Native;
  /** The address, for the raw layer. */
  readonly unsafePointer: Pointer<"ggml_backend_reg">;

  /** A registration at an address that the raw layer gave. */
  constructor(native: Native, pointer: Pointer<"ggml_backend_reg">) {
    checkAddress(native, pointer);
    this.native = native;
    brands.module.add(this);
    this.unsafePointer = pointer;
  }

  /** Its name, such as `"CPU"`. C: `ggml_backend_reg_name`. */
  get name(): string {
    return this.native.readCString(this.native.lib.ggml_backend_reg_name(this.unsafePointer));
  }

  /** The version of the interface that it was built for. C: `ggml_backend_reg.api_version`. */
  get apiVersion(): number {
    return this.native.structAt("ggml_backend_reg", this.unsafePointer).api_version;
  }

  /** Its devices. C: `ggml_backend_reg_dev_count`, `ggml_backend_reg_dev_get`. */
  get devices(): Device[] {
    const count = Number(this.native.lib.ggml_backend_reg_dev_count(this.unsafePointer));
    return Array.from({ length: count }, (_, index) => this.device(index));
  }

  /** One of its devices, by its place from 0. Throws InvalidArgumentError when there is none. C: `ggml_backend_reg_dev_get`. */
  device(index: number): Device {
    const count = Number(this.native.lib.ggml_backend_reg_dev_count(this.unsafePointer));
    if (count === 0) {
      throw new InvalidArgumentError(`${this.name} has no device`, { value: index, expected: "a module with devices" });
    }
    checkInteger("the index of a device", index, { min: 0, max: count - 1 });
    return wrapDevice(this.native, this.native.lib.ggml_backend_reg_dev_get(this.unsafePointer, BigInt(index)));
  }

  /** Features that it was built with, such as `AVX512: "1"`. C: proc address `ggml_backend_get_features`. */
  get features(): Record<string, string> {
    const list = this.function("ggml_backend_get_features", { parameters: ["pointer"], result: "pointer" })?.(
      this.unsafePointer,
    ) as Pointer | null | undefined;
    const found: Record<string, string> = {};
    if (list === null || list === undefined) return found;
    for (let index = 0;; index++) {
      const { name, value } = this.native.structElement("ggml_backend_feature", list, index);
      if (name === null) return found;
      found[this.native.readCString(name)] = this.native.readCString(value);
    }
  }

  /** The address of a function of its own; `undefined` when it has none of that name. C: `ggml_backend_reg_get_proc_address`. */
  procAddress(name: string): Pointer | undefined {
    const address = this.native.lib.ggml_backend_reg_get_proc_address(
      this.unsafePointer,
      checkText("the name of a function", name),
    );
    return address ?? undefined;
  }

  /**
   * A function of its own, ready to call; `undefined` when it has none of that name. The signature is the caller's word: a wrong one ends the
   * process.
   */
  function(name: string, signature: Signature): ((...values: readonly FunctionArgument[]) => unknown) | undefined {
    const address = this.procAddress(name);
    return address === undefined ? undefined : this.native.functionAt(address, signature);
  }

  /** Whether it is the same module as another. */
  equals(other: BackendModule): boolean {
    return this.unsafePointer === brands.module.check("other", other).unsafePointer;
  }

  static {
    definePicture(BackendModule, "BackendModule", (module) => `${module.name}, ${module.devices.length} devices`);
  }
}
