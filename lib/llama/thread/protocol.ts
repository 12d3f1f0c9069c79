/**
 * What goes back and forth between a model and its native thread: plain data only.
 *
 * @module
 */

import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { LoraData } from "../adapters/lora.ts";
import type { SamplingSettings } from "../sampling/options.ts";
import type { SamplerExchange, SamplerRequest } from "../sampling/caller_sampler.ts";
import type { GrammarSettings } from "../sampling/grammar.ts";

/** What the load task is given. */
export interface LoadInput {
  /** The model file. */
  path: string;
  /** Load the vocabulary alone and make no context. */
  vocabOnly: boolean;
  /** Tokens in the context; `undefined` means the smaller of the model's and the default. */
  contextSize: number | undefined;
  /** Bytes that a token of the context takes at the least. */
  bytesPerToken: number;
  /** Tokens given to one decode. */
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

/** What the load task tells about the model. */
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
  /** What llama.cpp calls the model, such as `"llama 135M Q4_1"`. */
  description: string;
  /** Number of parameters. */
  parameterCount: number;
  /** Bytes of all tensors. */
  byteSize: number;
  /** Tokens that the context really holds; 0 without a context. */
  contextSize: number;
  /** Tokens that the model was trained for. */
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
  /** Compute threads at most. */
  threads: number;
  /** Tokens given to one decode at most. */
  batchSize: number;
  /** Names of the devices that its layers may be on, such as `["CPU"]`. C: `ggml_backend_dev_name`. */
  devices: string[];
}

/**
 * A prompt: text as it is, the output of a chat template, or a gap to fill. `outside` is where each range of a template's output begins and ends that came
 * from messages, in UTF-16 units; none when nothing in these looks like a control token.
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

/** What the form of an answer needs of the generation. */
export interface AnswerMarks {
  /** Texts of control tokens that are given out; others give no text. */
  shown: readonly string[];
  /** How long the model may think. */
  budget: ReasoningLimit | undefined;
}

/** How long the model may think, and how that is closed. */
export interface ReasoningLimit {
  /** Tokens at most. */
  tokens: number;
  /** What begins it. */
  open: string;
  /** What ends it. */
  close: string;
  /** What is put in when there are enough tokens: the end of it, and what leads over to the answer. */
  closing: string;
  /** Whether the prompt has begun it. */
  opened: boolean;
}

/** What the generate task is given. */
export interface GenerateInput {
  /** Which context. */
  context: Pointer<"llama_context">;
  /** What to go on from. */
  prompt: Prompt;
  /** How tokens are chosen. */
  sampling: SamplingSettings;
  /** What the text must be like. */
  grammar: GrammarSettings | undefined;
  /** What the form of an answer needs; `undefined` for plain text. */
  marks: AnswerMarks | undefined;
  /** For samplers on the caller's thread. */
  exchange: SamplerExchange | undefined;
  /** Take the last token of the prompt away and let the model begin with its text. */
  tokenHealing: boolean;
  /** How many tokens at most; `undefined` means until the context is full. */
  maxTokens: number | undefined;
  /** Strings that end the generation. */
  stop: readonly string[];
  /** The LoRA adapters that are at work. */
  loras: readonly LoraData[];
  /** Who asks. The start of the prompt that is still in memory is used again when the same owner asked last; 0 never does. */
  owner: number;
  /** Its only element is 1 once the pieces are wanted as they come. */
  wanted: Int32Array<SharedArrayBuffer>;
}

/** What the generate task posts: a piece of text, or a question to a sampler on the caller's thread. */
export type GenerateMessage = string | SamplerRequest;

/** A token and how likely it was. */
export interface TokenLogprob {
  /** The id. */
  token: number;
  /** Its text; bytes that are no whole character are U+FFFD. */
  text: string;
  /** Its bytes. */
  bytes: number[];
  /** The natural logarithm of its probability, before any sampler. */
  logprob: number;
}

/** A token that was generated, with what might have come in its place. */
export interface TokenLogprobs extends TokenLogprob {
  /** The likeliest tokens, the one that was generated may be among them. */
  alternatives: TokenLogprob[];
}

/** How a generation came to its end. */
export type StopReason = "eos" | "stop" | "maxTokens" | "context";

/** What the generate task gives back. */
export interface GenerateOutput {
  /** The generated text. */
  text: string;
  /** The generated tokens. */
  tokens: Int32Array;
  /** Why it ended. */
  stopReason: StopReason;
  /** The stop string that was found. */
  stop: string | undefined;
  /** How likely each token was, when that was asked for. */
  logprobs: TokenLogprobs[] | undefined;
  /** Tokens of the prompt. */
  promptTokens: number;
  /** Tokens of the prompt that were still in memory. */
  reusedTokens: number;
  /** Milliseconds from the start of the work to the first piece of text; `undefined` when there was none. */
  firstPieceMs: number | undefined;
  /** Milliseconds spent on the prompt. */
  promptMs: number;
  /** Milliseconds from the end of the prompt to the end of the generation. */
  generationMs: number;
}

/** What the tokenize task is given. */
export interface TokenizeInput {
  /** Which vocabulary. */
  vocab: Pointer<"llama_vocab">;
  /** The text. */
  text: string;
  /** Add the tokens that the model wants at start and end. */
  addSpecial: boolean;
  /** Read the text of control tokens as those tokens. */
  parseSpecial: boolean;
}

/** What the detokenize task is given. */
export interface DetokenizeInput {
  /** Which vocabulary. */
  vocab: Pointer<"llama_vocab">;
  /** The tokens. */
  tokens: Int32Array;
  /** Leave out start and end tokens. */
  removeSpecial: boolean;
  /** Write control tokens as their text. */
  renderSpecial: boolean;
}
