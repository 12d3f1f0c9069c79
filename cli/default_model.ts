import type { ChatOptions, GenerationOptions } from "../mod.ts";
import type { Given } from "./flags.ts";

/**
 * What a chat with the default model starts from where the user says nothing else. So small a model answers best when it always takes the likeliest
 * token, and better under this message than under the one in its template.
 */
const SYSTEM = "You are a helpful assistant.";
const TEMPERATURE = 0;

/** One line for the help of the flags that this file has a say in. */
export const DEFAULT_MODEL_NOTE: string =
  `with the default model, --system is "${SYSTEM}" and --temp ${TEMPERATURE} unless you give them`;

/** How the conversation begins. */
export function givenChat(given: Given): ChatOptions {
  const system = given.text("system") ?? (given.has("model") ? undefined : SYSTEM);
  return system === undefined || system === "" ? {} : { system };
}

/** The options of a chat's answer, for the default model if that is used. */
export function forChat(given: Given, options: GenerationOptions): GenerationOptions {
  return given.has("model") ? options : { temperature: TEMPERATURE, ...options };
}
