import { functionParameters } from "../tables/parameters.ts";

/** A parameter of a C function, as the tables have it. */
export interface Parameter {
  readonly name: string;
  /** Its code, as docs/tables.md explains them: `p`, `s`, `d`, `c`, a scalar, or a struct in braces. */
  readonly code: string;
  readonly isNullable: boolean;
  /** What a pointer points to. */
  readonly pointee: string | undefined;
  /** The enum of whose values it is one. */
  readonly enumName: string | undefined;
}

/** A C function as its calls see it. */
export interface FunctionShape {
  readonly name: string;
  /** The threads that may call at once: any, one at a time on the same objects, or only while nothing else runs. */
  readonly threads: "any" | "object" | "process";
  /** What its result points to. */
  readonly result: string | undefined;
  readonly parameters: readonly Parameter[];
}

/** The shape of a function of the tables. */
export function functionShape(name: string): FunctionShape {
  const [threads = "any", result = "-", ...parameters] = (functionParameters[name] ?? "").split(" ");
  return {
    name,
    threads: threads as FunctionShape["threads"],
    result: result === "-" ? undefined : result,
    parameters: parameters.map(parameter),
  };
}

function parameter(text: string): Parameter {
  const [, name = "", nullable, code = "", pointee, enumName] =
    /^(\w+):(\??)(\{\w+\}|\w+)(?:\*(.+)|=(\w+))?$/.exec(text) ?? [];
  return { name, code, isNullable: nullable === "?", pointee, enumName };
}
