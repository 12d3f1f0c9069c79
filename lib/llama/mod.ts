/**
 * Language models: loading, tokenizing, generating, chatting.
 *
 * @module
 */

export { Chat, type ChatOptions } from "./chat.ts";
export type { ChatMessage } from "./chat_template.ts";
export { Generation, type GenerationResult, type GenerationTimings } from "./generation.ts";
export type { CompletionOptions, GenerationOptions } from "./generation_options.ts";
export type { LogLine, OnAbort } from "../../ffi/thread.ts";
export type { ModelOptions } from "./load_options.ts";
export { type DetokenizeOptions, loadModel, Model, type ModelInfo, type TokenizeOptions } from "./model.ts";
export type { SamplingOptions } from "./sampling.ts";
export type { LogitBias } from "./sampling_bias.ts";
export { SamplerCandidates } from "./sampling_candidates.ts";
export type { SamplerFunction, SamplerModule, SamplerName } from "./sampling_order.ts";
export type { GrammarOptions, GrammarTrigger } from "./sampling_grammar.ts";
export type { ModelFacts, StopReason, TokenLogprob, TokenLogprobs } from "./thread/protocol.ts";
export { type Grammar, GrammarMatcher, matchesGrammar, parseGrammar } from "./grammar/mod.ts";
export {
  type JsonSchema,
  type JsonValue,
  type ResultSchema,
  type SchemaOptions,
  type SchemaOutput,
  type SchemaRules,
  type SchemaRulesOptions,
  schemaToGrammar,
  schemaToRules,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
  type StructuredOptions,
  type StructuredResult,
  type StructuredResultOf,
  type Whitespace,
} from "./schema/mod.ts";
