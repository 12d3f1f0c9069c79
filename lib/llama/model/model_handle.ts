import type { Native } from "../../../ffi/native.ts";
import type { NativeThread } from "../../../ffi/thread/native_thread.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import { DisposedError, RemoteLostError, SamplerError, UnsupportedModelError } from "../../errors.ts";
import type { GgufHeader } from "../../gguf/header.ts";
import type { ChatHost } from "../chat/chat.ts";
import type { GenerationResult, PieceSink } from "../generation/generation.ts";
import type { GenerationSettings } from "../generation/options.ts";
import { generationResult } from "../generation/result.ts";
import { loraPointer } from "../adapters/lora.ts";
import { CallerSamplers } from "../sampling/caller_sampler.ts";
import type { GenerateMessage, LoadedModel, Prompt } from "../thread/protocol.ts";
import type { ChatVocabulary } from "../thread/special_tokens.ts";
import type { LlamaTasks } from "../thread/tasks.ts";
import type { OpenDevices } from "./devices.ts";
import { type ModelInfo, modelInfo } from "./info.ts";

/** The native thread of a model. */
export type ModelThread = NativeThread<LlamaTasks>;

/** The parts of a model that was loaded. */
export interface ModelParts {
  /** The libraries, on the caller's thread. */
  readonly native: Native;
  /** The thread that the model was loaded on. */
  readonly thread: ModelThread;
  /** The model. */
  readonly loaded: LoadedModel;
  /** The header of its file. */
  readonly header: GgufHeader;
  /** The path of its file. */
  readonly path: string;
  /** The devices that were opened for it. */
  readonly devices: OpenDevices | undefined;
}

/** State that the finalizer needs to free an undisposed model. */
type FinalizerState = Pick<ModelParts, "thread" | "loaded">;

const finalizer = new FinalizationRegistry<FinalizerState>(({ thread, loaded }) => {
  thread.run("unload", loaded).catch(() => {});
  thread[Symbol.asyncDispose]().catch(() => {});
});

/**
 * A loaded model on its native thread, shared by the objects that work with it: the model itself, its chats and adapters. The model is freed by
 * {@linkcode ModelHandle.dispose}, or once none of them is left.
 */
export class ModelHandle {
  /** The libraries, on the caller's thread. */
  readonly native: Native;
  /** The header of the model's file. */
  readonly header: GgufHeader;
  /** Facts about the model. */
  readonly info: Readonly<ModelInfo>;
  readonly #thread: ModelThread;
  readonly #loaded: LoadedModel;
  readonly #devices: OpenDevices | undefined;
  readonly #underWay = new Set<Promise<void>>();
  #disposed: Promise<void> | undefined;
  #vocabulary: Promise<ChatVocabulary> | undefined;

  /** Takes over a model that was loaded. */
  constructor({ native, thread, loaded, header, path, devices }: ModelParts) {
    this.native = native;
    this.header = header;
    this.info = modelInfo(header, path, loaded.facts);
    this.#thread = thread;
    this.#loaded = loaded;
    this.#devices = devices;
    finalizer.register(this, { thread, loaded }, this);
  }

  /** Whether {@linkcode ModelHandle.dispose} was called. */
  get disposed(): boolean {
    return this.#disposed !== undefined;
  }

  /** Whether its memory can't be touched anymore: it is being freed, or its thread is lost. */
  get gone(): boolean {
    return this.disposed || this.#thread.lost !== undefined;
  }

  /** The vocabulary. Throws as {@linkcode ModelHandle.assertAlive} does. */
  get vocab(): Pointer<"llama_vocab"> {
    this.assertAlive();
    return this.#loaded.vocab;
  }

  /** Runs a task on the native thread, see NativeThread. */
  get run(): ModelThread["run"] {
    return this.#thread.run.bind(this.#thread);
  }

  /** Throws DisposedError after a dispose, and the error that the native thread was lost by. */
  assertAlive(): void {
    if (this.#disposed === undefined) {
      if (this.#thread.lost !== undefined) throw this.#thread.lost;
      return;
    }
    throw new DisposedError(`the model ${this.info.path} was disposed; load it again`, {
      value: this.info.path,
      expected: "a model that is loaded",
    });
  }

  /** Returns model and context. Throws as {@linkcode ModelHandle.assertAlive} does, and UnsupportedModelError for a model that can't generate text. */
  generating(): { model: Pointer<"llama_model">; context: Pointer<"llama_context"> } {
    this.assertAlive();
    const { model, context } = this.#loaded;
    const { path, architecture, hasEncoder, hasDecoder } = this.info;
    if (context === null) {
      throw new UnsupportedModelError(`${path} has a vocabulary and no weights; it can tokenize only`, {
        value: path,
        expected: "a model with weights",
      });
    }
    if (hasEncoder || !hasDecoder) {
      throw new UnsupportedModelError(`${path} (${architecture}) isn't a model that generates text`, {
        value: architecture,
        expected: "a decoder-only model",
      });
    }
    return { model, context };
  }

  /** Does work of several tasks; a dispose that is asked for meanwhile waits for its end. Rejects as {@linkcode ModelHandle.assertAlive} throws. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.assertAlive();
    const ended = Promise.withResolvers<void>();
    this.#underWay.add(ended.promise);
    try {
      return await work();
    } finally {
      this.#underWay.delete(ended.promise);
      ended.resolve();
    }
  }

  /** Generates text. What begins it was admitted by {@linkcode ModelHandle.during}. */
  async generate(
    prompt: Prompt,
    settings: GenerationSettings,
    owner: number,
    signal: AbortSignal,
    sink: PieceSink,
  ): Promise<GenerationResult> {
    const { context } = this.#loaded;
    if (context === null) throw new TypeError("unreachable");
    const { sampling, samplerFunctions, marks, lora, tokenHealing, maxTokens, stop } = settings;
    const asked = performance.now();
    // Not awaited without need: requests run in the order of their calls.
    const grammar = settings.lateGrammar === undefined
      ? settings.grammar
      : await settings.lateGrammar.ready(this.native, signal);
    const callers = samplerFunctions.length === 0
      ? undefined
      : new CallerSamplers(samplerFunctions, this.info.vocabularySize);
    const loras = lora.map(({ adapter, scale }) => ({ pointer: loraPointer(adapter, this), scale }));
    const { wanted } = sink;
    const { exchange } = callers ?? {};
    const shared = {
      context,
      prompt,
      sampling,
      grammar,
      marks,
      exchange,
      tokenHealing,
      maxTokens,
      stop,
      owner,
      wanted,
    };
    const onMessage = (message: GenerateMessage): void => {
      if (typeof message === "string") sink.push(message);
      else if (!signal.aborted) callers?.answer(message);
    };
    try {
      const output = await this.#thread.run("generate", { ...shared, loras }, { signal, onMessage });
      return generationResult(output, sampling.seed, performance.now() - asked);
    } catch (error) {
      throw error instanceof SamplerError && callers?.failure !== undefined ? callers.failure.error : error;
    }
  }

  /** Returns what a chat needs of the model. */
  chatHost(): ChatHost {
    return {
      template: this.info.chatTemplate,
      during: (work) => this.during(work),
      vocabulary: () => this.#vocabulary ??= this.#thread.run("chatVocabulary", this.#loaded.vocab),
      render: (input, signal) => this.#thread.run("renderTemplate", input, { signal }),
      traits: (input, signal) => this.#thread.run("templateTraits", input, { signal }),
      generate: (prompt, settings, owner, signal, sink) => this.generate(prompt, settings, owner, signal, sink),
    };
  }

  /** Frees the model once the work that was asked for has ended. */
  dispose(): Promise<void> {
    return this.#disposed ??= this.#free();
  }

  async #free(): Promise<void> {
    finalizer.unregister(this);
    try {
      await Promise.all(this.#underWay);
      // What ends in an abort while this waits has an error of its own.
      await this.#thread.idle();
      // After an abort nothing of the model may be touched any more.
      if (this.#thread.lost === undefined) await this.#thread.run("unload", this.#loaded).catch(ignoreLostServer);
    } finally {
      await this.#devices?.close();
      await this.#thread[Symbol.asyncDispose]();
    }
  }
}

/** A server that was lost has nothing left to free. */
function ignoreLostServer(error: unknown): void {
  if (!(error instanceof RemoteLostError)) throw error;
}
