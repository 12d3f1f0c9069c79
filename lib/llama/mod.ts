/**
 * Language models: loading, tokenizing, generating, chatting.
 *
 * @module
 */

export { Chat } from "./chat.ts";
export type { ChatOptions, ChatSendOptions, ToolChoice } from "./chat_options.ts";
export type { ToolResult } from "./chat_results.ts";
export type { ChatMessage, ToolCall } from "./chat_template.ts";
export { type ChatEvent, type ChatResult, ChatTurn, type MalformedToolCall } from "./chat_turn.ts";
export type { ReasoningOptions } from "./reasoning.ts";
export { type ChatTool, type ChatTools, defineTool, type ToolCallContext, type TypedTool } from "./tools/tool.ts";
export type { ToolSchema } from "./tools/tool_schema.ts";
export { Generation, type GenerationResult, type GenerationTimings } from "./generation.ts";
export type { CompletionOptions, GenerationOptions } from "./generation_options.ts";
export type { ControlVector, ControlVectorOptions } from "./control_vectors.ts";
export type { InfillFile, InfillOptions, InfillPromptOptions } from "./infill.ts";
export type { LogLine, OnAbort } from "../../ffi/thread.ts";
export { Lora, type LoraInfo, type LoraOption, type LoraUse } from "./lora.ts";
export type { LoadOptions } from "../load_options.ts";
export type { ModelOptions } from "./load_options.ts";
export { loadModel } from "./load_model.ts";
export { Model, type ModelInfo } from "./model.ts";
export { type DetokenizeOptions, type TokenizeOptions } from "./tokenize_options.ts";
export type { SamplingOptions } from "./sampling.ts";
export type { LogitBias } from "./sampling_bias.ts";
export { SamplerCandidates } from "./sampling_candidates.ts";
export type { SamplerFunction, SamplerModule, SamplerName } from "./sampling_order.ts";
export type { GrammarOptions, GrammarTrigger } from "./sampling_grammar.ts";
export type { ModelFacts, StopReason, TokenLogprob, TokenLogprobs } from "./thread/protocol.ts";
export {
  type CharSet,
  type Grammar,
  type GrammarElement,
  GrammarMatcher,
  type GrammarRule,
  matchesGrammar,
  parseGrammar,
} from "./grammar/mod.ts";
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
export type { Choice, ChoiceScore, ChooseOptions, ContinuationScore, Perplexity, ScoreOptions } from "./scoring.ts";
