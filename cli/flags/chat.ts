import type { ChatOptions, GenerationOptions } from "../../mod.ts";
import { UsageError } from "../errors.ts";
import type { Flag } from "./flag.ts";
import { readGivenFile } from "./generation.ts";
import type { Given } from "./parse.ts";

/**
 * Defaults of a chat with the default model. So small a model answers best when it always takes the most probable
 * token, and better under this message than under the one in its template.
 */
const SYSTEM = "You are a helpful assistant.";
const TEMPERATURE = 0;

/** One line for the help of the flags that this file has a say in. */
export const DEFAULT_MODEL_NOTE: string =
  `with the default model, --system is "${SYSTEM}" and --temp ${TEMPERATURE} unless you give them`;

/** The flags that decide how a conversation begins. */
export const CHAT_FLAGS: readonly Flag[] = [
  {
    name: "system",
    also: ["-sys", "--system-prompt"],
    takes: "text",
    option: "system",
    help: "system message: how the model should behave",
  },
  {
    name: "chat-template",
    takes: "text",
    placeholder: "JINJA",
    option: "template",
    default: "the model's own",
    help: "chat template",
  },
  { name: "chat-template-file", takes: "text", placeholder: "FILE", help: "a file with the chat template" },
];

/** Returns the options of the conversation. */
export function givenChat(given: Given): ChatOptions {
  const system = given.text("system") ?? (given.has("model") ? undefined : SYSTEM);
  const [text, file] = [given.text("chat-template"), given.text("chat-template-file")];
  if (text !== undefined && file !== undefined) {
    throw new UsageError("give one of --chat-template and --chat-template-file");
  }
  const template = file === undefined ? text : readGivenFile("--chat-template-file", file);
  return {
    ...(system === undefined || system === "" ? {} : { system }),
    ...(template === undefined ? {} : { template }),
  };
}

/** The options of a chat's answer, for the default model if that is used. */
export function forChat(given: Given, options: GenerationOptions): GenerationOptions {
  return given.has("model") ? options : { temperature: TEMPERATURE, ...options };
}
