/**
 * JSON Schema to grammars.
 *
 * @module
 */

export {
  type CompiledSchema,
  compileSchema,
  type SchemaMode,
  type SchemaOptions,
  type SchemaRules,
  type SchemaRulesOptions,
  schemaToGrammar,
  schemaToRules,
  schemaValidator,
} from "./compile.ts";
export type { LoosenedKeyword } from "./loosen.ts";
export type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
export { refusedKeywords, supportedKeywords } from "./keywords.ts";
export type { Problem } from "./validate.ts";
export type { Whitespace } from "./writer.ts";
export type { SchemaOutput, StandardIssue, StandardResult, StandardSchema } from "./standard.ts";
