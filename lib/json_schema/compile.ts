import {
  GgmlError,
  InvalidArgumentError,
  JsonSchemaError,
  SchemaContradictionError,
  SchemaTooComplexError,
  UnsupportedKeywordError,
} from "../errors.ts";
import { checkOneOf, checkOptions, show } from "../support/check.ts";
import { SchemaDocument } from "./document.ts";
import { sequence } from "./gbnf.ts";
import { type JsonSchema, type JsonValue, type PlainSchema, plainSchema } from "./json.ts";
import { type LoosenedKeyword, withoutKeyword } from "./loosen.ts";
import { Rules } from "./rules.ts";
import { type Problem, validate } from "./validate.ts";
import { SchemaWriter, type Whitespace } from "./writer.ts";

/**
 * What happens to the parts of a schema that no grammar can express: `"strict"` refuses the schema, `"validate"` leaves them out of the grammar, so that
 * values have to be validated in full afterwards.
 */
export type SchemaMode = "strict" | "validate";

/** Options of the conversion of a schema to a grammar. */
export interface SchemaOptions {
  /** `"flexible"` allows a space, or a line break and indentation, between the parts of arrays and objects; `"compact"` none. Default `"flexible"`. */
  whitespace?: Whitespace | undefined;
  /** Whether a part that no grammar can express is refused (`"strict"`) or left out of the grammar (`"validate"`). Default `"strict"`. */
  schemaMode?: SchemaMode | undefined;
  /** Other schemas that `$ref` may refer to, by their addresses. Nothing is fetched. Default none. */
  schemas?: Readonly<Record<string, JsonSchema>> | undefined;
}

const optionNames = ["whitespace", "schemaMode", "schemas"] as const;

/** Options of {@linkcode schemaToRules}. */
export interface SchemaRulesOptions extends SchemaOptions {
  /** The prefix of all rule names: letters, digits and hyphens, the first a letter. Each schema of a grammar needs its own. */
  prefix: string;
}

/** The rules of a schema. */
export interface SchemaRules {
  /** The name of the rule for a whole value. */
  root: string;
  /** All rules in GBNF, one per line. */
  rules: string;
  /** The keywords that were left out; empty unless `schemaMode` is `"validate"`. */
  loosened: readonly LoosenedKeyword[];
}

/**
 * Converts a JSON Schema to a grammar in GBNF, which allows only texts that are valid against it. Properties are written in the schema's order.
 *
 * Throws {@linkcode JsonSchemaError} for an invalid schema, {@linkcode UnsupportedKeywordError} for a keyword that no grammar can express (unless
 * `schemaMode` is `"validate"`), {@linkcode SchemaContradictionError} when no value is valid, and {@linkcode SchemaTooComplexError} when the grammar would
 * be too large; each has the path in the schema.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { schemaToGrammar } from "./mod.ts";
 * import { matchesGrammar, parseGrammar } from "../gbnf/mod.ts";
 *
 * const schema = { type: "object", properties: { age: { type: "integer", minimum: 0, maximum: 120 } }, required: ["age"] };
 * const grammar = parseGrammar(schemaToGrammar(schema));
 * assert.equal(matchesGrammar(grammar, '{"age": 42}'), true);
 * assert.equal(matchesGrammar(grammar, '{"age": 121}'), false);
 * ```
 */
export function schemaToGrammar(schema: JsonSchema, options?: SchemaOptions): string {
  const given = checkOptions("schemaToGrammar", options, optionNames);
  return convert(plainSchema(schema), "", given).rules;
}

/**
 * Converts a JSON Schema to rules with names of their own, so that several schemas can share one grammar.
 *
 * Throws what {@linkcode schemaToGrammar} throws, and {@linkcode InvalidArgumentError} for a bad prefix.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { schemaToRules } from "./mod.ts";
 * import { matchesGrammar, parseGrammar } from "../gbnf/mod.ts";
 *
 * const a = schemaToRules({ type: "integer" }, { prefix: "a-" });
 * const b = schemaToRules({ type: "boolean" }, { prefix: "b-" });
 * const grammar = parseGrammar(`root ::= ${a.root} " " ${b.root}\n${a.rules}${b.rules}`);
 * assert.equal(matchesGrammar(grammar, "12 true"), true);
 * ```
 */
export function schemaToRules(schema: JsonSchema, options: SchemaRulesOptions): SchemaRules {
  const given = checkOptions("schemaToRules", options, [...optionNames, "prefix"]);
  const { prefix } = given;
  if (typeof prefix !== "string" || !/^[a-zA-Z][a-zA-Z0-9-]*$/.test(prefix)) {
    throw new InvalidArgumentError(`prefix is ${show(prefix)}; give letters, digits and hyphens, the first a letter`, {
      value: prefix,
      expected: "letters, digits and hyphens",
    });
  }
  return convert(plainSchema(schema), prefix, given);
}

/** A compiled JSON Schema: its grammar, and a validator of values against the whole schema. */
export interface CompiledSchema {
  /** The grammar in GBNF; it begins at `root`. */
  grammar: string;
  /** The keywords that the grammar leaves out; empty unless `schemaMode` is `"validate"`. */
  loosened: readonly LoosenedKeyword[];
  /** Returns the first problem of a value; `undefined` for a valid one. */
  problem(value: JsonValue): Problem | undefined;
}

/** Compiles a schema for a generation. Throws what {@linkcode schemaToGrammar} throws. */
export function compileSchema(schema: unknown, options?: SchemaOptions): CompiledSchema {
  const plain = plainSchema(schema);
  const given = checkOptions("compileSchema", options, optionNames);
  const { rules, loosened } = convert(plain, "", given);
  return { grammar: rules, loosened, problem: validator(plain, otherSchemas(given)) };
}

/**
 * Returns a function that returns the first problem of a value, or `undefined` for a valid one. No grammar is made, so that it takes any schema.
 *
 * Throws {@linkcode JsonSchemaError} for an invalid schema.
 */
export function schemaValidator(
  schema: unknown,
  options?: Pick<SchemaOptions, "schemas">,
): (value: JsonValue) => Problem | undefined {
  return validator(plainSchema(schema), otherSchemas(checkOptions("schemaValidator", options, ["schemas"])));
}

type OtherSchemas = ReadonlyMap<string, PlainSchema>;

function otherSchemas({ schemas }: Pick<SchemaOptions, "schemas">): OtherSchemas {
  if (schemas === undefined) return new Map();
  if (typeof schemas !== "object" || schemas === null || Array.isArray(schemas)) {
    throw new InvalidArgumentError(`schemas is ${show(schemas)}; give an object with a schema for each address`, {
      value: schemas,
      expected: "an object of schemas",
    });
  }
  return new Map(Object.entries(schemas).map(([address, schema]) => [address, plainSchema(schema)]));
}

function validator(plain: PlainSchema, others: OtherSchemas): (value: JsonValue) => Problem | undefined {
  let document: SchemaDocument | undefined;
  return (value) => {
    document ??= new SchemaDocument(plain, others);
    return validate(document, document.root, value);
  };
}

/** More keywords than these are not left out one by one. */
const MAX_LOOSENED = 100;

function convert(schema: PlainSchema, prefix: string, options: SchemaOptions): SchemaRules {
  const { whitespace = "flexible", schemaMode = "strict" } = options;
  checkOneOf("whitespace", whitespace, ["flexible", "compact"]);
  checkOneOf("schemaMode", schemaMode, ["strict", "validate"]);
  const others = otherSchemas(options);
  const loosened: LoosenedKeyword[] = [];
  for (let current = schema;;) {
    try {
      return { ...write(current, others, prefix, whitespace), loosened };
    } catch (error) {
      if (schemaMode === "strict" || !(error instanceof JsonSchemaError)) throw error;
      const contradictory = error instanceof SchemaContradictionError && loosened.length > 0;
      const beyond = error instanceof UnsupportedKeywordError || error instanceof SchemaTooComplexError;
      if (!beyond && !contradictory) throw error;
      const next = loosened.length < MAX_LOOSENED && beyond ? withoutKeyword(current, error.path) : undefined;
      if (next === undefined && current === true) throw error;
      loosened.push({ path: next?.path ?? "", reason: error.message });
      current = next?.schema ?? true;
    }
  }
}

function write(
  schema: PlainSchema,
  others: OtherSchemas,
  prefix: string,
  whitespace: Whitespace,
): Omit<SchemaRules, "loosened"> {
  const rules = new Rules(prefix);
  const root = rules.name("root");
  try {
    const document = new SchemaDocument(schema, others);
    const writer = new SchemaWriter(document, rules, whitespace);
    writer.assertFeasible([document.root]);
    rules.set(root, sequence(writer.value([document.root], "root")));
  } catch (error) {
    if (error instanceof GgmlError || !(error instanceof RangeError)) throw error;
    throw new SchemaTooComplexError("the schema is nested too deep; make it flatter", { cause: error });
  }
  if (!rules.prune(root)) {
    throw new SchemaContradictionError(
      "no value is valid against the schema: each value would have to hold another one without end; make a property optional, or allow null",
      { expected: "a schema with a finite valid value" },
    );
  }
  return { root, rules: rules.write(root) };
}
