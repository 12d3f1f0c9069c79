import { refuse } from "../../base/check.ts";
import type { Lifetime } from "../../ffi/mod.ts";
import type { Backend } from "./backend/backend.ts";
import type { BackendCore } from "./backend/backend_core.ts";
import type { BackendModule } from "./backend/backend_module.ts";
import type { BufferCore } from "./backend/buffer_core.ts";
import type { BackendBuffer } from "./backend/buffer.ts";
import type { BufferType } from "./backend/buffer_type.ts";
import type { Device } from "./backend/device.ts";
import type { GraphCopy } from "./backend/graph_copy.ts";
import type { GraphCore } from "./graph/graph_core.ts";
import type { Graph } from "./graph/graph.ts";
import type { Scheduler } from "./scheduler/scheduler.ts";
import type { ContextCore } from "./tensor/context_core.ts";
import type { GgmlContext } from "./tensor/context.ts";
import type { NativeGguf } from "./native_gguf/native_gguf.ts";
import type { Dataset } from "./training/dataset.ts";
import type { TrainingResult } from "./training/result.ts";
import type { Tensor } from "./tensor/tensor.ts";

/**
 * The objects that a class has made, and what the library itself needs of each and its users don't. Native code takes any address for what it expects: an object that merely looks like one (made from the prototype, a
 * Proxy, of another copy of the library) must not get there.
 */
export class Brand<T extends object, I = undefined> {
  readonly #made = new WeakMap<object, I>();
  readonly #expected: string;

  /** A brand; `expected` names the class in messages, such as `"a Graph"`. */
  constructor(expected: string) {
    this.#expected = expected;
  }

  /** Marks an object that was made just now, with what the library itself needs of it. */
  add(object: T, ...[internals]: I extends undefined ? [] : [internals: I]): void {
    this.#made.set(object, internals as I);
  }

  /** Returns what the library itself needs of an object. Throws InvalidArgumentError unless the class made it. */
  of(object: T): I {
    this.check("the object", object);
    return this.#made.get(object) as I;
  }

  /** Whether a value was made by the class. */
  has(value: unknown): value is T {
    return typeof value === "object" && value !== null && this.#made.has(value);
  }

  /** Returns the value. Throws InvalidArgumentError unless the class made it. */
  check<V>(name: string, value: V): V & T {
    return this.has(value) ? value : refuse(name, value, this.#expected);
  }
}

/** A brand for each class whose objects cross into native code. */
export const brands = {
  context: new Brand<GgmlContext, ContextCore>("a GgmlContext"),
  tensor: new Brand<Tensor, readonly Lifetime[]>("a Tensor"),
  graph: new Brand<Graph, GraphCore>("a Graph"),
  graphCopy: new Brand<GraphCopy>("a GraphCopy"),
  device: new Brand<Device>("a Device"),
  backend: new Brand<Backend, BackendCore>("a Backend"),
  module: new Brand<BackendModule>("a BackendModule"),
  bufferType: new Brand<BufferType>("a BufferType"),
  buffer: new Brand<BackendBuffer, BufferCore>("a BackendBuffer"),
  scheduler: new Brand<Scheduler>("a Scheduler"),
  dataset: new Brand<Dataset>("a Dataset"),
  trainingResult: new Brand<TrainingResult>("a TrainingResult"),
  nativeGguf: new Brand<NativeGguf>("a NativeGguf"),
} as const;
