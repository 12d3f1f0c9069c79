import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { NativeThread } from "../../../ffi/thread/native_thread.ts";
import { DisposedError, RemoteLostError, SamplerError, UnsupportedModelError } from "../../errors.ts";
import { type GgufHeader, type GgufValue, readGgufHeader } from "../../gguf/header.ts";
import type { OpenDevices } from "./devices.ts";
import { checkText } from "../../support/check.ts";
import { type Chat, type ChatOptions, startChat } from "../chat/chat.ts";
import { type ControlVector, type ControlVectorOptions, readControlVectors } from "../adapters/control_vectors.ts";
import { type Generation, type GenerationResult, type PieceSink, startGeneration } from "../generation/generation.ts";
import { generationResult } from "../generation/result.ts";
import { checkCompletion, type CompletionOptions, type GenerationSettings } from "../generation/options.ts";
import { checkInfill, checkInfillPrompt, type InfillOptions, type InfillPromptOptions } from "../generation/infill.ts";
import { modelPath } from "../../models/model_path.ts";
import { checkAdapter, Lora } from "../adapters/lora.ts";
import {
  planResult,
  type ResultSchema,
  type StructuredOptions,
  type StructuredResultOf,
} from "../generation/structured.ts";
import { SamplerRoundTrip } from "../sampling/caller_sampler.ts";
import {
  checkChoose,
  checkContinuations,
  checkLabels,
  checkScore,
  type Choice,
  choice,
  type ChooseOptions,
  type ContinuationScore,
  continuationScore,
  type Perplexity,
  perplexityOf,
  type ScoreOptions,
  type ScoreSettings,
} from "../generation/scoring.ts";
import { promptTokens } from "../thread/prompt.ts";
import type { GenerateMessage, LoadedModel, ModelFacts, Prompt } from "../thread/protocol.ts";
import type { ChatVocabulary } from "../thread/special_tokens.ts";
import type { LlamaTasks } from "../thread/tasks.ts";
import { detokenize, tokenize } from "../thread/tokenizer.ts";
import { detokenizeFlags, type DetokenizeOptions, tokenizeFlags, type TokenizeOptions } from "./tokenize_options.ts";
import { checkTokens } from "./vocab_check.ts";

/** What is known about a loaded model. Plain data. */
export interface ModelInfo extends ModelFacts {
  /** The path it was loaded from. */
  path: string;
  /** The kind of model, such as `"llama"`. C: `general.architecture`. */
  architecture: string | undefined;
  /** Its name, as its makers gave it. C: `general.name`. */
  name: string | undefined;
  /** Its chat template, in Jinja. C: `tokenizer.chat_template`. */
  chatTemplate: string | undefined;
}

/** A server that was lost has nothing left to free. */
function ignoreLostServer(error: unknown): void {
  if (!(error instanceof RemoteLostError)) throw error;
}

/** The native thread that a model lives on. */
export type ModelThread = NativeThread<LlamaTasks>;

/** What the last net needs to free a model that nobody disposed. */
interface FinalizerState {
  thread: ModelThread;
  loaded: LoadedModel;
}

const finalizer = new FinalizationRegistry<FinalizerState>(({ thread, loaded }) => {
  thread.run("unload", loaded).catch(() => {});
  thread[Symbol.asyncDispose]().catch(() => {});
});

/**
 * A loaded model with its context. Made by `loadModel`.
 *
 * Generations on one model run one after another, in the order in which they were asked for. Dispose it when it is no longer needed, best by
 * `await using`: what is under way is finished first.
 */
export class Model implements AsyncDisposable {
  readonly #native: Native;
  readonly #thread: ModelThread;
  readonly #loaded: LoadedModel;
  readonly #header: GgufHeader;
  readonly #devices: OpenDevices | undefined;
  #disposed: Promise<void> | undefined;
  #vocabulary: Promise<ChatVocabulary> | undefined;
  /** What is known about the model. */
  readonly info: Readonly<ModelInfo>;
  /** The metadata of its file; arrays are left in the file. */
  readonly metadata: ReadonlyMap<string, GgufValue>;

  /** Takes over what was loaded. */
  constructor(
    native: Native,
    thread: ModelThread,
    loaded: LoadedModel,
    header: GgufHeader,
    path: string,
    devices?: OpenDevices,
  ) {
    this.#native = native;
    this.#devices = devices;
    this.#thread = thread;
    this.#loaded = loaded;
    this.#header = header;
    this.metadata = header.metadata;
    this.info = Object.freeze({
      path,
      architecture: textOf(header, "general.architecture"),
      name: textOf(header, "general.name"),
      chatTemplate: textOf(header, "tokenizer.chat_template"),
      ...loaded.facts,
    });
    finalizer.register(this, { thread, loaded }, this);
  }

  /**
   * Goes on with a text. The work starts at once and begins from an empty context.
   *
   * Throws {@linkcode InvalidArgumentError} at once for a bad option, {@linkcode DisposedError} after a dispose, and {@linkcode UnsupportedModelError}
   * for a model that can't generate text. The generation rejects with PromptTooLongError, EmptyPromptError or DecodeError, and the signal's reason.
   *
   * ```ts
   * import assert from "node:assert/strict";
   * import { loadModel } from "./load_model.ts";
   * import { defaultModelPath } from "../../models/default_model.ts";
   *
   * await using model = await loadModel(await defaultModelPath());
   * const { text, stopReason } = await model.complete("The capital of France is", { maxTokens: 16, temperature: 0, stop: "." });
   * assert.match(text, /Paris/);
   * assert.equal(stopReason, "stop");
   * ```
   */
  complete(prompt: string, options?: CompletionOptions): Generation;
  /**
   * Goes on with a text by JSON that is valid against a schema; the result has a `value`. See {@linkcode StructuredOptions}.
   *
   * Throws besides {@linkcode JsonSchemaError} and its kind at once for a schema that can't be kept to; the generation rejects with
   * {@linkcode StructuredResultError} when the value fails checks that only a validation library's schema makes.
   *
   * ```ts
   * import assert from "node:assert/strict";
   * import { loadModel } from "./load_model.ts";
   * import { defaultModelPath } from "../../models/default_model.ts";
   *
   * await using model = await loadModel(await defaultModelPath());
   * const schema = { type: "object", properties: { capital: { type: "string", maxLength: 20 } }, required: ["capital"] };
   * const { stopReason, value } = await model.complete("The capital of France as JSON:", { schema, temperature: 0, maxTokens: 40 });
   * assert.equal(stopReason, "eos");
   * assert.deepEqual(Object.keys(value as object), ["capital"]);
   * ```
   */
  complete<const S extends ResultSchema>(
    prompt: string,
    options: CompletionOptions & StructuredOptions<S>,
  ): Generation<StructuredResultOf<S>>;
  complete(prompt: string, options?: CompletionOptions): Generation {
    const text = checkText("the prompt", prompt);
    const { options: plain, finish } = planResult(options);
    const settings = checkCompletion("model.complete", plain);
    this.#assertGenerates();
    const wanted: Prompt = { kind: "text", text, parseSpecial: settings.parseSpecial };
    return startGeneration(
      async (signal, sink) => finish(await this.#generate(wanted, settings, 0, signal, sink)),
      settings.signal,
    );
  }

  /**
   * Begins a conversation.
   *
   * Throws {@linkcode InvalidArgumentError} for a bad option, {@linkcode DisposedError} after a dispose, and {@linkcode UnsupportedModelError} for a
   * model that can't generate text.
   */
  chat(options?: ChatOptions): Chat {
    this.#assertGenerates();
    return startChat({
      template: this.info.chatTemplate,
      vocabulary: () => this.#chatVocabulary(),
      render: (input, signal) => this.#thread.run("renderTemplate", input, { signal }),
      traits: (input, signal) => this.#thread.run("templateTraits", input, { signal }),
      generate: (prompt, settings, owner, signal, sink) => this.#generate(prompt, settings, owner, signal, sink),
    }, options);
  }

  /**
   * Fills the gap between two texts. The model needs the tokens for it, as those made for code have.
   *
   * Throws {@linkcode InvalidArgumentError}, {@linkcode DisposedError} and {@linkcode UnsupportedModelError} as {@linkcode Model.complete} does; the
   * generation rejects with {@linkcode UnsupportedModelError} for a model without those tokens. C: `llama_vocab_fim_pre`, `_suf`, `_mid`.
   */
  infill(prefix: string, suffix: string, options?: InfillOptions): Generation {
    const { prompt, settings } = checkInfill(prefix, suffix, options);
    this.#assertGenerates();
    return startGeneration((signal, sink) => this.#generate(prompt, settings, 0, signal, sink), settings.signal);
  }

  /** The tokens that {@linkcode Model.infill} gives to the model, on the caller's thread; for a model without weights too. Throws as it does. */
  infillTokens(prefix: string, suffix: string, options?: InfillPromptOptions): Int32Array {
    const prompt = checkInfillPrompt(prefix, suffix, options);
    this.#assertAlive();
    return promptTokens(this.#native, this.#loaded.vocab, prompt);
  }

  /**
   * How likely each of some texts is after a prompt. No text is generated.
   *
   * Throws {@linkcode InvalidArgumentError}, {@linkcode DisposedError} and {@linkcode UnsupportedModelError}; rejects with PromptTooLongError,
   * EmptyPromptError or DecodeError, and the signal's reason.
   *
   * ```ts
   * import assert from "node:assert/strict";
   * import { loadModel } from "./load_model.ts";
   * import { defaultModelPath } from "../../models/default_model.ts";
   *
   * await using model = await loadModel(await defaultModelPath());
   * const [paris, rome] = await model.score("The capital of France is", [" Paris", " Rome"]);
   * assert.ok((paris?.logprob ?? 0) > (rome?.logprob ?? 0));
   * ```
   */
  async score(prompt: string, continuations: readonly string[], options?: ScoreOptions): Promise<ContinuationScore[]> {
    const text = checkText("the prompt", prompt);
    const texts = checkContinuations("continuations", continuations, 0);
    return await this.#score(text, texts, checkScore("model.score", options));
  }

  /**
   * Chooses one of several labels by what the model thinks of each: a class, yes or no, a number on a scale.
   *
   * Throws as {@linkcode Model.score} does.
   *
   * ```ts
   * import assert from "node:assert/strict";
   * import { loadModel } from "./load_model.ts";
   * import { defaultModelPath } from "../../models/default_model.ts";
   *
   * await using model = await loadModel(await defaultModelPath());
   * const review = "This film was wonderful, I loved it! Sentiment:";
   * const { label, probability } = await model.choose(review, ["positive", "negative"], { separator: " " });
   * assert.equal(label, "positive");
   * assert.ok(probability > 0.9);
   * ```
   */
  async choose<const L extends string | number>(
    prompt: string,
    labels: readonly L[],
    options?: ChooseOptions,
  ): Promise<Choice<L>> {
    const text = checkText("the prompt", prompt);
    const settings = checkChoose(options);
    const checked = checkLabels(labels, settings.separator);
    return choice(checked.labels, await this.#score(text, checked.texts, settings), settings.compare);
  }

  /**
   * How well the model foresees a text: the lower, the better. A text longer than the context is read in windows that overlap by half.
   *
   * Throws as {@linkcode Model.score} does.
   *
   * ```ts
   * import assert from "node:assert/strict";
   * import { loadModel } from "./load_model.ts";
   * import { defaultModelPath } from "../../models/default_model.ts";
   *
   * await using model = await loadModel(await defaultModelPath());
   * const english = await model.perplexity("The cat sat on the mat.");
   * const mixed = await model.perplexity("mat cat the on The sat.");
   * assert.ok(english.perplexity < mixed.perplexity);
   * ```
   */
  async perplexity(text: string, options?: ScoreOptions): Promise<Perplexity> {
    const checked = checkText("the text", text);
    const { parseSpecial, signal } = checkScore("model.perplexity", options);
    const context = this.#assertGenerates();
    const prompt = { kind: "text" as const, text: checked, parseSpecial };
    return perplexityOf(await this.#thread.run("textScores", { context, prompt }, { signal }));
  }

  /**
   * Loads a LoRA adapter. It works in the requests that name it in their option `lora`.
   *
   * Throws {@linkcode LoraError} for a file that is no adapter or wasn't made for this model, what reading a GGUF file throws,
   * {@linkcode InvalidArgumentError}, and {@linkcode DisposedError}. C: `llama_adapter_lora_init`.
   */
  async loadLora(source: string | URL): Promise<Lora> {
    const path = modelPath(source);
    this.#assertGenerates();
    const info = checkAdapter(path, await readGgufHeader(path), this.#header);
    const context = this.#assertGenerates();
    const adapter = await this.#thread.run("loadLora", { model: this.#loaded.model, path });
    return new Lora(this, adapter, info, async () => {
      // A model frees its adapters with itself.
      if (this.#disposed === undefined && this.#thread.lost === undefined) {
        await this.#thread.run("freeLora", { context, adapter });
      }
    });
  }

  /**
   * Pushes all that the model says from now on in a direction: adds control vectors to what its layers pass on. The vectors take the place of those
   * before; none takes them away.
   *
   * Throws {@linkcode InvalidArgumentError}, {@linkcode ControlVectorError} for one that wasn't made for this model, {@linkcode DisposedError}, and what
   * reading a GGUF file throws. C: `llama_set_adapter_cvec`.
   *
   * ```ts
   * import assert from "node:assert/strict";
   * import { loadModel } from "./load_model.ts";
   * import { defaultModelPath } from "../../models/default_model.ts";
   *
   * await using model = await loadModel(await defaultModelPath());
   * const before = await model.complete("I feel", { temperature: 0, maxTokens: 8 });
   * const direction = new Float32Array(model.info.embeddingSize).map((_, index) => Math.sin(index));
   * await model.setControlVectors([{ source: { 10: direction }, scale: 3 }]);
   * assert.notEqual((await model.complete("I feel", { temperature: 0, maxTokens: 8 })).text, before.text);
   * await model.setControlVectors([]);
   * assert.equal((await model.complete("I feel", { temperature: 0, maxTokens: 8 })).text, before.text);
   * ```
   */
  async setControlVectors(vectors: readonly ControlVector[], options?: ControlVectorOptions): Promise<void> {
    const { embeddingSize } = this.info;
    this.#assertGenerates();
    const data = await readControlVectors(vectors, options, this.info);
    const context = this.#assertGenerates();
    await this.#thread.run("setControlVectors", {
      context,
      embeddingSize,
      vectors: vectors.length === 0 ? undefined : data,
    });
  }

  /**
   * The tokens of a text, on the caller's thread: for a text of a book's length use {@linkcode Model.tokenizeAsync}.
   *
   * Throws {@linkcode InvalidArgumentError} for text that isn't valid UTF-16 or a bad option, {@linkcode DisposedError} after a dispose.
   *
   * ```ts
   * import assert from "node:assert/strict";
   * import { loadModel } from "./load_model.ts";
   * import { defaultModelPath } from "../../models/default_model.ts";
   *
   * await using model = await loadModel(await defaultModelPath());
   * const tokens = model.tokenize("Hello 🌍");
   * assert.equal(model.detokenize(tokens), "Hello 🌍");
   * ```
   */
  tokenize(text: string, options?: TokenizeOptions): Int32Array {
    const checked = checkText("the text", text);
    const flags = tokenizeFlags("model.tokenize", options);
    this.#assertAlive();
    return tokenize(this.#native.lib, this.#loaded.vocab, checked, flags);
  }

  /** {@linkcode Model.tokenize} on the native thread, after the generations that were asked for before. */
  async tokenizeAsync(text: string, options?: TokenizeOptions): Promise<Int32Array> {
    const checked = checkText("the text", text);
    const flags = tokenizeFlags("model.tokenizeAsync", options);
    this.#assertAlive();
    return await this.#thread.run("tokenize", { vocab: this.#loaded.vocab, text: checked, ...flags });
  }

  /**
   * The text of tokens, on the caller's thread. Bytes that are no whole character become U+FFFD.
   *
   * Throws {@linkcode InvalidArgumentError} for a token that isn't in the vocabulary or a bad option, {@linkcode DisposedError} after a dispose.
   */
  detokenize(tokens: Int32Array | readonly number[], options?: DetokenizeOptions): string {
    const checked = checkTokens(tokens, this.info.vocabularySize);
    const flags = detokenizeFlags("model.detokenize", options);
    this.#assertAlive();
    return detokenize(this.#native.lib, this.#loaded.vocab, checked, flags);
  }

  /** {@linkcode Model.detokenize} on the native thread, after the generations that were asked for before. */
  async detokenizeAsync(tokens: Int32Array | readonly number[], options?: DetokenizeOptions): Promise<string> {
    const checked = checkTokens(tokens, this.info.vocabularySize);
    const flags = detokenizeFlags("model.detokenizeAsync", options);
    this.#assertAlive();
    return await this.#thread.run("detokenize", { vocab: this.#loaded.vocab, tokens: checked, ...flags });
  }

  /** Frees the model. Waits for the generations that were asked for; abort them first to be quicker. Later calls throw {@linkcode DisposedError}. */
  dispose(): Promise<void> {
    return this.#disposed ??= this.#free();
  }

  /** {@linkcode Model.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #free(): Promise<void> {
    finalizer.unregister(this);
    try {
      // What ends in an abort while this waits has an error of its own.
      await this.#thread.idle();
      // After an abort nothing of the model may be touched any more.
      if (this.#thread.lost === undefined) await this.#thread.run("unload", this.#loaded).catch(ignoreLostServer);
    } finally {
      await this.#devices?.close();
      await this.#thread[Symbol.asyncDispose]();
    }
  }

  #assertAlive(): void {
    if (this.#disposed === undefined) {
      if (this.#thread.lost !== undefined) throw this.#thread.lost;
      return;
    }
    throw new DisposedError(`the model ${this.info.path} was disposed; load it again`, {
      value: this.info.path,
      expected: "a model that is loaded",
    });
  }

  /** The context of a model that can generate text. */
  #assertGenerates(): Pointer<"llama_context"> {
    this.#assertAlive();
    if (this.#loaded.context === null) {
      throw new UnsupportedModelError(`${this.info.path} has a vocabulary and no weights; it can tokenize only`, {
        value: this.info.path,
        expected: "a model with weights",
      });
    }
    if (this.info.hasEncoder || !this.info.hasDecoder) {
      throw new UnsupportedModelError(
        `${this.info.path} (${this.info.architecture}) isn't a model that goes on with a text`,
        {
          value: this.info.architecture,
          expected: "a decoder-only model",
        },
      );
    }
    return this.#loaded.context;
  }

  async #score(text: string, continuations: readonly string[], settings: ScoreSettings): Promise<ContinuationScore[]> {
    const { parseSpecial, signal } = settings;
    const context = this.#assertGenerates();
    const prompt = { kind: "text" as const, text, parseSpecial };
    const scores = await this.#thread.run("score", { context, prompt, continuations }, { signal });
    return scores.map((score, index) => continuationScore(continuations[index] ?? "", score));
  }

  #chatVocabulary(): Promise<ChatVocabulary> {
    this.#assertAlive();
    return this.#vocabulary ??= this.#thread.run("chatVocabulary", this.#loaded.vocab);
  }

  async #generate(
    prompt: Prompt,
    { sampling, samplerFunctions, grammar, marks, lora, tokenHealing, maxTokens, stop }: GenerationSettings,
    owner: number,
    signal: AbortSignal,
    sink: PieceSink,
  ): Promise<GenerationResult> {
    this.#assertAlive();
    const { context } = this.#loaded;
    if (context === null) throw new TypeError("unreachable");
    const asked = performance.now();
    const hops = samplerFunctions.length === 0
      ? undefined
      : new SamplerRoundTrip(samplerFunctions, this.info.vocabularySize);
    const { wanted } = sink;
    const { hop } = hops ?? {};
    const loras = lora.map(({ adapter, scale }) => ({ pointer: adapter.pointerFor(this), scale }));
    const shared = { context, prompt, sampling, grammar, marks, hop, tokenHealing, maxTokens, stop, owner, wanted };
    const input = { ...shared, loras };
    const onMessage = (message: GenerateMessage): void => {
      if (typeof message === "string") sink.push(message);
      else if (!signal.aborted) hops?.answer(message);
    };
    try {
      const output = await this.#thread.run("generate", input, { signal, onMessage });
      return generationResult(output, sampling.seed, performance.now() - asked);
    } catch (error) {
      throw error instanceof SamplerError && hops?.failure !== undefined ? hops.failure.error : error;
    }
  }
}

function textOf(header: GgufHeader, key: string): string | undefined {
  const value = header.metadata.get(key);
  return typeof value === "string" ? value : undefined;
}
