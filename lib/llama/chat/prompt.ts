import { ChatTemplateError } from "../../errors.ts";
import { findAnswerForm } from "./answer_forms.ts";
import { type ConversationForm, templateConversation } from "./messages.ts";
import type { ChatMessage } from "./message.ts";
import { closingOf } from "./reasoning.ts";
import type { Prompt } from "../thread/protocol.ts";
import type { ChatVocabulary } from "../thread/special_tokens.ts";
import { hasOutsideSpecial } from "../thread/special_text.ts";
import type { Rendered, RenderInput } from "../thread/template/render.ts";
import type { TemplateTraits, TraitsInput } from "../thread/template/traits.ts";
import { type AnswerForm, answerForm } from "../tools/parsers/detect.ts";
import type { Tool } from "../tools/tool.ts";

/** The model, as far as the prompts of a chat need it. */
export interface PromptHost {
  /** The model's own template. */
  readonly template: string | undefined;
  /** Its control tokens, and the texts of its start and end tokens. */
  vocabulary(): Promise<ChatVocabulary>;
  /** Renders a conversation, elsewhere than on this thread: a template can take long. */
  render(input: RenderInput, signal: AbortSignal): Promise<Rendered>;
  /** Finds out what a template can do, elsewhere as well. */
  traits(input: TraitsInput, signal: AbortSignal): Promise<TemplateTraits>;
}

/** The input of a prompt. */
export interface PromptInput {
  /** The conversation so far. */
  readonly messages: readonly ChatMessage[];
  /** The tools that the model is told of. */
  readonly tools: readonly Tool[];
  /** Variables of the template. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The beginning of the answer. */
  readonly prefill: string;
}

/** A prompt, and how the answer to it is read. */
export interface ChatPrompt {
  /** The prompt. */
  readonly prompt: Prompt;
  /** The form of the answer. */
  readonly form: AnswerForm;
  /** Whether the prompt has begun the reasoning. */
  readonly inReasoning: boolean;
  /** The text that the prompt has put before the prefill. */
  readonly prefix: string;
}

/** Everything that one template and one model need for prompts. */
export class PromptMaker {
  readonly #host: PromptHost;
  readonly #source: string | undefined;
  readonly #traits = new Map<boolean, Promise<TemplateTraits>>();

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
    const traits = await this.#traitsFor(hasTools(input), vocabulary, signal);
    const given = { source, variables: input.variables, tools: input.tools.length > 0 };
    const found = await findAnswerForm(this.#host, given, traits, vocabulary, signal);
    // A model that was told of the tools in our words writes calls as these say.
    const form = traits.tools ? found : { ...found, family: answerForm("").family };
    const conversation = { traits, family: form.family.name, source };
    const made = await this.#render(input, conversation, vocabulary, signal);
    const opens = form.reasoning !== undefined && made.text.trimEnd().endsWith(form.reasoning.open);
    const prefix = input.prefill === "" ? "" : leadingOver(form, opens);
    const start = made.text.length + prefix.length;
    const text = made.text + prefix + input.prefill;
    const outside = input.prefill === "" ? made.outside : [...made.outside, start, text.length];
    return {
      prompt: { kind: "template", text, outside: hasOutsideSpecial(text, outside, vocabulary.special) ? outside : [] },
      form,
      inReasoning: opens && prefix === "",
      prefix: opens ? "" : prefix,
    };
  }

  async #render(
    { messages, tools, variables }: PromptInput,
    form: ConversationForm,
    { startToken, endToken }: ChatVocabulary,
    signal: AbortSignal,
  ): Promise<Rendered> {
    const { source } = this;
    const render = async (some: readonly Tool[]): Promise<Rendered> => {
      const conversation = templateConversation(messages, some, form);
      return await this.#host.render({ source, ...conversation, variables, startToken, endToken }, signal);
    };
    try {
      return await render(tools);
    } catch (error) {
      if (!(error instanceof ChatTemplateError) || tools.length === 0 || !form.traits.tools) throw error;
      throw await toolError(error, tools, render);
    }
  }

  #traitsFor(
    withTools: boolean,
    { startToken, endToken }: ChatVocabulary,
    signal: AbortSignal,
  ): Promise<TemplateTraits> {
    const known = this.#traits.get(withTools);
    if (known !== undefined) return known;
    const traits = this.#host.traits({ source: this.source, startToken, endToken, withTools }, signal);
    this.#traits.set(withTools, traits);
    // Once it was cancelled it has to be found out again.
    traits.catch(() => this.#traits.delete(withTools));
    return traits;
  }
}

/** The error for a template that failed: it names the tool that the template can't show, when there is one. */
async function toolError(
  error: ChatTemplateError,
  tools: readonly Tool[],
  render: (tools: readonly Tool[]) => Promise<unknown>,
): Promise<ChatTemplateError> {
  const failure = async (some: readonly Tool[]): Promise<ChatTemplateError | undefined> => {
    try {
      await render(some);
      return undefined;
    } catch (cause) {
      if (cause instanceof ChatTemplateError) return cause;
      throw cause;
    }
  };
  if (await failure([]) !== undefined) return error;
  for (const tool of tools) {
    const cause = await failure([tool]);
    if (cause === undefined) continue;
    return new ChatTemplateError(`the tool ${tool.name} can't be shown: ${aboutTool(cause.message)}`, {
      cause,
      value: tool.name,
      expected: "a tool that the template takes",
    });
  }
  return error;
}

function aboutTool(message: string): string {
  return message.replace(/(failed|refused)(?: on)? the messages/, "$1").replace(
    "; change them,",
    "; simplify the schema of its parameters,",
  );
}

function hasTools({ messages, tools }: PromptInput): boolean {
  return tools.length > 0 || messages.some(({ role, toolCalls }) => role === "tool" || toolCalls !== undefined);
}

/** Returns the text between a prompt and the text of an answer. */
function leadingOver({ family, reasoning }: AnswerForm, opens: boolean): string {
  if (opens && reasoning !== undefined) return closingOf(reasoning);
  return family.answerStart ?? "";
}
