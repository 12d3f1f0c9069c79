/**
 * Language models: loading, tokenizing, generating, chatting.
 *
 * @module
 */

export * from "../ggml/tensor/errors.ts";
export * from "../errors.ts";
export type { Chat } from "./chat/chat.ts";
export type { ChatOptions, ChatSendOptions, ToolChoice } from "./chat/options.ts";
export type { ToolResult } from "./chat/tool_results.ts";
export type { ChatMessage, ToolCall } from "./chat/message.ts";
export type { ChatEvent, ChatResult, ChatTurn, FailedToolCall, MalformedToolCall } from "./chat/turn.ts";
export type { ReasoningOptions } from "./chat/reasoning.ts";
export { type ChatTool, type ChatTools, defineTool, type ToolCallContext, type TypedTool } from "./tools/tool.ts";
export type { ToolErrors } from "./tools/runner.ts";
export type { ToolSchema } from "./tools/schema.ts";
export { type Generation, type GenerationResult, type GenerationTimings } from "./generation/generation.ts";
export type { CompletionOptions, GenerationOptions } from "./generation/options.ts";
export type { ControlVector, ControlVectorOptions } from "./adapters/control_vectors.ts";
export type { InfillFile, InfillOptions, InfillPromptOptions } from "./generation/infill.ts";
export type { LogLevel, LogLine, NativeAbortPolicy } from "../../ffi/thread/native_thread.ts";
export { Lora, type LoraInfo, type LoraOption, type LoraUse } from "./adapters/lora.ts";
export type { LoadOptions } from "../support/load_options.ts";
export type { DownloadOptions, DownloadProgress } from "../support/download_options.ts";
export type { ModelOptions } from "./model/load_options.ts";
export type { DescriptorSource, ModelSource } from "../models/source.ts";
export { loadModel } from "./model/load_model.ts";
export type { ModelInfo } from "./model/info.ts";
export { Model } from "./model/model.ts";
export { type DetokenizeOptions, type TokenizeOptions } from "./model/tokenize_options.ts";
export type { SamplingOptions } from "./sampling/options.ts";
export type { LogitBias } from "./sampling/logit_bias.ts";
export { SamplerCandidates } from "./sampling/candidates.ts";
export type { ModuleSampler, SamplerFunction, SamplerName } from "./sampling/order.ts";
export type { GrammarOptions, GrammarTrigger } from "./sampling/grammar.ts";
export type { ModelFacts, StopReason, TokenLogprob, TokenLogprobs } from "./thread/protocol.ts";
export {
  type CharSet,
  type Grammar,
  type GrammarElement,
  GrammarMatcher,
  type GrammarRule,
  matchesGrammar,
  parseGrammar,
} from "../gbnf/mod.ts";
export {
  type JsonSchema,
  type JsonValue,
  type SchemaMode,
  type SchemaOptions,
  type SchemaOutput,
  type SchemaRules,
  type SchemaRulesOptions,
  schemaToGrammar,
  schemaToRules,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
  type Whitespace,
} from "../json_schema/mod.ts";
export type {
  Choice,
  ChoiceScore,
  ChooseOptions,
  ContinuationScore,
  Perplexity,
  ScoreOptions,
} from "./generation/scoring.ts";
export type { ResultSchema, StructuredOptions, StructuredResult, StructuredResultOf } from "./generation/structured.ts";
