import { InvalidArgumentError } from "../../errors.ts";
import { refuse, show } from "../../../base/check.ts";
import type { JsonValue } from "../../json_schema/json.ts";
import {
  isStandard,
  issueText,
  type StandardSchema,
  standardToJsonSchema,
  validateStandard,
} from "../../json_schema/standard.ts";
import { plainData } from "./plain_data.ts";

/** The schema of a tool's arguments: a JSON Schema of an object, or a Standard Schema. */
export type ToolSchema = Readonly<Record<string, unknown>> | StandardSchema;

/** Arguments of a call that can't be used: an error of the model, which gets the message. */
export class ToolArgumentsError extends Error {}

/** A schema of arguments, resolved. */
export interface ResolvedSchema {
  /** As JSON Schema: plain data. */
  readonly json: Readonly<Record<string, JsonValue>>;
  /** Returns the value as the handler gets it. Throws {@linkcode ToolArgumentsError}. */
  validate(tool: string, value: JsonValue): Promise<unknown>;
}

const noArguments = { type: "object", properties: {} } as const;

/** Resolves the schema of a tool's arguments. Throws {@linkcode InvalidArgumentError}. */
export function resolveSchema(where: string, parameters: unknown, jsonSchema: unknown): ResolvedSchema {
  const standard = isStandard(parameters) ? parameters : undefined;
  if (standard === undefined && jsonSchema !== undefined) {
    throw new InvalidArgumentError(
      `${where}.jsonSchema goes with a Standard Schema; give the JSON Schema as ${where}.parameters`,
      { value: jsonSchema, expected: "a Standard Schema as parameters" },
    );
  }
  const given = jsonSchema ?? (standard === undefined ? parameters : standardToJsonSchema(standard));
  return {
    json: objectSchema(`${where}.${jsonSchema === undefined ? "parameters" : "jsonSchema"}`, given),
    async validate(tool, value) {
      if (standard === undefined) return value;
      const result = await validateStandard(standard, value);
      if ("value" in result) return result.value;
      throw new ToolArgumentsError(`the arguments of ${tool} are wrong: ${result.issues.map(issueText).join("; ")}`);
    },
  };
}

function objectSchema(where: string, schema: unknown): Readonly<Record<string, JsonValue>> {
  if (schema === undefined) return noArguments;
  const given = plainData(where, schema);
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return refuse(where, schema, "a JSON Schema of an object");
  }
  const { type, ...rest } = given as Record<string, JsonValue>;
  if (type === "object") return given as Record<string, JsonValue>;
  if (type === undefined) return { type: "object", ...rest };
  throw new InvalidArgumentError(`${where} is a schema of ${show(type)}; the arguments of a tool are an object`, {
    value: type,
    expected: '"object"',
  });
}
