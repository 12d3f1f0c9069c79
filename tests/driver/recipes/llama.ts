/** Language models at work. The model is tiny: it says nothing sensible, fast. */

import process from "node:process";
import { GrammarMatcher, loadModel, type Lora, type Model, parseGrammar } from "../../../mod.ts";
import { loadDoomedModel } from "../doomed/load.ts";
import type { Recipe, Stage } from "../scene.ts";
import { pick } from "../values.ts";

/** The files that the driver has written. */
const { DRIVER_MODEL: modelPath = "", DRIVER_LORA: loraPath = "" } = process.env;

const prompts = ["Hello", "", "Once upon a time there was", "😀", "a\nb"];

interface Loaded {
  readonly model: Model;
  readonly lora: Lora;
  /** Ends the native thread by an abort; rejects with it. */
  readonly fail?: () => Promise<void>;
}

async function load(doomed: boolean): Promise<Loaded> {
  const { model, fail } = doomed
    ? await loadDoomedModel(modelPath)
    : { model: await loadModel(modelPath, { threads: 1, contextSize: 256 }), fail: undefined };
  const lora = await model.loadLora(loraPath);
  return fail === undefined ? { model, lora } : { model, lora, fail };
}

let shared: Loaded | undefined;

/** A model: the one from before, or a new one where it will be disposed or lost. */
async function models({ state }: Stage): Promise<Loaded> {
  if (state === "disposed" || state === "lost") return await load(state === "lost");
  if (shared === undefined || shared.model.disposed || shared.lora.disposed) shared = await load(false);
  return shared;
}

/** Texts of a length of its own for each state. */
function settings({ state, below, signal }: Stage) {
  return {
    maxTokens: 1 + below(10),
    ...(state === "lost" || below(2) === 0 ? {} : { signal: signal() }),
    ...(below(3) === 0 ? { stop: ["a"] } : {}),
  };
}

/** A completion. */
const completing: Recipe = {
  name: "completion",
  states: ["fresh", "in use", "disposed", "lost"],
  async make(stage) {
    const { state, below } = stage;
    const { model, lora, fail } = await models(stage);
    const matcher = new GrammarMatcher(parseGrammar('root ::= "a" [b-d]* | "e"'));
    stage.keep(model, lora, matcher);
    if (state === "disposed") stage.keepAs("Chat", model.chat());
    const generation = model.complete(pick(below, prompts.slice(0, 3)) || "a", {
      ...settings(stage),
      lora: [{ adapter: lora, scale: 1 }] as never,
    });
    generation.then(() => {}, () => {});
    stage.keepAs("Generation", generation);
    if (state === "in use") await stage.during(generation);
    else if (fail !== undefined) await stage.lose(fail());
    else await generation.then(() => {}, () => {});
  },
};

/** A conversation. */
const chatting: Recipe = {
  name: "chat",
  states: ["fresh", "in use", "disposed", "lost"],
  async make(stage) {
    const { state, below } = stage;
    const { model, lora, fail } = await models(stage);
    const chat = model.chat(below(2) === 0 ? {} : { system: "Be brief." });
    stage.keep(model, lora);
    stage.keepAs("Chat", chat);
    const turn = chat.send(pick(below, prompts), settings(stage));
    turn.then(() => {}, () => {});
    stage.keepAs("ChatTurn", turn);
    if (state === "in use") await stage.during(turn);
    else if (fail !== undefined) await stage.lose(fail());
    else await turn.then(() => {}, () => {});
  },
};

/** Functions that the library calls: a sampler, a tool, a validator, one that hears of progress. */
const callingBack: Recipe = {
  name: "callbacks",
  states: ["in callback", "disposed"],
  async make(stage) {
    const { state, below } = stage;
    const { model, lora } = await models(stage);
    const act = () => state === "in callback" ? stage.act() : undefined;
    stage.keep(model, lora, new GrammarMatcher(parseGrammar('root ::= "a"*')));
    const sampled = model.complete("Hello", {
      maxTokens: 3,
      samplers: [(candidates) => {
        stage.keep(candidates);
        act();
      }, "temperature"],
    });
    sampled.then(() => {}, () => {});
    stage.keepAs("Generation", sampled);
    await sampled.then(() => {}, () => {});
    if (below(3) === 0) {
      const structured = model.complete("A number:", {
        maxTokens: 12,
        schema: {
          "~standard": {
            version: 1,
            vendor: "driver",
            validate: (value: unknown) => {
              act();
              return { value };
            },
            jsonSchema: { input: () => ({ type: "integer", minimum: 1, maximum: 9 }) },
          },
        } as const,
      } as never) as unknown as Promise<unknown>;
      await structured.then(() => {}, () => {});
    }
    if (below(3) > 0) return;
    const chat = model.chat({
      tools: {
        say: {
          description: "Says something.",
          parameters: { type: "object", properties: {} },
          handler: () => {
            act();
            return "done";
          },
        },
      },
    });
    stage.keepAs("Chat", chat);
    const turn = chat.send("Call it", { maxTokens: 40, temperature: 0, toolChoice: "required" });
    stage.keepAs("ChatTurn", turn);
    await turn.then(() => {}, () => {});
  },
};

/** A model that is being loaded, and says how far it is. */
const loading: Recipe = {
  name: "loading",
  states: ["in callback", "in use"],
  async make(stage) {
    const { model, lora } = await models(stage);
    const chat = model.chat();
    stage.keep(model, lora);
    stage.keepAs("Chat", chat);
    if (stage.below(8) > 0) return;
    const other = loadModel(modelPath, { threads: 1, contextSize: 128, onProgress: () => stage.act() });
    if (stage.state === "in use") await stage.during(other);
    const loaded = await other;
    await loaded.dispose();
  },
};

/** The recipes, which a random driver mixes with calls. */
export const recipes: readonly Recipe[] = [completing, chatting, callingBack, loading];
