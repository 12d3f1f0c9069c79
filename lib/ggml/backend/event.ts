import { definePicture } from "../../../base/inspect.ts";
import { checkAddress } from "../tensor/address.ts";
import { brands } from "../brands.ts";
import type { Native, Pointer } from "../../../ffi/mod.ts";
import type { Backend } from "./backend.ts";
import { BackendError } from "../../errors.ts";
import { Handle } from "../tensor/handle.ts";

/**
 * A point in a backend's work that other backends can wait for. Devices whose backends work in step with the caller, such as the CPU, have none.
 *
 * C: `ggml_backend_event_t`.
 */
export class BackendEvent implements Disposable {
  readonly #native: Native;
  readonly #handle: Handle<"ggml_backend_event">;

  /** Takes over an event that the raw layer made. */
  constructor(native: Native, pointer: Pointer<"ggml_backend_event">) {
    checkAddress(native, pointer);
    this.#native = native;
    this.#handle = new Handle({ what: "the event", pointer, free: (one) => native.lib.ggml_backend_event_free(one) });
  }

  /** The address, for the raw layer. */
  get unsafePointer(): Pointer<"ggml_backend_event"> {
    return this.#handle.pointer;
  }

  /** Marks what the backend has been given so far. Throws BackendError for one without events. C: `ggml_backend_event_record`. */
  record(backend: Backend): void {
    this.#check(backend, "event_record");
    this.#native.lib.ggml_backend_event_record(this.unsafePointer, backend.unsafePointer);
  }

  /** Lets a backend's further work wait for the mark. Throws BackendError for one without events. C: `ggml_backend_event_wait`. */
  wait(backend: Backend): void {
    this.#check(backend, "event_wait");
    this.#native.lib.ggml_backend_event_wait(backend.unsafePointer, this.unsafePointer);
  }

  /** Waits, and blocks the caller, until the work before the mark is done. C: `ggml_backend_event_synchronize`. */
  synchronize(): void {
    this.#native.lib.ggml_backend_event_synchronize(this.unsafePointer);
  }

  #check(backend: Backend, part: "event_record" | "event_wait"): void {
    brands.backend.check("backend", backend);
    if (this.#native.structAt("ggml_backend", backend.unsafePointer).iface[part] !== null) return;
    throw new BackendError(`${backend.name} has no events; use its synchronize()`, {
      value: backend.name,
      expected: "a backend of a device with the capability events",
    });
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#handle.disposed;
  }

  /** Frees it; a second call does nothing. C: `ggml_backend_event_free`. */
  dispose(): void {
    this.#handle.dispose();
  }

  /** {@linkcode BackendEvent.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  static {
    definePicture(BackendEvent, "BackendEvent", (event) => (event.#handle.assertAlive(), ""));
  }
}
