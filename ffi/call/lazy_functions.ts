import type { LibFunction } from "./caller.ts";
import { traceLine, traceValue } from "../runtime/trace.ts";
import { functionEntry } from "../tables.ts";

/** An object that binds each function when it is first asked for, and keeps it. */
export function lazyFunctions(bind: (name: string) => LibFunction | undefined): Record<string, LibFunction> {
  const fallback = new Proxy(Object.create(null) as object, {
    get(_target, name, receiver: object): LibFunction | undefined {
      if (typeof name !== "string") return undefined;
      const bound = bind(name);
      if (bound !== undefined) Object.defineProperty(receiver, name, { value: bound, enumerable: true });
      return bound;
    },
    has: (_target, name) => typeof name === "string" && functionEntry(name) !== undefined,
  });
  return Object.create(fallback) as Record<string, LibFunction>;
}

/** Returns a function that writes each of its calls to the trace. */
export function tracing(name: string, bound: LibFunction): LibFunction {
  const call = bound as (...values: unknown[]) => unknown;
  return (...values: unknown[]) => {
    const result = call(...values);
    traceLine(`${name}(${values.map(traceValue).join(", ")}) = ${traceValue(result)}`);
    return result;
  };
}
