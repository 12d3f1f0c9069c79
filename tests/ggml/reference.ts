import { ensureReference } from "../../scripts/build/reference.ts";
import { BackendBuffer } from "../../lib/ggml/backend/buffer.ts";
import type { BufferType } from "../../lib/ggml/backend/buffer_type.ts";
import type { GgmlContext } from "../../lib/ggml/tensor/context.ts";
import type { Device } from "../../lib/ggml/backend/device.ts";
import { Registry } from "../../lib/ggml/backend/registry.ts";

/** The backend of our own, loaded, with its switches. */
export interface Reference {
  readonly registry: Registry;
  readonly device: Device;
  /** Sets a switch. */
  fault(this: void, name: string, value: number): void;
  /** All switches as they were. */
  clear(this: void): void;
  /** How many backends, buffers and events of it there are, and the bytes of its buffers. */
  live(this: void): { objects: number; bytes: number };
}

let loaded: Promise<Reference> | undefined;

/** Builds it if need be, and loads it. */
export function openReference(): Promise<Reference> {
  return loaded ??= load();
}

async function load(): Promise<Reference> {
  const registry = await Registry.open();
  const registration = await registry.load(await ensureReference());
  const set = registration.function("ggml_reference_set_fault", { parameters: ["pointer", "i64"], result: "i32" })!;
  const clear = registration.function("ggml_reference_clear_faults", { parameters: [], result: "void" })!;
  const objects = registration.function("ggml_reference_live", { parameters: [], result: "i64" })!;
  const bytes = registration.function("ggml_reference_allocated", { parameters: [], result: "u64" })!;
  return {
    registry,
    device: registration.device(0),
    fault: (name, value) => {
      if (set(name, BigInt(value)) !== 0) throw new Error(`no switch ${name}`);
    },
    clear: () => void clear(),
    live: () => ({ objects: Number(objects()), bytes: Number(bytes()) }),
  };
}

/** Gives all tensors of a context memory of one type. */
export function allocateIn(context: GgmlContext, type: BufferType): BackendBuffer {
  const pointer = context.native.lib.ggml_backend_alloc_ctx_tensors_from_buft(
    context.unsafePointer,
    type.unsafePointer,
  );
  if (pointer === null) throw new Error("no memory");
  return new BackendBuffer(context.native, pointer);
}
