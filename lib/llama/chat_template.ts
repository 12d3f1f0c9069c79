import { ChatTemplateError } from "../errors.ts";

/** One message of a conversation. */
export interface ChatMessage {
  /** Who says it. */
  role: "system" | "user" | "assistant";
  /** What is said. */
  content: string;
}

/** A compiled chat template: from messages to the text that the model was trained on. */
export type ChatTemplate = (messages: readonly ChatMessage[], startToken: string, endToken: string) => string;

/**
 * Compiles a chat template, which is written in Jinja. The interpreter is imported on the first call.
 *
 * Throws {@linkcode ChatTemplateError} when it doesn't parse; the compiled template throws it when it fails or refuses the messages.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { compileChatTemplate } from "./chat_template.ts";
 *
 * const template = await compileChatTemplate("{% for m in messages %}{{ m.role }}: {{ m.content | trim }}\n{% endfor %}");
 * assert.equal(template([{ role: "user", content: " hi " }], "", ""), "user: hi\n");
 * ```
 */
export async function compileChatTemplate(source: string): Promise<ChatTemplate> {
  const { Template } = await import("@huggingface/jinja");
  let template: InstanceType<typeof Template>;
  try {
    template = new Template(source);
  } catch (cause) {
    throw new ChatTemplateError(
      `the chat template doesn't parse: ${words(cause)}; give another by the option template`,
      { cause, expected: "a Jinja template" },
    );
  }
  return (messages, startToken, endToken) => {
    try {
      return template.render({ messages, add_generation_prompt: true, bos_token: startToken, eos_token: endToken });
    } catch (cause) {
      throw new ChatTemplateError(
        `the chat template refused the messages: ${
          words(cause)
        }; change them, or give another template by the option template`,
        {
          cause,
          expected: "messages that the template takes",
        },
      );
    }
  };
}

function words(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
