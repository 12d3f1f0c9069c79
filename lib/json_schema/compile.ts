import {
  GgmlError,
  JsonSchemaError,
  SchemaContradictionError,
  SchemaTooComplexError,
  UnsupportedKeywordError,
} from "../errors.ts";
import { isPlainObject, refuse } from "../../base/check.ts";
import { custom, oneOf, options, type RulesOf, type Settings } from "../../base/options.ts";
import { decodeSchema, type EncodedSchema, encodeSchema } from "./encode.ts";
import { SchemaDocument } from "./document.ts";
import { sequence } from "./gbnf.ts";
import { type JsonSchema, type JsonValue, type PlainSchema, plainSchema } from "./json.ts";
import { type LoosenedKeyword, withoutKeyword } from "./loosen.ts";
import { withWorkLimit } from "./regex.ts";
import { Rules } from "./rules.ts";
import { type Problem, validate } from "./validate.ts";
import { SchemaWriter, type Whitespace } from "./writer.ts";

/**
 * The treatment of the parts of a schema that no grammar can express: `"strict"` refuses the schema, `"validate"` leaves them out of the grammar, so that
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

/** {@linkcode SchemaOptions}, declared. */
export const schemaSpec = options(
  "schemaToGrammar",
  {
    whitespace: oneOf(["flexible", "compact"], { default: "flexible" }),
    schemaMode: oneOf(["strict", "validate"], { default: "strict" }),
    schemas: custom<SchemaOptions["schemas"], Record<never, never>>("an object of schemas", checkSchemas),
  } satisfies RulesOf<SchemaOptions>,
);

const rulesSpec = options(
  "schemaToRules",
  {
    ...schemaSpec.rules,
    prefix: custom("letters, digits and hyphens, the first a letter", checkPrefix, { required: true }),
  } satisfies RulesOf<SchemaRulesOptions>,
);

const validatorSpec = options("schemaValidator", { schemas: schemaSpec.rules.schemas });

/** Checked options of a conversion. */
type ConvertSettings = Pick<Settings<typeof schemaSpec>, "whitespace" | "schemaMode">;

function checkSchemas(name: string, value: unknown): SchemaOptions["schemas"] {
  if (isPlainObject(value)) return value as Record<string, JsonSchema>;
  return refuse(name, value, "an object with a schema for each address");
}

function checkPrefix(name: string, value: unknown): string {
  if (typeof value === "string" && /^[a-zA-Z][a-zA-Z0-9-]*$/.test(value)) return value;
  return refuse(name, value, "letters, digits and hyphens, the first a letter");
}

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
  const plain = plainSchema(schema);
  const settings = schemaSpec.check(options);
  return convert(plain, otherSchemas(settings.schemas), "", settings).rules;
}

/**
 * Converts a JSON Schema to rules with names of their own, so that several schemas can share one grammar.
 *
 * Throws what {@linkcode schemaToGrammar} throws, and InvalidArgumentError for a bad prefix.
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
  const settings = rulesSpec.check(options);
  return convert(plainSchema(schema), otherSchemas(settings.schemas), settings.prefix, settings);
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
  const settings = schemaSpec.check(options, "compileSchema");
  return compilePlain(plain, otherSchemas(settings.schemas), settings);
}

function compilePlain(plain: PlainSchema, others: OtherSchemas, settings: ConvertSettings): CompiledSchema {
  const { rules, loosened } = convert(plain, others, "", settings);
  return { grammar: rules, loosened, problem: validator(plain, others) };
}

/** A schema in whole or in texts, and the options of its conversion: {@linkcode EncodedSchema}. Plain data. */
export interface EncodedSettings {
  /** The schema. */
  readonly schema: EncodedSchema;
  /** Other schemas by their addresses. */
  readonly schemas: Readonly<Record<string, EncodedSchema>>;
  /** See {@linkcode SchemaOptions.whitespace}. */
  readonly whitespace: Whitespace;
  /** See {@linkcode SchemaOptions.schemaMode}. */
  readonly schemaMode: SchemaMode;
}

/** Encodes a schema and its options in slices; see {@linkcode encodeSchema}. */
export async function encodeSettings(
  schema: unknown,
  options: SchemaOptions | undefined,
  pause: () => Promise<void>,
): Promise<EncodedSettings> {
  const { whitespace, schemaMode, schemas = {} } = schemaSpec.check(options, "compileSchema");
  const encoded = await encodeSchema(schema, pause);
  const others: Record<string, EncodedSchema> = {};
  for (const [address, other] of Object.entries(schemas)) others[address] = await encodeSchema(other, pause);
  return { schema: encoded, schemas: others, whitespace, schemaMode };
}

/** Compiles an encoded schema: {@linkcode compileSchema}. */
export function compileEncoded({ schema, schemas, whitespace, schemaMode }: EncodedSettings): CompiledSchema {
  return compilePlain(decodeSchema(schema), decodedSchemas(schemas), { whitespace, schemaMode });
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
  return validator(plainSchema(schema), otherSchemas(validatorSpec.check(options).schemas));
}

/** Returns a validator of an encoded schema: {@linkcode schemaValidator}. */
export function encodedValidator({ schema, schemas }: EncodedSettings): (value: JsonValue) => Problem | undefined {
  return validator(decodeSchema(schema), decodedSchemas(schemas));
}

function decodedSchemas(schemas: EncodedSettings["schemas"]): OtherSchemas {
  return new Map(Object.entries(schemas).map(([address, other]) => [address, decodeSchema(other)]));
}

type OtherSchemas = ReadonlyMap<string, PlainSchema>;

function otherSchemas(schemas: SchemaOptions["schemas"] = {}): OtherSchemas {
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

function convert(
  schema: PlainSchema,
  others: OtherSchemas,
  prefix: string,
  { whitespace, schemaMode }: ConvertSettings,
): SchemaRules {
  const loosened: LoosenedKeyword[] = [];
  for (let current = schema;;) {
    try {
      return { ...withWorkLimit(() => write(current, others, prefix, whitespace)), loosened };
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
