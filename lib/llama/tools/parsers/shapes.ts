import type { ToolShapes } from "./call_object.ts";

/** A tool, as far as parsers know it. */
export interface ParsedTool {
  /** Its name. */
  readonly name: string;
  /** The JSON Schema of its arguments. */
  readonly parameters: unknown;
}

/** What parsers know of tools. */
export function toolShapes(tools: readonly ParsedTool[]): ToolShapes {
  const known = new Map(tools.map((tool) => [tool.name, tool.parameters]));
  return {
    names: [...known.keys()],
    has: (name) => known.has(name),
    isText: (tool, argument) => isText(propertyOf(known.get(tool), argument)),
  };
}

function propertyOf(schema: unknown, name: string): unknown {
  const properties = member(schema, "properties");
  return typeof properties === "object" && properties !== null && Object.hasOwn(properties, name)
    ? (properties as Record<string, unknown>)[name]
    : undefined;
}

/** Whether a schema takes nothing but text. */
function isText(schema: unknown): boolean {
  const type = member(schema, "type");
  if (type !== undefined) return type === "string" || (Array.isArray(type) && type.every((one) => one === "string"));
  const values = member(schema, "enum");
  if (Array.isArray(values)) return values.length > 0 && values.every((value) => typeof value === "string");
  return typeof member(schema, "const") === "string";
}

function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
