/**
 * JSON Schema to grammars in GBNF, and grammars in GBNF: parsed, checked, and matched against text. Pure TypeScript: it runs without native libraries, in
 * a browser too.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { matchesGrammar, parseGrammar, schemaToGrammar } from "./mod.ts";
 *
 * const grammar = parseGrammar(schemaToGrammar({ enum: ["yes", "no"] }));
 * assert.ok(matchesGrammar(grammar, '"yes"'));
 * assert.ok(!matchesGrammar(grammar, '"maybe"'));
 * ```
 *
 * @module
 */

export * from "../errors.ts";
export * from "../gbnf/mod.ts";
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
