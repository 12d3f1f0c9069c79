/**
 * Results with a value instead of mere text.
 *
 * @module
 */

import { InvalidArgumentError, StructuredResultError } from "../../errors.ts";
import type { GenerationResult } from "./generation.ts";
import type { StopReason } from "../thread/protocol.ts";
import { type CompiledSchema, compileSchema } from "../../json_schema/compile.ts";
import type { JsonSchema, JsonValue } from "../../json_schema/json.ts";
import {
  isStandard,
  issueText,
  type SchemaOutput,
  type StandardSchema,
  standardToJsonSchema,
} from "../../json_schema/standard.ts";
import type { Whitespace } from "../../json_schema/writer.ts";

/** A schema that a result keeps to: a JSON Schema, or a schema of a validation library. */
export type ResultSchema = StandardSchema | JsonSchema;

/** What a result's value must be like. */
export interface StructuredOptions<S extends ResultSchema = ResultSchema> {
  /**
   * A JSON Schema (draft 2020-12 or draft-07), or a Standard Schema such as one of Zod. The text is then JSON that is valid against it, and the result
   * has a `value`. Properties are written in the schema's order. Say in the prompt too what is wanted: the model doesn't see the schema.
   */
  schema: S;
  /** The JSON Schema of a Standard Schema that doesn't tell it. */
  jsonSchema?: JsonSchema | undefined;
  /** `"flexible"` lets the model write spaces and line breaks between the parts of objects and arrays, `"compact"` doesn't. Default `"flexible"`. */
  whitespace?: Whitespace | undefined;
}

/** A result with a value. When the text was cut off by `maxTokens`, a full context or a stop string there is none: `stopReason` says which. */
export type StructuredResult<T, Result extends GenerationResult = GenerationResult> =
  | (Result & { stopReason: "eos"; value: T })
  | (Result & { stopReason: Exclude<StopReason, "eos">; value: undefined });

/** The value of a result for a schema. */
export type StructuredResultOf<S, Result extends GenerationResult = GenerationResult> = StructuredResult<
  SchemaOutput<S>,
  Result
>;

/** Options without those of the schema, and what makes a structured result of a plain one. */
export interface StructuredPlan<O> {
  /** The options, with the grammar. */
  options: O;
  /** Reads and checks the value. */
  finish<Result extends GenerationResult>(result: Result): Promise<StructuredResult<unknown, Result>>;
}

const names = ["schema", "jsonSchema", "whitespace"] as const;

/** Whether options ask for a structured result. */
export function asksForStructure(options: unknown): options is StructuredOptions {
  return typeof options === "object" && options !== null &&
    names.some((name) => (options as Record<string, unknown>)[name] !== undefined);
}

/**
 * The options of a generation without what belongs to a schema, and what makes its result of a plain one. `defaults` are options that count beside a schema
 * where they aren't given. Throws what {@linkcode planStructured} throws.
 */
export function planResult<O extends object>(
  options: O | undefined,
  defaults: Partial<O> = {},
): { options: O | undefined; finish<Result extends GenerationResult>(result: Result): Result | Promise<Result> } {
  if (!asksForStructure(options)) return { options, finish: (result) => result };
  const { options: plain, finish } = planStructured({ ...defaults, ...options });
  return { options: plain as unknown as O, finish };
}

/**
 * Compiles the schema that is among options.
 *
 * Throws {@linkcode InvalidArgumentError}, and what `schemaToGrammar` throws.
 */
export function planStructured<O extends object>(
  given: O & StructuredOptions,
): StructuredPlan<Omit<O, keyof StructuredOptions> & { grammar: string }> {
  const { schema, jsonSchema, whitespace, ...options } = given;
  for (const name of ["grammar", "grammarRoot", "grammarTriggers"] as const) {
    const value = (options as Record<string, unknown>)[name];
    if (value === undefined) continue;
    throw new InvalidArgumentError(`${name} is given beside schema; give one of them`, {
      value,
      expected: "a schema or a grammar",
    });
  }
  if (schema === undefined) {
    throw new InvalidArgumentError("jsonSchema or whitespace is given without a schema; give it as schema", {
      value: jsonSchema ?? whitespace,
      expected: "the option schema",
    });
  }
  const standard = isStandard(schema) ? schema : undefined;
  if (standard === undefined && jsonSchema !== undefined) {
    throw new InvalidArgumentError("jsonSchema is given beside a schema that is a JSON Schema itself; leave it out", {
      value: jsonSchema,
      expected: "jsonSchema only beside a Standard Schema",
    });
  }
  const compiled = compileSchema(
    jsonSchema ?? (standard === undefined ? schema : standardToJsonSchema(standard)),
    { whitespace },
  );
  return {
    options: { ...options, grammar: compiled.grammar },
    finish: (result) => finish(result, compiled, standard),
  };
}

async function finish<Result extends GenerationResult>(
  result: Result,
  compiled: CompiledSchema,
  standard: StandardSchema | undefined,
): Promise<StructuredResult<unknown, Result>> {
  const { stopReason } = result;
  if (stopReason !== "eos") return { ...result, stopReason, value: undefined };
  const value = parse(result.text);
  const problem = compiled.problem(value);
  if (problem !== undefined) {
    throw new StructuredResultError(
      `the model's JSON isn't valid against the schema: ${
        problem.at || "the whole value"
      } breaks ${problem.keyword}; it may have written bytes that are no characters`,
      { value, expected: problem.keyword },
    );
  }
  if (standard === undefined) return { ...result, stopReason, value };
  const checked = await standard["~standard"].validate(value);
  if (checked.issues === undefined) return { ...result, stopReason, value: checked.value };
  throw new StructuredResultError(
    `the model's JSON has the right form, and the schema's own checks refuse it: ${
      checked.issues.map(issueText).join("; ")
    }`,
    { value, expected: "a value that the schema's checks take", cause: checked.issues },
  );
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StructuredResultError("the model's text isn't JSON", { value: text, expected: "JSON", cause });
  }
}
