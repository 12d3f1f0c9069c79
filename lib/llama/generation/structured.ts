/**
 * Results with a value instead of text alone.
 *
 * @module
 */

import { InvalidArgumentError, SchemaValidationError } from "../../errors.ts";
import { isPlainObject } from "../../../base/check.ts";
import type { GenerationResult } from "./generation.ts";
import type { StopReason } from "../thread/protocol.ts";
import { type CompiledSchema, compileSchema, type SchemaMode, schemaSpec } from "../../json_schema/compile.ts";
import type { JsonSchema, JsonValue } from "../../json_schema/json.ts";
import { escapePointer } from "../../json_schema/pointer.ts";
import { quickly } from "../../json_schema/work.ts";
import { LateSchema } from "../sampling/late_grammar.ts";
import type { GenerationSettings } from "./options.ts";
import { custom, integer, options, type RulesOf } from "../../../base/options.ts";
import {
  isStandard,
  issueText,
  type SchemaOutput,
  type StandardSchema,
  standardToJsonSchema,
  validateStandard,
} from "../../json_schema/standard.ts";
import type { Whitespace } from "../../json_schema/writer.ts";

/** A schema that a result conforms to: a JSON Schema, or a schema of a validation library. */
export type ResultSchema = StandardSchema | JsonSchema;

/** Options of a structured result. */
export interface StructuredOptions<S extends ResultSchema = ResultSchema> {
  /**
   * A JSON Schema (draft 2020-12 or draft-07), or a Standard Schema such as one of Zod. The text is then JSON that is valid against it, and the result
   * has a `value`. Properties are written in the schema's order. Describe the result in the prompt as well: the model doesn't see the schema.
   *
   * A schema that takes more than some milliseconds to convert is converted on another thread: leave it as it is until the result is there, which rejects
   * with what is wrong with the schema.
   */
  schema: S;
  /** The JSON Schema of a Standard Schema that doesn't tell it. */
  jsonSchema?: JsonSchema | undefined;
  /** Other schemas that `$ref` may refer to, by their addresses. Nothing is fetched. Default none. */
  schemas?: Readonly<Record<string, JsonSchema>> | undefined;
  /** `"flexible"` lets the model write spaces and line breaks between the parts of objects and arrays, `"compact"` doesn't. Default `"flexible"`. */
  whitespace?: Whitespace | undefined;
  /**
   * `"strict"` refuses a schema with parts that no grammar can express. `"validate"` makes a grammar of the other parts; the value is validated against the
   * whole schema in both modes. Default `"strict"`.
   */
  schemaMode?: SchemaMode | undefined;
  /**
   * The number of times that a text is generated until its value is valid, each with a seed derived from the first. Above 1, nothing of an attempt is streamed
   * before it is known to be valid. When none is, the promise rejects with SchemaValidationError. 1 to 100, default 1.
   */
  maxAttempts?: number | undefined;
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

/** A plan for the result of a generation. */
export interface ResultPlan<O> {
  /** The options without those of the schema, and with its grammar. */
  readonly options: O | undefined;
  /** Puts the grammar into the checked options where it isn't in those above, since it takes long to make. */
  constrain(this: void, generation: GenerationSettings): GenerationSettings;
  /** See {@linkcode StructuredOptions.maxAttempts}. */
  readonly maxAttempts: number;
  /** Whether a whole text is valid; `undefined` without a schema. */
  readonly accepts: ((text: string) => Promise<boolean>) | undefined;
  /** Reads and validates the value. Throws {@linkcode SchemaValidationError}. */
  finish<Result extends GenerationResult>(result: Result): Result | Promise<Result>;
}

/** {@linkcode StructuredOptions}, declared. */
const structuredSpec = options(
  "schema",
  {
    schema: custom<unknown, { required: true }>("a JSON Schema or a Standard Schema", (_, value) => value, {
      required: true,
    }),
    jsonSchema: custom<unknown, Record<never, never>>("a JSON Schema", (_, value) => value),
    ...schemaSpec.rules,
    maxAttempts: integer({ min: 1, max: 100, default: 1 }),
  } satisfies RulesOf<StructuredOptions>,
);

/** Options that ask for a structured result; `maxAttempts` alone doesn't. */
const asking = structuredSpec.names.filter((name) => name !== "maxAttempts");

/** Whether options ask for a structured result. */
function asksForStructure(options: unknown): options is StructuredOptions {
  return isPlainObject(options) &&
    asking.some((name) => (options as Record<string, unknown>)[name] !== undefined);
}

/**
 * Takes the options of a schema out of those of a generation, and compiles the schema, a large one later and on another thread. `defaults` are options that count beside a schema where they aren't
 * given.
 *
 * Throws {@linkcode InvalidArgumentError}, and what `schemaToGrammar` throws.
 */
export function planResult<O extends object>(given: O | undefined, defaults: Partial<O> = {}): ResultPlan<O> {
  if (!asksForStructure(given)) {
    return {
      options: given,
      constrain: (generation) => generation,
      maxAttempts: 1,
      accepts: undefined,
      finish: (result) => result,
    };
  }
  const isOwn = (name: string) => (structuredSpec.names as readonly string[]).includes(name);
  const entries = Object.entries({ ...defaults, ...given });
  const plain = Object.fromEntries(entries.filter(([name]) => !isOwn(name)));
  const { schema, jsonSchema, maxAttempts, ...settings } = checkStructured(given, plain);
  const standard = isStandard(schema) ? schema : undefined;
  const json = jsonSchema ?? (standard === undefined ? schema : standardToJsonSchema(standard));
  const compiled = quickly(() => compileSchema(json, settings)) ?? new LateSchema(json, settings);
  const late = compiled instanceof LateSchema ? compiled.grammar : undefined;
  const reader = new ResultReader(compiled, standard);
  return {
    // A late grammar takes this one's place.
    options: { ...plain, grammar: late === undefined ? compiled.grammar : 'root ::= ""' } as unknown as O,
    constrain: (generation) =>
      late === undefined ? generation : { ...generation, grammar: undefined, lateGrammar: late },
    maxAttempts,
    accepts: async (text) => !((await reader.read(text)) instanceof SchemaValidationError),
    finish: (result) => finish(result, reader),
  };
}

function checkStructured(given: StructuredOptions, plain: Readonly<Record<string, unknown>>) {
  for (const name of ["grammar", "grammarRoot", "grammarTriggers"]) {
    const value = plain[name];
    if (value === undefined) continue;
    throw new InvalidArgumentError(`${name} is given beside schema; give one of them`, {
      value,
      expected: "a schema or a grammar",
    });
  }
  const own = Object.fromEntries(
    structuredSpec.names.map((name) => [name, (given as unknown as Record<string, unknown>)[name]]),
  );
  if (own["schema"] === undefined) {
    const [name, value] = Object.entries(own).find(([, value]) => value !== undefined) ?? [];
    throw new InvalidArgumentError(`${name} is given without a schema; give it as schema`, {
      value,
      expected: "the option schema",
    });
  }
  const settings = structuredSpec.check(own);
  if (!isStandard(settings.schema) && settings.jsonSchema !== undefined) {
    throw new InvalidArgumentError("jsonSchema is given beside a schema that is a JSON Schema itself; leave it out", {
      value: settings.jsonSchema,
      expected: "jsonSchema only beside a Standard Schema",
    });
  }
  return settings;
}

/** Reads values, and remembers the last one: an attempt is read before it counts, and when it does. */
class ResultReader {
  readonly #compiled: CompiledSchema | LateSchema;
  readonly #standard: StandardSchema | undefined;
  #last: { readonly text: string; readonly outcome: Promise<{ value: unknown } | SchemaValidationError> } | undefined;

  constructor(compiled: CompiledSchema | LateSchema, standard: StandardSchema | undefined) {
    this.#compiled = compiled;
    this.#standard = standard;
  }

  /** Returns the value of a text, or why there is none. */
  read(text: string): Promise<{ value: unknown } | SchemaValidationError> {
    if (this.#last?.text !== text) this.#last = { text, outcome: this.#read(text) };
    return this.#last.outcome;
  }

  async #read(text: string): Promise<{ value: unknown } | SchemaValidationError> {
    let value: JsonValue;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      return new SchemaValidationError("the model's text isn't JSON", {
        text,
        path: "",
        rule: "JSON",
        value: text,
        expected: "JSON",
        cause,
      });
    }
    const problem = await this.#compiled.problem(value);
    if (problem !== undefined) {
      return new SchemaValidationError(
        `the model's JSON isn't valid against the schema: ${
          problem.at || "the whole value"
        } breaks ${problem.keyword}; raise maxAttempts, or say in the prompt what is wanted`,
        { text, path: problem.at, rule: problem.keyword, value, expected: problem.keyword },
      );
    }
    if (this.#standard === undefined) return { value };
    const checked = await validateStandard(this.#standard, value);
    if ("value" in checked) return checked;
    const keys = (checked.issues[0].path ?? []).map(String);
    return new SchemaValidationError(
      `the model's JSON has the right form, and the schema's own checks refuse it: ${
        checked.issues.map(issueText).join("; ")
      }`,
      {
        text,
        path: keys.map((key) => `/${escapePointer(key)}`).join(""),
        rule: checked.issues[0].message,
        value,
        expected: "a value that the schema's checks take",
        cause: checked.issues,
      },
    );
  }
}

async function finish<Result extends GenerationResult>(
  result: Result,
  reader: ResultReader,
): Promise<StructuredResult<unknown, Result>> {
  const { stopReason } = result;
  if (stopReason !== "eos") return { ...result, stopReason, value: undefined };
  const outcome = await reader.read(result.text);
  if (outcome instanceof SchemaValidationError) throw outcome;
  return { ...result, stopReason, value: outcome.value };
}
