import { isInstance, refuse } from "../../support/check.ts";
import { Backend } from "./backend.ts";
import { BufferType } from "./buffer_type.ts";
import { Graph } from "../graph/graph.ts";
import { GraphCopy } from "./graph_copy.ts";
import type { GraphReference, TensorReference } from "../tensor/references.ts";
import { BackendModule } from "./backend_module.ts";
import { Tensor } from "../tensor/tensor.ts";

function check<T>(
  name: string,
  value: T,
  expected: string,
  ...types: readonly (abstract new (...args: never[]) => unknown)[]
): T {
  // Native code would take any address for what it isn't.
  if (types.some((type) => isInstance(value, type))) return value;
  return refuse(name, value, expected);
}

/** A tensor. Throws InvalidArgumentError for anything else. */
export function checkTensor<T extends TensorReference>(name: string, value: T): T {
  return check(name, value, "a Tensor", Tensor);
}

/** A graph, or a copy of one. Throws InvalidArgumentError for anything else. */
export function checkGraphObject<T extends GraphReference>(name: string, value: T): T {
  return check(name, value, "a Graph", Graph, GraphCopy);
}

/** A graph of its own context. Throws InvalidArgumentError for anything else. */
export function checkOwnGraph(name: string, value: Graph): Graph {
  return check(name, value, "a Graph", Graph);
}

/** A backend. Throws InvalidArgumentError for anything else. */
export function checkBackend(name: string, value: Backend): Backend {
  return check(name, value, "a Backend", Backend);
}

/** A buffer type. Throws InvalidArgumentError for anything else. */
export function checkBufferType(name: string, value: BufferType): BufferType {
  return check(name, value, "a BufferType", BufferType);
}

/** A module. Throws InvalidArgumentError for anything else. */
export function checkRegistration(name: string, value: BackendModule): BackendModule {
  return check(name, value, "a BackendModule", BackendModule);
}
