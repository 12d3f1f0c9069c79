/**
 * The messages between a model and its native thread: plain data.
 *
 * @module
 */

import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { LoraData } from "../adapters/lora.ts";
import type { SamplingSettings } from "../sampling/options.ts";
import type { SamplerExchange, SamplerRequest } from "../sampling/caller_sampler.ts";
import type { GrammarSettings } from "../sampling/grammar.ts";

/** Input of the task `load`. */
export interface LoadInput {
  /** The path of the model file; of what has none, its name in messages. */
  path: string;
  /** The open file to load from instead of the path, and whether its tensors lie so that it can be mapped. */
  file?: { readonly fd: number; readonly offset: number; readonly mappable: boolean } | undefined;
  /** Loads the vocabulary alone, without a context. */
  vocabOnly: boolean;
  /** Context size in tokens; `undefined` for the smaller of the model's and the default. */
  contextSize: number | undefined;
  /** Minimum number of bytes per token of the context. */
  bytesPerToken: number;
  /** Prompt tokens per decode. */
  batchSize: number;
  /** Compute threads. */
  threads: number;
  /** Layers on the GPU; `undefined` leaves it to llama.cpp. */
  gpuLayers: number | undefined;
  /** The devices; `undefined` leaves them to llama.cpp. */
  devices?: readonly Pointer<"ggml_backend_device">[] | undefined;
  /** Map the file (true), read it (false), or leave it to llama.cpp. */
  mmap: boolean | undefined;
  /** Whether progress is wanted. */
  progress: boolean;
  /** Whether it may be cancelled. */
  cancellable: boolean;
}

/** Output of the task `load`. */
export interface LoadedModel {
  /** The model. */
  model: Pointer<"llama_model">;
  /** Its vocabulary, valid as long as the model. */
  vocab: Pointer<"llama_vocab">;
  /** The context; `null` when only the vocabulary was loaded. */
  context: Pointer<"llama_context"> | null;
  /** Facts that don't change. */
  facts: ModelFacts;
}

/** Facts about a loaded model. */
export interface ModelFacts {
  /** llama.cpp's description, such as `"llama 135M Q4_1"`. C: `llama_model_desc`. */
  description: string;
  /** Number of parameters. */
  parameterCount: number;
  /** Bytes of all tensors. */
  byteSize: number;
  /** Actual context size in tokens; 0 without a context. */
  contextSize: number;
  /** Context size in tokens that the model was trained for. */
  trainedContextSize: number;
  /** Size of an embedding. */
  embeddingSize: number;
  /** Number of layers. */
  layerCount: number;
  /** Number of attention heads. */
  headCount: number;
  /** Number of tokens in the vocabulary. */
  vocabularySize: number;
  /** Whether it has an encoder. */
  hasEncoder: boolean;
  /** Whether it has a decoder. */
  hasDecoder: boolean;
  /** Maximum number of compute threads. */
  threads: number;
  /** Maximum number of tokens per decode. */
  batchSize: number;
  /** Names of the devices that its layers may be on, such as `["CPU"]`. C: `ggml_backend_dev_name`. */
  devices: string[];
}

/**
 * A prompt: plain text, a rendered chat template, or an infill prompt. `outside` has the start and the end of each range of the rendered text that came from
 * messages, in UTF-16 units; empty if no message has the text of a control token.
 */
export type Prompt =
  | { kind: "text"; text: string; parseSpecial: boolean }
  | { kind: "template"; text: string; outside: readonly number[] }
  | {
    kind: "infill";
    prefix: string;
    suffix: string;
    files: readonly { readonly name: string; readonly text: string }[];
    repository: string;
    file: string;
    order: "psm" | "spm";
  };

/** The settings that the syntax of an answer needs. */
export interface AnswerMarks {
  /** Texts of control tokens that are part of the output; others have no text. */
  shown: readonly string[];
  /** The limit to reasoning. */
  budget: ReasoningLimit | undefined;
}

/** A limit to reasoning, and the text that ends it. */
export interface ReasoningLimit {
  /** Maximum number of tokens. */
  tokens: number;
  /** The opening mark. */
  open: string;
  /** The closing mark. */
  close: string;
  /** The text that is forced at the limit: the closing mark, and the text before the answer. */
  closing: string;
  /** Whether the prompt ends inside reasoning. */
  opened: boolean;
}

/** Input of the task `generate`. */
export interface GenerateInput {
  /** The context. */
  context: Pointer<"llama_context">;
  /** The prompt. */
  prompt: Prompt;
  /** The sampling settings. */
  sampling: SamplingSettings;
  /** The grammar that constrains the text. */
  grammar: GrammarSettings | undefined;
  /** The settings of the answer's syntax; `undefined` for plain text. */
  marks: AnswerMarks | undefined;
  /** Shared memory for samplers on the caller's thread. */
  exchange: SamplerExchange | undefined;
  /** Removes the last token of the prompt and constrains the output to begin with its text. */
  tokenHealing: boolean;
  /** Maximum number of tokens; `undefined` for no limit but the context. */
  maxTokens: number | undefined;
  /** Strings that end the generation. */
  stop: readonly string[];
  /** The LoRA adapters. */
  loras: readonly LoraData[];
  /** The owner of the request. The beginning of the prompt is reused from memory if the last request had the same owner; 0 never reuses. */
  owner: number;
  /** Its only element is 1 once pieces are wanted. */
  wanted: Int32Array<SharedArrayBuffer>;
}

/** A message of the task `generate`: a piece of text, or a question to a sampler on the caller's thread. */
export type GenerateMessage = string | SamplerRequest;

/** A token with its log-probability. */
export interface TokenLogprob {
  /** The id. */
  token: number;
  /** Its text; bytes that aren't a whole character are U+FFFD. */
  text: string;
  /** Its bytes. */
  bytes: number[];
  /** The natural logarithm of its probability, before all samplers. */
  logprob: number;
}

/** A generated token with its alternatives. */
export interface TokenLogprobs extends TokenLogprob {
  /** The likeliest tokens, which may include the generated one. */
  alternatives: TokenLogprob[];
}

/** The reason why a generation ended. */
export type StopReason = "eos" | "stop" | "maxTokens" | "context";

/** Output of the task `generate`. */
export interface GenerateOutput {
  /** The generated text. */
  text: string;
  /** The generated tokens. */
  tokens: Int32Array;
  /** The reason of the end. */
  stopReason: StopReason;
  /** The stop string that was found. */
  stop: string | undefined;
  /** The log-probability of each token, if it was asked for. */
  logprobs: TokenLogprobs[] | undefined;
  /** Number of prompt tokens. */
  promptTokens: number;
  /** Number of prompt tokens that were reused from memory. */
  reusedTokens: number;
  /** Milliseconds from the start of the work to the first piece of text; `undefined` when there was none. */
  firstPieceMs: number | undefined;
  /** Milliseconds spent on the prompt. */
  promptMs: number;
  /** Milliseconds from the end of the prompt to the end of the generation. */
  generationMs: number;
}

/** Input of the task `tokenize`. */
export interface TokenizeInput {
  /** The vocabulary. */
  vocab: Pointer<"llama_vocab">;
  /** The text. */
  text: string;
  /** Add the tokens that the model wants at start and end. */
  addSpecial: boolean;
  /** Read the text of control tokens as those tokens. */
  parseSpecial: boolean;
}

/** Input of the task `detokenize`. */
export interface DetokenizeInput {
  /** The vocabulary. */
  vocab: Pointer<"llama_vocab">;
  /** The tokens. */
  tokens: Int32Array;
  /** Leave out start and end tokens. */
  removeSpecial: boolean;
  /** Write control tokens as their text. */
  renderSpecial: boolean;
}
