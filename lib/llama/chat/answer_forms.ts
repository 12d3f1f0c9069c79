import { ChatTemplateError } from "../../errors.ts";
import type { ChatVocabulary } from "../thread/special_tokens.ts";
import type { TemplateTraits } from "../thread/template/traits.ts";
import { type AnswerForm, answerForm } from "../tools/parsers/detect.ts";
import { probeMessages, probeToolMessage, type WrittenCalls, writtenCalls } from "../tools/parsers/probe.ts";
import { withParts } from "./messages.ts";
import type { PromptHost } from "./prompt.ts";

/** The template whose answers are to be read. */
export interface FormInput {
  /** The template. */
  readonly source: string;
  /** Its variables. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether the model is told of tools. */
  readonly tools: boolean;
}

/** Templates whose calls are kept: a program uses few. */
const MAX_KNOWN = 8;
const known = new Map<string, WrittenCalls | undefined>();

/**
 * Finds the form of answers; with tools, by calls that the template is made to write.
 *
 * Throws what rendering throws but for {@linkcode ChatTemplateError}: a template may refuse the calls of the probe.
 */
export async function findAnswerForm(
  host: PromptHost,
  { source, variables, tools }: FormInput,
  traits: TemplateTraits,
  vocabulary: ChatVocabulary,
  signal: AbortSignal,
): Promise<AnswerForm> {
  const tokens = [...vocabulary.special.map(({ text }) => text), ...vocabulary.userDefined ?? []];
  const { calls } = traits;
  if (!tools || calls === undefined) return answerForm(source, { tokens });
  const key = JSON.stringify([source, variables]);
  if (!known.has(key)) {
    const written = await probe(host, { source, variables, tools }, { ...traits, calls }, vocabulary, signal);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(key, written);
  }
  return answerForm(source, { tokens, written: known.get(key) });
}

async function probe(
  host: PromptHost,
  { source, variables }: FormInput,
  traits: TemplateTraits & { readonly calls: "object" | "text" },
  { startToken, endToken }: ChatVocabulary,
  signal: AbortSignal,
): Promise<WrittenCalls | undefined> {
  const messages = probeMessages(traits.calls);
  const shown = (message: object): object => traits.parts ? withParts(message) : message;
  const render = async (name: keyof typeof messages): Promise<string | undefined> => {
    const input = {
      source,
      messages: messages[name].map(shown),
      tools: [probeToolMessage],
      variables,
      startToken,
      endToken,
    };
    try {
      return (await host.render({ ...input, forAnswer: name === "prompt" }, signal)).text;
    } catch (error) {
      if (error instanceof ChatTemplateError) return undefined;
      throw error;
    }
  };
  const prompt = await render("prompt");
  const plain = await render("plain");
  const one = await render("one");
  if (prompt === undefined || plain === undefined || one === undefined) return undefined;
  return writtenCalls({ prompt, plain, one, two: await render("two") });
}
