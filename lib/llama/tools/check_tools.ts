import { InvalidArgumentError, JsonSchemaError } from "../../errors.ts";
import { isPlainObject, show } from "../../../base/check.ts";
import { callback, custom, options, text } from "../../../base/options.ts";
import type { JsonValue } from "../../json_schema/json.ts";
import { compileSchema, type LoosenedKeyword, type SchemaMode, schemaValidator } from "../../json_schema/mod.ts";
import { closedSchema } from "./grammar.ts";
import { type ResolvedSchema, resolveSchema, ToolArgumentsError } from "./schema.ts";
import type { ToolCallContext } from "./tool.ts";

/** A checked tool. */
export interface Tool {
  /** Its name. */
  readonly name: string;
  /** Its description for the model. */
  readonly description: string;
  /** The JSON Schema of its arguments: plain data, an object. */
  readonly parameters: Readonly<Record<string, JsonValue>>;
  /** The parts of the schema that no grammar can express: they are only validated. */
  readonly loosened: readonly LoosenedKeyword[];
  /** What runs it; `undefined` when the program answers its calls. */
  readonly handler: ((args: unknown, call: ToolCallContext) => unknown) | undefined;
  /** Returns the arguments as the handler gets them. Throws {@linkcode ToolArgumentsError} for those that the schema doesn't allow. */
  check(args: JsonValue): Promise<unknown>;
}

const toolName = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;
const MAX_TOOLS = 256;

const any = custom<unknown, Record<never, never>>("a schema", (_, value) => value);
const tool = options("a tool", {
  description: text({ default: "" }),
  parameters: any,
  jsonSchema: any,
  handler: callback<NonNullable<Tool["handler"]>>(),
});

/**
 * Checks tools, their schemas too.
 *
 * Throws {@linkcode InvalidArgumentError}, and {@linkcode JsonSchemaError} or one of its kind for a schema that is broken or, in mode `"strict"`, has a
 * keyword that no grammar can express. All name the tool.
 */
export function checkTools(tools: unknown, schemaMode: SchemaMode): Tool[] {
  if (tools === undefined) return [];
  const entries = isPlainObject(tools) ? entriesOf(tools) : undefined;
  if (entries === undefined) {
    throw new InvalidArgumentError(`tools is ${show(tools)}; give an object with a tool for each name`, {
      value: tools,
      expected: "an object of tools",
    });
  }
  if (entries.length > MAX_TOOLS) {
    throw new InvalidArgumentError(`there are ${entries.length} tools; give at most ${MAX_TOOLS}`, {
      value: entries.length,
      expected: `at most ${MAX_TOOLS} tools`,
    });
  }
  return entries.map(([name, given]) => checkTool(name, given, schemaMode));
}

function entriesOf(tools: object): [string, unknown][] | undefined {
  try {
    return Object.entries(tools);
  } catch {
    return undefined;
  }
}

function checkTool(name: string, given: unknown, schemaMode: SchemaMode): Tool {
  if (!toolName.test(name)) {
    throw new InvalidArgumentError(
      `the tool name ${show(name)} can't be used; give a letter or _, then up to 63 letters, digits, _, - and .`,
      { value: name, expected: "a letter or _, then letters, digits, _, - and ." },
    );
  }
  const where = `tools.${name}`;
  const { description, parameters, jsonSchema, handler } = tool.checkAt(where, given);
  return named(name, () => {
    const schema = resolveSchema(where, parameters, jsonSchema);
    const { loosened } = compileSchema(closedSchema(schema.json), { schemaMode });
    return { name, description, parameters: schema.json, loosened, handler, check: checker(name, schema) };
  });
}

/** Runs what reads a schema; errors of the schema then name its tool. */
function named<T>(name: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    if (!(cause instanceof JsonSchemaError)) throw cause;
    const { message, path, value, expected } = cause;
    const type = cause.constructor as typeof JsonSchemaError;
    const right = expected === undefined ? {} : { expected };
    throw new type(`the parameters of the tool ${name} can't be used: ${message}`, { path, value, ...right, cause });
  }
}

function checker(name: string, schema: ResolvedSchema): Tool["check"] {
  const validate = schemaValidator(schema.json);
  return async (value) => {
    const problem = validate(value);
    if (problem !== undefined) {
      throw new ToolArgumentsError(
        `the arguments of ${name} are wrong at ${
          problem.at || "their root"
        }: they break ${problem.keyword} of the schema`,
      );
    }
    return await schema.validate(name, value);
  };
}
