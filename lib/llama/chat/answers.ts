import { type AnswerCall, AnswerReader, malformed } from "./answer_reader.ts";
import { answerMarks } from "./answer_marks.ts";
import { HeldOutput } from "./attempts.ts";
import { CallGrammars } from "./call_grammars.ts";
import type { ChatHost } from "./host.ts";
import type { ChatMessage } from "./message.ts";
import type { ChatSendSettings, ChatSettings } from "./options.ts";
import { type ChatPrompt, PromptMaker } from "./prompt.ts";
import type { Round } from "./rounds.ts";
import type { ChatEvent } from "./turn.ts";
import { attemptSeed } from "../generation/attempts.ts";
import type { PieceSink } from "../generation/generation.ts";
import type { GenerationSettings } from "../generation/options.ts";
import type { Tool } from "../tools/check_tools.ts";
import { toolShapes } from "../tools/parsers/shapes.ts";
import { problemOf } from "../tools/runner.ts";

/** The input of one answer of a turn. */
export interface AnswerInput {
  /** The options of the turn. */
  readonly settings: ChatSendSettings;
  /** The conversation so far. */
  readonly messages: readonly ChatMessage[];
  /** The answers of this turn so far. */
  readonly rounds: readonly Round[];
  /** Cancels it. */
  readonly signal: AbortSignal;
  /** Takes the text. */
  readonly sink: PieceSink;
  /** Takes the events. */
  emit(event: ChatEvent): void;
  /** Returns whether a whole text is valid; `undefined` where any text is. */
  readonly accepts: ((text: string) => Promise<boolean>) | undefined;
  /** Takes the message of an answer that was cut off by an error. */
  onPartial(message: ChatMessage): void;
}

/** A prompt, and the settings of an answer to it. */
interface Asked {
  readonly prompt: ChatPrompt;
  readonly tools: readonly Tool[];
  readonly prefill: string;
  readonly generation: GenerationSettings;
}

let chats = 0;

/** Makes the answers of one chat. */
export class Answers {
  readonly #host: ChatHost;
  readonly #settings: ChatSettings;
  readonly #prompts: PromptMaker;
  readonly #grammars = new CallGrammars();
  readonly #owner = ++chats;

  /** For a chat with these options. */
  constructor(host: ChatHost, settings: ChatSettings) {
    this.#host = host;
    this.#settings = settings;
    this.#prompts = new PromptMaker(host, settings.template);
  }

  /** Makes one answer, by as many attempts as it takes and the options allow. */
  async answer(input: AnswerInput): Promise<Round> {
    const asked = await this.#ask(input);
    const { accepts, settings: { maxAttempts } } = input;
    if (maxAttempts === 1 || (asked.tools.length === 0 && accepts === undefined)) {
      return await this.#generate(asked, input);
    }
    const { sampling } = asked.generation;
    for (let attempt = 0;; attempt++) {
      const held = new HeldOutput(input.sink);
      const generation = { ...asked.generation, sampling: { ...sampling, seed: attemptSeed(sampling.seed, attempt) } };
      const round = await this.#generate({ ...asked, generation }, { ...input, sink: held.sink, emit: held.emit });
      const last = attempt + 1 === maxAttempts;
      if (!last && !(await isValid(round, asked.tools))) continue;
      if (accepts !== undefined && !(round.result.stopReason === "eos" && await accepts(round.answer.text))) {
        if (!last) continue;
        // What isn't valid is in the error alone.
        if (round.result.stopReason === "eos") return round;
      }
      held.release(input.sink, (event) => input.emit(event));
      return round;
    }
  }

  async #ask({ settings, messages, rounds, signal }: AnswerInput): Promise<Asked> {
    const first = rounds.length === 0;
    const tools = this.#toolsFor(settings, first);
    const prefill = first ? settings.prefill : "";
    const variables = { enable_thinking: settings.reasoning.enabled, ...this.#settings.variables };
    const prompt = await this.#prompts.make({ messages, tools, variables, prefill }, signal);
    signal.throwIfAborted();
    const isConstrained = tools.length > 0 && settings.constrain;
    const grammar = isConstrained
      ? this.#grammars.grammarFor(tools, prompt, this.#prompts.source, { ...settings, first })
      : undefined;
    const generation = {
      ...settings.generation,
      ...(grammar === undefined ? {} : { grammar }),
      marks: answerMarks(prompt, settings.reasoning, tools.length > 0),
      maxTokens: settings.generation.maxTokens === undefined ? undefined : tokensLeft(settings, rounds),
    };
    return { prompt, tools, prefill, generation };
  }

  async #generate({ prompt, tools, prefill, generation }: Asked, input: AnswerInput): Promise<Round> {
    const { messages, rounds, signal, sink } = input;
    const reader = new AnswerReader(
      prompt.form,
      toolShapes(tools),
      {
        inReasoning: prompt.inReasoning,
        calls: tools.length > 0,
        prefix: prompt.prefix,
        prefill,
        separator: rounds.some(({ answer }) => answer.text !== "") ? "\n\n" : "",
        firstCall: messages.reduce((count, { toolCalls }) => count + (toolCalls?.length ?? 0), 0),
      },
      sink,
      (event) => input.emit(event),
    );
    const { wanted } = sink;
    const push = (piece: string): void => reader.push(piece);
    const result = await this.#host.generate(prompt.prompt, generation, this.#owner, signal, { wanted, push }).catch(
      (error: unknown) => {
        const { text, reasoning } = reader.finish("");
        if (text !== "") input.onPartial(messageOf(prefill + text, reasoning, []));
        throw error;
      },
    );
    const answer = reader.finish(result.text);
    const whole = result.stopReason === "eos";
    const calls = answer.calls.filter(({ call }) => call !== undefined || whole);
    return {
      answer,
      calls,
      message: messageOf(prefill + answer.text, answer.reasoning, calls),
      malformed: answer.calls.filter(({ call }) => call === undefined).map(({ parsed }) => malformed(parsed)),
      result,
    };
  }

  #toolsFor({ toolChoice }: ChatSendSettings, first: boolean): readonly Tool[] {
    const { tools } = this.#settings;
    if (toolChoice === "none") return [];
    return first && typeof toolChoice === "object" ? tools.filter(({ name }) => name === toolChoice.name) : tools;
  }
}

/** Returns whether all calls of an answer can be run. */
async function isValid({ calls, malformed }: Round, tools: readonly Tool[]): Promise<boolean> {
  const problems = await Promise.all(calls.map((call) => problemOf(call, tools)));
  return malformed.length === 0 && problems.every((problem) => problem === undefined);
}

/** Returns how many tokens of the turn's are left. */
export function tokensLeft({ generation }: ChatSendSettings, rounds: readonly Round[]): number {
  const used = rounds.reduce((sum, { result }) => sum + result.tokens.length, 0);
  return (generation.maxTokens ?? Infinity) - used;
}

function messageOf(content: string, reasoning: string, calls: readonly AnswerCall[]): ChatMessage {
  const toolCalls = calls.map(({ id, parsed, call }) => call ?? { id, name: parsed.name, arguments: {} });
  return {
    role: "assistant",
    content,
    ...(reasoning === "" ? {} : { reasoning }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
}
