import { definePicture } from "../../../base/inspect.ts";
import { brands } from "../brands.ts";
import { join, resolve } from "node:path";
import { type Native, open } from "../../../ffi/mod.ts";
import { BackendError, InvalidArgumentError } from "../../errors.ts";
import { checkArray, checkInteger, checkOneOf, checkText } from "../../../base/check.ts";
import { Device } from "./device.ts";
import type { DeviceKind } from "./device_kind.ts";
import {
  inspectModules,
  type LoadedModules,
  loadFolder,
  loadModule,
  type ModuleInfo,
  type RefusedModule,
} from "./modules.ts";
import { BackendModule } from "./backend_module.ts";

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
  get registrations(): BackendModule[] {
    const { lib } = this.native;
    return Array.from(
      { length: Number(lib.ggml_backend_reg_count()) },
      (_, index) => new BackendModule(this.native, lib.ggml_backend_reg_get(BigInt(index))),
    );
  }

  /** The module of this name, whatever its case. Throws InvalidArgumentError when there is none. C: `ggml_backend_reg_by_name`. */
  registration(name: string): BackendModule {
    const pointer = this.native.lib.ggml_backend_reg_by_name(checkText("the name of a module", name));
    if (pointer !== null) return new BackendModule(this.native, pointer);
    throw unknown("module", name, this.registrations);
  }

  /**
   * Loads a backend's module, such as `libggml-vulkan.so` of the same release. It is checked first, on a native thread: format, processor, what it
   * exports, its score, the version of its interface. Loading a module again gives the same registration.
   *
   * Rejects with BackendLoadError that says what is wrong. C: `ggml_backend_load`.
   */
  load(path: string): Promise<BackendModule> {
    return loadModule(this.native, path);
  }

  /**
   * Loads the best module of each kind in a folder; default: that of the libraries in use. What is no backend for this system is told, not thrown.
   *
   * Rejects with BackendLoadError for a folder that can't be read. C: `ggml_backend_load_all`, `ggml_backend_load_all_from_path`.
   */
  loadAll(folder: string = this.native.set.directory): Promise<LoadedModules> {
    return loadFolder(this.native, folder);
  }

  /**
   * Describes modules without loading them; default: the CPU's variants among the libraries in use. C: `ggml_backend_score`.
   */
  inspect(paths: readonly string[] = this.#variants()): Promise<(ModuleInfo | RefusedModule)[]> {
    return inspectModules(
      this.native,
      checkArray("paths", paths, (_, path) => resolve(checkText("the path of a backend", path))),
    );
  }

  #variants(): string[] {
    const { directory, files } = this.native.set;
    return files.filter(({ variant }) => variant !== undefined).map(({ name }) => join(directory, name));
  }

  /**
   * Takes a module out of the registry: models and schedulers don't find its devices any more. What was opened on them goes on working, since its
   * code stays in memory. Throws InvalidArgumentError for the last module with a CPU, which everything needs. C: `ggml_backend_unload`.
   */
  unload(registration: BackendModule): void {
    brands.module.check("registration", registration);
    const cpus = (one: BackendModule): number => one.devices.filter(({ kind }) => kind === "cpu").length;
    if (!this.registrations.some((one) => !one.equals(registration) && cpus(one) > 0)) {
      throw new InvalidArgumentError(
        `${registration.name} is the last module with a CPU; keep it, everything needs one`,
        {
          value: registration.name,
          expected: "a module that others can do without",
        },
      );
    }
    this.native.lib.ggml_backend_unload(registration.unsafePointer);
  }

  /** The features that the modules were built with, in one line. C: `llama_print_system_info`. */
  get systemInfo(): string {
    return this.native.readCString(this.native.lib.llama_print_system_info());
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

  static {
    definePicture(Registry, "Registry", (registry) => `with ${registry.devices.map(({ name }) => name).join(", ")}`);
  }
}

function unknown(what: string, name: string, known: readonly { readonly name: string }[]): InvalidArgumentError {
  const expected = known.map((one) => one.name).join(", ");
  return new InvalidArgumentError(`there is no ${what} ${JSON.stringify(name)}; there are: ${expected}`, {
    value: name,
    expected,
  });
}
