import { refuse } from "../support/check.ts";
import type { Backend } from "./backend/backend.ts";
import type { BackendModule } from "./backend/backend_module.ts";
import type { BackendBuffer } from "./backend/buffer.ts";
import type { BufferType } from "./backend/buffer_type.ts";
import type { Device } from "./backend/device.ts";
import type { GraphCopy } from "./backend/graph_copy.ts";
import type { Graph } from "./graph/graph.ts";
import type { Scheduler } from "./scheduler/scheduler.ts";
import type { GgmlContext } from "./tensor/context.ts";
import type { NativeGguf } from "./native_gguf/native_gguf.ts";
import type { Dataset } from "./training/dataset.ts";
import type { TrainingResult } from "./training/result.ts";
import type { Tensor } from "./tensor/tensor.ts";

/**
 * The objects that a class has made. Native code takes any address for what it expects: an object that merely looks like one (made from the prototype, a
 * Proxy, of another copy of the library) must not get there.
 */
export class Brand<T extends object> {
  readonly #made = new WeakSet<object>();
  readonly #expected: string;

  /** A brand; `expected` names the class in messages, such as `"a Graph"`. */
  constructor(expected: string) {
    this.#expected = expected;
  }

  /** Marks an object that was made just now. */
  add(object: T): void {
    this.#made.add(object);
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
  context: new Brand<GgmlContext>("a GgmlContext"),
  tensor: new Brand<Tensor>("a Tensor"),
  graph: new Brand<Graph>("a Graph"),
  graphCopy: new Brand<GraphCopy>("a GraphCopy"),
  device: new Brand<Device>("a Device"),
  backend: new Brand<Backend>("a Backend"),
  module: new Brand<BackendModule>("a BackendModule"),
  bufferType: new Brand<BufferType>("a BufferType"),
  buffer: new Brand<BackendBuffer>("a BackendBuffer"),
  scheduler: new Brand<Scheduler>("a Scheduler"),
  dataset: new Brand<Dataset>("a Dataset"),
  trainingResult: new Brand<TrainingResult>("a TrainingResult"),
  nativeGguf: new Brand<NativeGguf>("a NativeGguf"),
} as const;
