/**
 * Schemas of validation libraries, by the Standard Schema specification.
 *
 * @module
 */

import { messageOf } from "../../base/error.ts";
import { InvalidArgumentError } from "../errors.ts";
import { show } from "../../base/check.ts";
import { type JsonSchema, plainSchema } from "./json.ts";

/** A schema of a validation library such as Zod, Valibot or ArkType: what the Standard Schema specification asks of it. */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The interface of the specification. */
  readonly "~standard": {
    /** The version of the specification. */
    readonly version: 1;
    /** The library. */
    readonly vendor: string;
    /** Checks a value, and gives what the library makes of it. */
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** The types, for the compiler alone. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** The same as a JSON Schema, where the library can say so. */
    readonly jsonSchema?: {
      /** Of the values that are given to `validate`. */
      readonly input: (options: { readonly target: "draft-2020-12" | "draft-07" }) => Record<string, unknown>;
    };
  };
}

/** Result of `validate` of a Standard Schema. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** A problem that a Standard Schema reports. */
export interface StandardIssue {
  /** In words. */
  readonly message: string;
  /** Where in the value. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Type of the value of a structured result: the output of a Standard Schema, else unknown. */
export type SchemaOutput<S> = S extends
  { readonly "~standard": { readonly types?: { readonly output: infer Output } | undefined } } ? Output
  : unknown;

/** Whether something is a Standard Schema: an object or function with `~standard`. */
export function isStandard(schema: unknown): schema is StandardSchema {
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return false;
  try {
    const standard = (schema as Partial<StandardSchema>)["~standard"];
    return typeof standard === "object" && standard !== null && typeof standard.validate === "function";
  } catch {
    return false;
  }
}

/**
 * The JSON Schema of what may be given to a Standard Schema.
 *
 * Throws {@linkcode InvalidArgumentError} when the library doesn't say.
 */
export function standardToJsonSchema(schema: StandardSchema): JsonSchema {
  const { jsonSchema, vendor } = schema["~standard"];
  if (typeof jsonSchema?.input !== "function") {
    throw new InvalidArgumentError(
      `the schema, by ${
        show(vendor)
      }, has no ~standard.jsonSchema; give its JSON Schema by the option jsonSchema beside it`,
      { value: vendor, expected: "a Standard Schema with ~standard.jsonSchema, or the option jsonSchema" },
    );
  }
  const failures: unknown[] = [];
  for (const target of ["draft-2020-12", "draft-07"] as const) {
    try {
      const found = jsonSchema.input({ target });
      return plainSchema(found);
    } catch (error) {
      failures.push(error);
    }
  }
  throw new InvalidArgumentError(
    `the schema, by ${show(vendor)}, can't be written as a JSON Schema (${
      messageOf(failures[0])
    }); give one by the option jsonSchema beside it`,
    {
      value: vendor,
      expected: "a schema that can be written as JSON Schema, or the option jsonSchema",
      cause: failures[0],
    },
  );
}

/**
 * Lets a Standard Schema check a value: what it makes of it, or the issues, of which there is at least one.
 *
 * Throws {@linkcode InvalidArgumentError} when the library gives anything else, and what the library throws.
 */
export async function validateStandard(
  schema: StandardSchema,
  value: unknown,
): Promise<{ readonly value: unknown } | { readonly issues: readonly [StandardIssue, ...StandardIssue[]] }> {
  const result: unknown = await schema["~standard"].validate(value);
  try {
    const { issues, value } = result as { readonly issues?: unknown; readonly value?: unknown };
    if (issues === undefined && typeof result === "object") return { value };
    const [first, ...others] = (issues as readonly unknown[]).map(plainIssue);
    if (first !== undefined) return { issues: [first, ...others] };
  } catch {
    // Something that isn't a result, or can't be read.
  }
  throw new InvalidArgumentError(`the schema's validate returned ${show(result)}; expected { value } or { issues }`, {
    value: result,
    expected: "the result of a Standard Schema: { value } or { issues }",
  });
}

function plainIssue(issue: unknown): StandardIssue {
  const { message, path } = issue as StandardIssue;
  const keys = path?.map((part) => typeof part === "object" ? part.key : part);
  return { message: String(message), ...(keys === undefined ? {} : { path: keys.map(String) }) };
}

/** An issue in words, with its place. */
export function issueText({ message, path }: StandardIssue): string {
  const keys = (path ?? []).map((part) => String(typeof part === "object" ? part.key : part));
  return keys.length === 0 ? message : `${keys.join(".")}: ${message}`;
}
