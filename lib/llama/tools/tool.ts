import { isPlainObject, refuse } from "../../../base/check.ts";
import type { SchemaOutput, StandardSchema } from "../../json_schema/standard.ts";
import type { ToolSchema } from "./schema.ts";

/** The call that a handler runs for. */
export interface ToolCallContext {
  /** The call's id. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  /** Aborted with the turn: stop the work then. */
  readonly signal: AbortSignal;
}

/** A tool that a model may call. */
export interface ChatTool {
  /** Its purpose and when to use it, for the model. Default none. */
  readonly description?: string | undefined;
  /** The arguments: a JSON Schema of an object, or a Standard Schema that has `~standard.jsonSchema`. Default none. */
  readonly parameters?: ToolSchema | undefined;
  /** The JSON Schema of {@linkcode ChatTool.parameters}, for a Standard Schema that has none. */
  readonly jsonSchema?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Runs a call whose arguments are valid. The model gets the return value, text as it is and anything else as JSON, and the message of an exception
   * as an error (see the option `toolErrors` of `chat.send`). Without a handler the call is in the result, and the program answers it by
   * `chat.sendToolResults`.
   */
  handler?(args: Record<string, unknown>, call: ToolCallContext): unknown;
}

/** A tool whose handler's arguments have the type that its schema gives. */
export interface TypedTool<Schema extends StandardSchema> {
  /** See {@linkcode ChatTool.description}. */
  readonly description?: string | undefined;
  /** See {@linkcode ChatTool.parameters}. */
  readonly parameters: Schema;
  /** See {@linkcode ChatTool.jsonSchema}. */
  readonly jsonSchema?: Readonly<Record<string, unknown>> | undefined;
  /** See {@linkcode ChatTool.handler}. */
  readonly handler?: (args: SchemaOutput<Schema>, call: ToolCallContext) => unknown;
}

/**
 * Returns a tool unchanged. The compiler takes the type of the handler's arguments from the Standard Schema.
 *
 * Throws InvalidArgumentError for anything but an object; `model.chat` checks the rest.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { defineTool } from "./tool.ts";
 *
 * const schema = {
 *   "~standard": {
 *     version: 1 as const,
 *     vendor: "example",
 *     validate: (value: unknown) => ({ value: value as { city: string } }),
 *     jsonSchema: { input: () => ({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }) },
 *     types: undefined as { input: { city: string }; output: { city: string } } | undefined,
 *   },
 * };
 * const tool = defineTool({ parameters: schema, handler: ({ city }) => `It is warm in ${city}.` });
 * assert.equal(tool.parameters, schema);
 * ```
 */
export function defineTool<Schema extends StandardSchema>(tool: TypedTool<Schema>): ChatTool {
  return isPlainObject(tool)
    ? tool as ChatTool
    : refuse("the tool", tool, "an object with description, parameters and handler");
}

/** Tools by their names. */
export type ChatTools = Readonly<Record<string, ChatTool>>;

export type { Tool } from "./check_tools.ts";
