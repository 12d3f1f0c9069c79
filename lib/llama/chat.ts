import { ChatTemplateError, InvalidArgumentError } from "../errors.ts";
import { checkOneOf, checkOptions, checkText, show } from "../options.ts";
import { guardContents } from "./chat_guard.ts";
import type { ChatMessage } from "./chat_template.ts";
import { Generation, type GenerationResult, type PieceSink } from "./generation.ts";
import { checkGeneration, type GenerationOptions, type GenerationSettings } from "./generation_options.ts";
import { planResult, type ResultSchema, type StructuredOptions, type StructuredResultOf } from "./schema/structured.ts";
import type { Prompt } from "./thread/protocol.ts";
import type { ChatVocabulary } from "./thread/special_tokens.ts";
import type { RenderInput } from "./thread/template.ts";

/** How a conversation begins. */
export interface ChatOptions {
  /** What the model is told about how to answer: a system message before all others. Default none. */
  system?: string | undefined;
  /** The chat template, in Jinja. Default the model's own. C: `tokenizer.chat_template` in the file. */
  template?: string | undefined;
  /** Messages that were exchanged before, such as the `history` of another chat. Default none. */
  history?: readonly ChatMessage[] | undefined;
}

/** What a chat needs of its model. */
export interface ChatHost {
  /** The model's own template. */
  readonly template: string | undefined;
  /** Its control tokens, and the texts of its start and end tokens. */
  vocabulary(): Promise<ChatVocabulary>;
  /** Renders a conversation, elsewhere than on this thread: a template can take long. */
  render(input: RenderInput, signal: AbortSignal): Promise<string>;
  /** Generates an answer. */
  generate(
    prompt: Prompt,
    settings: GenerationSettings,
    owner: number,
    signal: AbortSignal,
    sink: PieceSink,
  ): Promise<GenerationResult>;
}

let chats = 0;

/**
 * A conversation: it keeps what was said, and what of it is still in the context's memory isn't computed again. A turn that fails or is cancelled
 * leaves no trace. Answers are made one after another.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadModel } from "./model.ts";
 * import { defaultModelPath } from "../models/default_model.ts";
 *
 * await using model = await loadModel(await defaultModelPath());
 * const chat = model.chat({ system: "You are a helpful assistant." });
 * const { text } = await chat.send("What is the capital of France?", { temperature: 0, maxTokens: 32 });
 * assert.match(text, /Paris/);
 * assert.equal(chat.history.length, 3);
 * ```
 */
export class Chat {
  readonly #host: ChatHost;
  readonly #id = ++chats;
  readonly #source: string | undefined;
  readonly #messages: ChatMessage[];
  #turn: Promise<unknown> = Promise.resolve();

  /** Begins a conversation. Chats are made by `model.chat`. */
  constructor(host: ChatHost, options: ChatOptions | undefined) {
    const { system, template, history } = checkOptions("model.chat", options, ["system", "template", "history"]);
    this.#host = host;
    this.#source = template === undefined ? host.template : checkText("template", template);
    this.#messages = checkHistory(history);
    if (system !== undefined) this.#messages.unshift({ role: "system", content: checkText("system", system) });
  }

  /** All messages so far, the system message too: a copy. */
  get history(): ChatMessage[] {
    return this.#messages.map((message) => ({ ...message }));
  }

  /**
   * Says something and gets the answer. The text is never read as control tokens.
   *
   * Throws {@linkcode InvalidArgumentError} at once for a bad option. The generation rejects with {@linkcode ChatTemplateError} when there is no
   * template, it refuses the messages or takes more than a template may, and with what `model.complete` rejects with.
   */
  send(text: string, options?: GenerationOptions): Generation;
  /** Says something and gets JSON that is valid against a schema; the result has a `value`. See {@linkcode StructuredOptions}. */
  send<const S extends ResultSchema>(
    text: string,
    options: GenerationOptions & StructuredOptions<S>,
  ): Generation<StructuredResultOf<S>>;
  send(text: string, options?: GenerationOptions): Generation {
    const content = checkText("the message", text);
    const { options: plain, finish } = planResult(options);
    const settings = checkGeneration("chat.send", plain);
    const before = this.#turn;
    const generation = new Generation(
      async (signal, sink) => finish(await this.#answer(before, content, settings, signal, sink)),
      settings.signal,
    );
    // One that is cancelled while it waits ends before its turn: those behind it wait for the turn all the same.
    this.#turn = generation.then(() => before, () => before);
    return generation;
  }

  async #answer(
    before: Promise<unknown>,
    content: string,
    settings: GenerationSettings,
    signal: AbortSignal,
    sink: PieceSink,
  ): Promise<GenerationResult> {
    await unlessAborted(before, signal);
    const question: ChatMessage = { role: "user", content };
    const prompt = await this.#prompt([...this.#messages, question], signal);
    signal.throwIfAborted();
    const result = await this.#host.generate(prompt, settings, this.#id, signal, sink);
    this.#messages.push(question, { role: "assistant", content: result.text });
    return result;
  }

  async #prompt(messages: readonly ChatMessage[], signal: AbortSignal): Promise<Prompt> {
    const source = this.#source;
    if (source === undefined) {
      throw new ChatTemplateError(
        "this model has no chat template; give one by the option template of model.chat, or use model.complete",
        {
          expected: "a chat template",
        },
      );
    }
    const { special, startToken, endToken } = await this.#host.vocabulary();
    const { contents, guard } = guardContents(messages.map((message) => message.content), special);
    const guarded = messages.map((message, index) => ({ role: message.role, content: contents[index] ?? "" }));
    const text = await this.#host.render({ source, messages: guarded, startToken, endToken }, signal);
    return { kind: "template", text, guard };
  }
}

/** Waits, but not beyond an abort. */
async function unlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function checkHistory(history: unknown): ChatMessage[] {
  if (history === undefined) return [];
  if (!Array.isArray(history)) {
    throw new InvalidArgumentError(`history is ${show(history)}; give an array of messages`, {
      value: history,
      expected: "an array of messages",
    });
  }
  return history.map((message: unknown, index) => {
    const { role, content } = checkOptions(`history[${index}]`, message as ChatMessage, ["role", "content"]);
    return {
      role: checkOneOf(`history[${index}].role`, role, ["system", "user", "assistant"]),
      content: checkText(`history[${index}].content`, content),
    };
  });
}
