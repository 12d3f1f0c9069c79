/**
 * Language models by llama.cpp, for Deno and Bun.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { defaultModelPath, loadModel } from "./mod.ts";
 *
 * await using model = await loadModel(await defaultModelPath());
 * const chat = model.chat({ system: "You are a helpful assistant." });
 * let answer = "";
 * for await (const piece of chat.send("What is the capital of France?", { maxTokens: 64, temperature: 0 })) answer += piece;
 * assert.match(answer, /Paris/);
 * ```
 *
 * @module
 */

export * from "./lib/errors.ts";
export {
  type CharSet,
  type Chat,
  type ChatEvent,
  type ChatMessage,
  type ChatOptions,
  type ChatResult,
  type ChatSendOptions,
  type ChatTool,
  type ChatTools,
  type ChatTurn,
  type Choice,
  type ChoiceScore,
  type ChooseOptions,
  type CompletionOptions,
  type ContinuationScore,
  type ControlVector,
  type ControlVectorOptions,
  defineTool,
  type DetokenizeOptions,
  type FailedToolCall,
  type Generation,
  type GenerationOptions,
  type GenerationResult,
  type GenerationTimings,
  type Grammar,
  type GrammarElement,
  GrammarMatcher,
  type GrammarOptions,
  type GrammarRule,
  type GrammarTrigger,
  type InfillFile,
  type InfillOptions,
  type InfillPromptOptions,
  type JsonSchema,
  type JsonValue,
  loadModel,
  type LoadOptions,
  type LogitBias,
  type LogLevel,
  type LogLine,
  Lora,
  type LoraInfo,
  type LoraOption,
  type LoraUse,
  type MalformedToolCall,
  matchesGrammar,
  Model,
  type ModelFacts,
  type ModelInfo,
  type ModelOptions,
  type ModuleSampler,
  type NativeAbortPolicy,
  parseGrammar,
  type Perplexity,
  type ReasoningOptions,
  type ResultSchema,
  SamplerCandidates,
  type SamplerFunction,
  type SamplerName,
  type SamplingOptions,
  type SchemaMode,
  type SchemaOptions,
  type SchemaOutput,
  type SchemaRules,
  type SchemaRulesOptions,
  schemaToGrammar,
  schemaToRules,
  type ScoreOptions,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
  type StopReason,
  type StructuredOptions,
  type StructuredResult,
  type StructuredResultOf,
  type TokenizeOptions,
  type TokenLogprob,
  type TokenLogprobs,
  type ToolCall,
  type ToolCallContext,
  type ToolChoice,
  type ToolResult,
  type ToolSchema,
  type TypedTool,
  type Whitespace,
} from "./lib/llama/mod.ts";
export { type DeviceKind } from "./lib/ggml/backend/device_kind.ts";
export { type DeviceInfo, devices } from "./lib/ggml/backend/devices.ts";
export {
  type GgufHeader,
  type GgufLazyValue,
  type GgufTensorInfo,
  type GgufValue,
  readGgufHeader,
} from "./lib/gguf/header.ts";
export { type GgufValueType } from "./lib/gguf/types.ts";
export { type LibrariesInfo, librariesInfo } from "./lib/ggml/backend/libraries.ts";
export { defaultModelPath } from "./lib/models/default_model.ts";
