import { GgmlError, InvalidArgumentError } from "../../errors.ts";
import { checkFunction, checkOptions, checkText, show } from "../../support/check.ts";
import type { JsonValue } from "../../json_schema/json.ts";
import { type CompiledSchema, compileSchema } from "../../json_schema/mod.ts";
import type { SchemaOutput, StandardSchema } from "../../json_schema/standard.ts";
import { resolveSchema, ToolArgumentsError, type ToolSchema } from "./schema.ts";

/** What a handler is told beside the arguments. */
export interface ToolCallContext {
  /** The call's id. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  /** Aborted when the turn is: stop the work then. */
  readonly signal: AbortSignal;
}

/** A tool that a model may call. */
export interface ChatTool {
  /** What it does and when to use it, for the model. Default none. */
  readonly description?: string | undefined;
  /** The arguments: a JSON Schema of an object, or a Standard Schema that has `~standard.jsonSchema`. Default none. */
  readonly parameters?: ToolSchema | undefined;
  /** The JSON Schema of {@linkcode ChatTool.parameters}, for a Standard Schema that has none. */
  readonly jsonSchema?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Does it. What it gives goes to the model: text as it is, anything else as JSON; what it throws goes to the model as an error. Without a handler the
   * call is in the result, and the program answers it by `chat.sendToolResults`.
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
 * Gives a tool as it is. The compiler takes the type of the handler's arguments from the Standard Schema.
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
  return tool as ChatTool;
}

/** Tools by their names. */
export type ChatTools = Readonly<Record<string, ChatTool>>;

/** A checked tool. */
export interface Tool {
  /** Its name. */
  readonly name: string;
  /** See {@linkcode ChatTool.description}. */
  readonly description: string;
  /** The JSON Schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** See {@linkcode ChatTool.handler}. */
  readonly handler: ((args: unknown, call: ToolCallContext) => unknown) | undefined;
  /** The arguments as the handler gets them. Throws {@linkcode ToolArgumentsError} for what the schema doesn't allow. */
  check(json: string): Promise<unknown>;
}

const toolName = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;
const MAX_TOOLS = 256;

/** Checks tools. Throws {@linkcode InvalidArgumentError}, and what a schema that can't be kept to throws. */
export function checkTools(tools: unknown): Tool[] {
  if (tools === undefined) return [];
  if (typeof tools !== "object" || tools === null || Array.isArray(tools)) {
    throw new InvalidArgumentError(`tools is ${show(tools)}; give an object with a tool for each name`, {
      value: tools,
      expected: "an object of tools",
    });
  }
  const entries = Object.entries(tools);
  if (entries.length > MAX_TOOLS) {
    throw new InvalidArgumentError(`there are ${entries.length} tools; give at most ${MAX_TOOLS}`, {
      value: entries.length,
      expected: `at most ${MAX_TOOLS} tools`,
    });
  }
  return entries.map(([name, tool]) => checkTool(name, tool as ChatTool));
}

function checkTool(name: string, tool: ChatTool): Tool {
  if (!toolName.test(name)) {
    throw new InvalidArgumentError(
      `the tool name ${show(name)} can't be used; give a letter or _, then up to 63 letters, digits, _, - and .`,
      { value: name, expected: "a letter or _, then letters, digits, _, - and ." },
    );
  }
  const where = `tools.${name}`;
  const { description = "", parameters, jsonSchema, handler } = checkOptions(where, tool, [
    "description",
    "parameters",
    "jsonSchema",
    "handler",
  ]);
  const schema = resolveSchema(where, parameters, jsonSchema);
  let compiled: CompiledSchema | undefined;
  return {
    name,
    description: checkText(`${where}.description`, description),
    parameters: schema.json,
    handler: handler === undefined
      ? undefined
      : checkFunction(`${where}.handler`, handler) as NonNullable<Tool["handler"]>,
    async check(json) {
      const value = objectOf(name, json);
      compiled ??= compileSchema(schema.json);
      const problem = compiled.problem(value);
      if (problem !== undefined) {
        throw new ToolArgumentsError(
          `the arguments of ${name} are wrong at ${
            problem.at || "their root"
          }: ${problem.keyword} of the schema isn't kept to`,
        );
      }
      return await schema.validate(name, value);
    },
  };
}

function objectOf(name: string, json: string): JsonValue {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new ToolArgumentsError(
      `the arguments of ${name} aren't JSON (${error instanceof Error ? error.message : error}): ${json.slice(0, 500)}`,
    );
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonValue;
  throw new ToolArgumentsError(`the arguments of ${name} are no JSON object: ${json.slice(0, 500)}`);
}

/** What a tool gave, as the model is told. */
export function resultText(value: unknown): string {
  if (typeof value === "string") return value.toWellFormed();
  if (value === undefined) return "done";
  try {
    return (JSON.stringify(value) ?? String(value)).toWellFormed();
  } catch (cause) {
    throw new GgmlError("what the tool gave can't be written as JSON; give text or plain data", { cause });
  }
}
