/** Language models at work. */

import { type ChatTool, defaultModelPath, loadModel, type Model } from "../../../mod.ts";
import type { Recipe } from "../machine.ts";
import { pick } from "../values.ts";

const prompts = ["Hello", "", "Once upon a time there was", "😀", "a\nb"];

async function load(): Promise<Model> {
  return await loadModel(await defaultModelPath(), { threads: 1, contextSize: 128 });
}

let shared: Promise<Model> | undefined;

/** A model: the one from before, or a new one, since a call may have disposed the other. */
const model: Recipe = async ({ below }, keep) => {
  if (shared === undefined || below(4) === 0) shared = load();
  keep(await shared);
};

/** A generation that is under way. */
const generating: Recipe = async (source, keep) => {
  const one = await (shared ??= load());
  keep(one);
  const generation = one.complete(pick(source.below, prompts), {
    maxTokens: 1 + source.below(12),
    signal: source.signal(),
    stop: source.below(2) === 0 ? ["a"] : [],
  });
  generation.then(() => {}, () => {});
  keep(generation);
};

/** A chat with a tool, whose handler does random things. */
const chat: Recipe = async (source, keep) => {
  const one = await (shared ??= load());
  const call = source.callback({ kind: "string" }) as () => string;
  const tool: ChatTool = {
    description: "Says something.",
    parameters: { type: "object", properties: { x: { type: "string" } }, required: ["x"] },
    handler: () => call(),
  };
  const talk = one.chat({ system: "Be brief.", tools: { say: tool } });
  const turn = talk.send(pick(source.below, prompts), { maxTokens: 8, temperature: 0 });
  turn.then(() => {}, () => {});
  keep(one, talk, turn);
};

/** The recipes, which a random driver mixes with calls. */
export const recipes: readonly Recipe[] = [model, generating, chat];
