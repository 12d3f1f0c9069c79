import { ChatTemplateError } from "../../errors.ts";
import { findAnswerForm } from "./answer_forms.ts";
import type { Guard } from "./special_token_guard.ts";
import { guardValues } from "./guard_values.ts";
import { templateConversation, templateWords } from "./messages.ts";
import type { ChatMessage } from "./message.ts";
import { closingOf } from "./reasoning.ts";
import type { Prompt } from "../thread/protocol.ts";
import type { ChatVocabulary } from "../thread/special_tokens.ts";
import type { RenderInput } from "../thread/template/render.ts";
import type { TemplateTraits, TraitsInput } from "../thread/template/traits.ts";
import { type AnswerForm, answerForm } from "../tools/parsers/detect.ts";
import type { Tool } from "../tools/tool.ts";

/** What the prompts of a chat need of its model. */
export interface PromptHost {
  /** The model's own template. */
  readonly template: string | undefined;
  /** Its control tokens, and the texts of its start and end tokens. */
  vocabulary(): Promise<ChatVocabulary>;
  /** Renders a conversation, elsewhere than on this thread: a template can take long. */
  render(input: RenderInput, signal: AbortSignal): Promise<string>;
  /** Finds out what a template can do, elsewhere as well. */
  traits(input: TraitsInput, signal: AbortSignal): Promise<TemplateTraits>;
}

/** What a prompt is made of. */
export interface PromptInput {
  /** The conversation so far. */
  readonly messages: readonly ChatMessage[];
  /** The tools that the model is told of. */
  readonly tools: readonly Tool[];
  /** Variables of the template. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** What the answer begins with. */
  readonly prefill: string;
}

/** A prompt, and how the answer to it is read. */
export interface ChatPrompt {
  /** The prompt. */
  readonly prompt: Prompt;
  /** How the answer is read. */
  readonly form: AnswerForm;
  /** Whether the prompt has begun what the model thinks. */
  readonly inReasoning: boolean;
  /** What the prompt has put before the prefill. */
  readonly prefix: string;
}

/** Everything that one template and one model need for prompts. */
export class PromptMaker {
  readonly #host: PromptHost;
  readonly #source: string | undefined;
  #traits: Promise<TemplateTraits> | undefined;

  /** With a template, or the model's own. */
  constructor(host: PromptHost, template: string | undefined) {
    this.#host = host;
    this.#source = template ?? host.template;
  }

  /** The template. Throws {@linkcode ChatTemplateError} when there is none. */
  get source(): string {
    if (this.#source !== undefined) return this.#source;
    throw new ChatTemplateError(
      "this model has no chat template; give one by the option template of model.chat, or use model.complete",
      {
        expected: "a chat template",
      },
    );
  }

  /** The prompt for an answer. */
  async make(input: PromptInput, signal: AbortSignal): Promise<ChatPrompt> {
    const { source } = this;
    const vocabulary = await this.#host.vocabulary();
    const first = needsTraits(input) ? await this.#known(vocabulary, signal) : plainTraits;
    let traits = first;
    let made = await this.#render(input, traits, vocabulary, signal).catch(async (error: unknown) => {
      if (first !== plainTraits || !(error instanceof ChatTemplateError) || systemOf(input) === undefined) throw error;
      traits = await this.#known(vocabulary, signal);
      if (traits.system) throw error;
      return await this.#render(input, traits, vocabulary, signal);
    });
    if (traits === plainTraits && !made.text.includes(systemOf(input) ?? "")) {
      traits = await this.#known(vocabulary, signal);
      if (!traits.system) made = await this.#render(input, traits, vocabulary, signal);
    }
    const given = { source, variables: input.variables, tools: input.tools.length > 0 };
    const form = await findAnswerForm(this.#host, given, traits, vocabulary, signal);
    const opens = form.reasoning !== undefined && made.text.trimEnd().endsWith(form.reasoning.open);
    const prefix = input.prefill === "" ? "" : leadingOver(form, opens);
    return {
      prompt: { kind: "template", text: made.text + prefix + made.prefill, guard: made.guard },
      // A model that was told of the tools in our words writes calls as these say.
      form: traits.tools ? form : { ...form, family: answerForm("").family },
      inReasoning: opens && prefix === "",
      prefix: opens ? "" : prefix,
    };
  }

  async #render(
    input: PromptInput,
    traits: TemplateTraits,
    { special, startToken, endToken }: ChatVocabulary,
    signal: AbortSignal,
  ): Promise<{ text: string; prefill: string; guard: Guard | undefined }> {
    const { source } = this;
    const conversation = templateConversation(input.messages, input.tools, traits);
    const { values, guard } = guardValues({ ...conversation, prefill: input.prefill }, special, templateWords);
    const { messages, tools, prefill } = values;
    const text = await this.#host.render(
      { source, messages, tools, variables: input.variables, startToken, endToken },
      signal,
    );
    return { text, prefill, guard };
  }

  #known({ startToken, endToken }: ChatVocabulary, signal: AbortSignal): Promise<TemplateTraits> {
    if (this.#traits !== undefined) return this.#traits;
    const traits = this.#host.traits({ source: this.source, startToken, endToken }, signal);
    // Once it was cancelled it has to be found out again.
    traits.catch(() => this.#traits = undefined);
    return this.#traits = traits;
  }
}

/** What every template shows. */
const plainTraits: TemplateTraits = { system: true, tools: true, calls: "object", results: true };

function needsTraits({ messages, tools }: PromptInput): boolean {
  return tools.length > 0 || messages.some(({ role, toolCalls }) => role === "tool" || toolCalls !== undefined);
}

/** The start of the system message, as far as templates leave it as it is. */
function systemOf({ messages }: PromptInput): string | undefined {
  const [first] = messages;
  return first?.role === "system" ? /\w+/.exec(first.content)?.[0] : undefined;
}

/** What stands between a prompt and the text of an answer. */
function leadingOver({ family, reasoning }: AnswerForm, opens: boolean): string {
  if (opens && reasoning !== undefined) return closingOf(reasoning);
  return family.answerStart ?? "";
}
