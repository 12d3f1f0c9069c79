import type { Model } from "../../mod.ts";
import { texts } from "./texts.ts";

/** The tokens of each text, without and with control tokens read. */
export function tokenizations(model: Model): number[][] {
  return texts.flatMap((text) => [false, true].map((parseSpecial) => [...model.tokenize(text, { parseSpecial })]));
}

/** The answer to the default question, greedily. */
export async function ask(model: Model, signal?: AbortSignal): Promise<string> {
  const chat = model.chat({ system: "You are a helpful assistant." });
  let answer = "";
  const options = { maxTokens: 24, temperature: 0, ...(signal === undefined ? {} : { signal }) };
  for await (const piece of chat.send("What is the capital of France?", options)) answer += piece;
  return answer;
}
