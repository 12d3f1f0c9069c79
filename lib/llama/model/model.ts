import { checkText } from "../../../base/check.ts";
import { definePicture, sizePicture } from "../../../base/inspect.ts";
import { type GgufValue, readGgufHeader } from "../../gguf/header.ts";
import { modelPath } from "../../models/model_path.ts";
import { type ControlVector, type ControlVectorOptions, readControlVectors } from "../adapters/control_vectors.ts";
import { checkAdapter, createLora, type Lora } from "../adapters/lora.ts";
import { type Chat, type ChatOptions, startChat } from "../chat/chat.ts";
import { runAttempts } from "../generation/attempts.ts";
import { type Generation, startGeneration } from "../generation/generation.ts";
import { checkInfill, checkInfillPrompt, type InfillOptions, type InfillPromptOptions } from "../generation/infill.ts";
import { checkCompletion, type CompletionOptions } from "../generation/options.ts";
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
import {
  planResult,
  type ResultSchema,
  type StructuredOptions,
  type StructuredResultOf,
} from "../generation/structured.ts";
import { promptTokens } from "../thread/prompt.ts";
import type { Prompt } from "../thread/protocol.ts";
import { detokenize, tokenize } from "../thread/tokenizer.ts";
import type { ModelInfo } from "./info.ts";
import type { ModelHandle } from "./model_handle.ts";
import { detokenizeFlags, type DetokenizeOptions, tokenizeFlags, type TokenizeOptions } from "./tokenize_options.ts";
import { checkTokens } from "./vocab_check.ts";

let create: (handle: ModelHandle) => Model;

/**
 * A loaded model with its context. Made by `loadModel`.
 *
 * Generations on one model run one after another, in the order in which they were asked for. Dispose it when it is no longer needed, best by
 * `await using`: the work that was asked for is finished first.
 */
export class Model implements AsyncDisposable {
  static {
    create = (handle) => new Model(handle);
    definePicture(Model, "Model", ({ info, disposed }) => {
      if (disposed) return `${info.name ?? info.description} (disposed)`;
      const { name, description, byteSize, contextSize, devices } = info;
      const parts = [name ?? description, sizePicture(byteSize), `context ${contextSize}`, ...devices];
      return parts.join(", ");
    });
  }

  readonly #handle: ModelHandle;

  private constructor(handle: ModelHandle) {
    this.#handle = handle;
  }

  /** Facts about the model. */
  get info(): Readonly<ModelInfo> {
    return this.#handle.info;
  }

  /** The metadata of its file; arrays are left in the file. */
  get metadata(): ReadonlyMap<string, GgufValue> {
    return this.#handle.header.metadata;
  }

  /** Whether {@linkcode Model.dispose} was called. */
  get disposed(): boolean {
    return this.#handle.disposed;
  }

  /**
   * Continues a prompt by JSON that is valid against a schema; the result has a `value`. See {@linkcode StructuredOptions}.
   *
   * Also throws {@linkcode JsonSchemaError} and its subclasses at once for a schema that no grammar can express; the generation rejects with
   * {@linkcode SchemaValidationError} when the value fails checks that no grammar makes, in each of `maxAttempts`.
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
  /**
   * Continues a prompt. The work starts at once, from an empty context.
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
  complete(prompt: string, options?: CompletionOptions): Generation {
    const text = checkText("the prompt", prompt);
    const plan = planResult(options);
    const settings = plan.constrain(checkCompletion("model.complete", plan.options));
    this.#handle.generating();
    const asked: Prompt = { kind: "text", text, parseSpecial: settings.parseSpecial };
    return startGeneration(
      (signal, sink) =>
        this.#handle.during(() =>
          runAttempts(plan, settings.sampling.seed, sink, (seed, to) => {
            const own = { ...settings, sampling: { ...settings.sampling, seed } };
            return this.#handle.generate(asked, own, 0, signal, to);
          })
        ),
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
    this.#handle.generating();
    return startChat(this.#handle.chatHost(), options);
  }

  /**
   * Generates the text between a prefix and a suffix. The model needs the tokens for it, as models made for code have.
   *
   * Throws {@linkcode InvalidArgumentError}, {@linkcode DisposedError} and {@linkcode UnsupportedModelError} as {@linkcode Model.complete} does; the
   * generation rejects with {@linkcode UnsupportedModelError} for a model without those tokens. C: `llama_vocab_fim_pre`, `_suf`, `_mid`.
   */
  infill(prefix: string, suffix: string, options?: InfillOptions): Generation {
    const { prompt, settings } = checkInfill(prefix, suffix, options);
    this.#handle.generating();
    return startGeneration(
      (signal, sink) => this.#handle.during(() => this.#handle.generate(prompt, settings, 0, signal, sink)),
      settings.signal,
    );
  }

  /** Returns the tokens that {@linkcode Model.infill} gives to the model, on the caller's thread; also for a model without weights. Throws as it does. */
  infillTokens(prefix: string, suffix: string, options?: InfillPromptOptions): Int32Array {
    const prompt = checkInfillPrompt(prefix, suffix, options);
    return promptTokens(this.#handle.native, this.#handle.vocab, prompt);
  }

  /**
   * Returns how likely each of some texts is after a prompt. No text is generated.
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
   * Chooses one of several labels by their probabilities after a prompt: a class, yes or no, a number on a scale.
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
   * Returns the perplexity of a text: the lower, the better the model predicts it. A text longer than the context is read in windows that overlap by
   * half.
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
    const { context } = this.#handle.generating();
    const prompt = { kind: "text" as const, text: checked, parseSpecial };
    return perplexityOf(await this.#handle.run("textScores", { context, prompt }, { signal }));
  }

  /**
   * Loads a LoRA adapter. It applies to the requests that name it in their option `lora`.
   *
   * Throws {@linkcode LoraError} for a file that isn't an adapter or was made for another model, what reading a GGUF file throws,
   * {@linkcode InvalidArgumentError}, and {@linkcode DisposedError}. C: `llama_adapter_lora_init`.
   */
  async loadLora(source: string | URL): Promise<Lora> {
    const path = modelPath(source);
    const { model, context } = this.#handle.generating();
    return await this.#handle.during(async () => {
      const info = checkAdapter(path, await readGgufHeader(path), this.#handle.header);
      const adapter = await this.#handle.run("loadLora", { model, path });
      return createLora(this.#handle, adapter, info, async () => {
        // A model frees its adapters with itself.
        if (!this.#handle.gone) await this.#handle.run("freeLora", { context, adapter });
      });
    });
  }

  /**
   * Adds control vectors to the layer outputs of later generations. They replace the vectors that were set before; an empty list removes them.
   *
   * Throws {@linkcode InvalidArgumentError}, {@linkcode ControlVectorError} for one that was made for another model, {@linkcode DisposedError}, and what
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
    const { context } = this.#handle.generating();
    await this.#handle.during(async () => {
      const data = await readControlVectors(vectors, options, this.info);
      const used = vectors.length === 0 ? undefined : data;
      await this.#handle.run("setControlVectors", { context, embeddingSize, vectors: used });
    });
  }

  /**
   * Returns the tokens of a text. It runs on the caller's thread: for a text as long as a book use {@linkcode Model.tokenizeAsync}.
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
    return tokenize(this.#handle.native.lib, this.#handle.vocab, checked, flags);
  }

  /** Returns the tokens of a text; runs on the native thread, after the generations that were asked for before. Rejects as {@linkcode Model.tokenize} throws. */
  async tokenizeAsync(text: string, options?: TokenizeOptions): Promise<Int32Array> {
    const checked = checkText("the text", text);
    const flags = tokenizeFlags("model.tokenizeAsync", options);
    return await this.#handle.run("tokenize", { vocab: this.#handle.vocab, text: checked, ...flags });
  }

  /**
   * Returns the text of tokens. It runs on the caller's thread. Bytes that aren't a whole character become U+FFFD.
   *
   * Throws {@linkcode InvalidArgumentError} for a token that isn't in the vocabulary or a bad option, {@linkcode DisposedError} after a dispose.
   */
  detokenize(tokens: Int32Array | readonly number[], options?: DetokenizeOptions): string {
    const checked = checkTokens(tokens, this.info.vocabularySize);
    const flags = detokenizeFlags("model.detokenize", options);
    return detokenize(this.#handle.native.lib, this.#handle.vocab, checked, flags);
  }

  /** Returns the text of tokens; runs on the native thread, after the generations that were asked for before. Rejects as {@linkcode Model.detokenize} throws. */
  async detokenizeAsync(tokens: Int32Array | readonly number[], options?: DetokenizeOptions): Promise<string> {
    const checked = checkTokens(tokens, this.info.vocabularySize);
    const flags = detokenizeFlags("model.detokenizeAsync", options);
    return await this.#handle.run("detokenize", { vocab: this.#handle.vocab, tokens: checked, ...flags });
  }

  /**
   * Frees the model. Generations, chat turns and other work that was asked for before end first; abort them to be quicker. Later calls throw
   * {@linkcode DisposedError}. Don't wait for it in the handler of a tool, whose turn it waits for.
   */
  dispose(): Promise<void> {
    return this.#handle.dispose();
  }

  /** Calls {@linkcode Model.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #score(text: string, continuations: readonly string[], settings: ScoreSettings): Promise<ContinuationScore[]> {
    const { parseSpecial, signal } = settings;
    const { context } = this.#handle.generating();
    const prompt = { kind: "text" as const, text, parseSpecial };
    const scores = await this.#handle.run("score", { context, prompt, continuations }, { signal });
    return scores.map((score, index) => continuationScore(continuations[index] ?? "", score));
  }
}

/** Returns the model of a handle. */
export function createModel(handle: ModelHandle): Model {
  return create(handle);
}
