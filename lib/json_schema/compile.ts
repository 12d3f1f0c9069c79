import { GgmlError, InvalidArgumentError, SchemaContradictionError, SchemaTooComplexError } from "../errors.ts";
import { checkOneOf, checkOptions, show } from "../support/check.ts";
import { SchemaDocument } from "./document.ts";
import { sequence } from "./gbnf.ts";
import { type JsonSchema, type JsonValue, plainSchema } from "./json.ts";
import { Rules } from "./rules.ts";
import { type Problem, validate } from "./validate.ts";
import { SchemaWriter, type Whitespace } from "./writer.ts";

/** How a grammar is made of a schema. */
export interface SchemaOptions {
  /** `"flexible"` allows a space, or a line break and what indents the line, between the parts of arrays and objects; `"compact"` none. Default `"flexible"`. */
  whitespace?: Whitespace | undefined;
}

/** How the rules of a schema are made that share a grammar with others. */
export interface SchemaRulesOptions extends SchemaOptions {
  /** What all rules' names begin with: letters, digits and hyphens, the first a letter. Give each schema of a grammar another one. */
  prefix: string;
}

/** A schema's rules. */
export interface SchemaRules {
  /** The rule that stands for a whole value. */
  root: string;
  /** All rules in GBNF, each on a line of its own. */
  rules: string;
}

/**
 * The grammar, in GBNF, of the texts that are valid against a JSON Schema. Properties are written in the schema's order.
 *
 * Throws {@linkcode JsonSchemaError} for what is no schema, {@linkcode UnsupportedKeywordError} for what can't be kept to,
 * {@linkcode SchemaContradictionError} when nothing can be valid, and {@linkcode SchemaTooComplexError} when the grammar would be too large; each says
 * where in the schema.
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
  const { whitespace = "flexible" } = checkOptions("schemaToGrammar", options, ["whitespace"]);
  return compile(plainSchema(schema), "", whitespace).rules;
}

/**
 * The rules of a schema under names of their own, so that several schemas may share one grammar.
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
  const { whitespace = "flexible", prefix } = checkOptions("schemaToRules", options, ["whitespace", "prefix"]);
  if (typeof prefix !== "string" || !/^[a-zA-Z][a-zA-Z0-9-]*$/.test(prefix)) {
    throw new InvalidArgumentError(`prefix is ${show(prefix)}; give letters, digits and hyphens, the first a letter`, {
      value: prefix,
      expected: "letters, digits and hyphens",
    });
  }
  return compile(plainSchema(schema), prefix, whitespace);
}

/** A JSON Schema that was compiled: its grammar, and a check of values against the schema itself. */
export interface CompiledSchema {
  /** The grammar in GBNF; it begins at `root`. */
  grammar: string;
  /** The first thing that is wrong with a value; nothing when it is valid. */
  problem(value: JsonValue): Problem | undefined;
}

/** Compiles a schema for a generation. Throws what {@linkcode schemaToGrammar} throws. */
export function compileSchema(schema: unknown, whitespace: Whitespace = "flexible"): CompiledSchema {
  const plain = plainSchema(schema);
  const { rules } = compile(plain, "", whitespace);
  return {
    grammar: rules,
    problem(value) {
      const document = new SchemaDocument(plain);
      return validate(document, document.root, value);
    },
  };
}

function compile(schema: ReturnType<typeof plainSchema>, prefix: string, whitespace: Whitespace): SchemaRules {
  checkOneOf("whitespace", whitespace, ["flexible", "compact"]);
  const rules = new Rules(prefix);
  const root = rules.name("root");
  try {
    const document = new SchemaDocument(schema);
    const writer = new SchemaWriter(document, rules, whitespace);
    writer.assertFeasible([document.root]);
    rules.set(root, sequence(writer.value([document.root], "root")));
  } catch (error) {
    if (error instanceof GgmlError || !(error instanceof RangeError)) throw error;
    throw new SchemaTooComplexError("the schema is nested too deep; make it flatter", { cause: error });
  }
  if (!rules.prune(root)) {
    throw new SchemaContradictionError(
      "nothing can be valid for the schema: each value would have to hold another one without end; make a property optional, or allow null",
      { expected: "a schema that something finite is valid for" },
    );
  }
  return { root, rules: rules.write(root) };
}
