import { ArgumentType } from "../argument_type.ts";
import type { ToolShapes } from "./call_object.ts";

/** A tool, as far as parsers know it. */
export interface ParsedTool {
  /** Its name. */
  readonly name: string;
  /** The JSON Schema of its arguments. */
  readonly parameters: unknown;
}

/** Returns what parsers know of tools. */
export function toolShapes(tools: readonly ParsedTool[]): ToolShapes {
  const known = new Map(tools.map((tool) => [tool.name, new ArgumentType(tool.parameters)]));
  return {
    names: [...known.keys()],
    has: (name) => known.has(name),
    argumentsOf: (name) => known.get(name) ?? anything,
  };
}

const anything = new ArgumentType(true);
