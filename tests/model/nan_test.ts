import assert from "node:assert/strict";
import test from "node:test";
import { DecodeError, loadModel, type Model } from "../../mod.ts";
import { slow } from "./support.ts";
import { temporary, tinyWeights, vocabularySize, writeTinyModel } from "./tiny_model.ts";

const prompt = "Once upon a time";

/** Everything that looks at logits. */
const uses: Readonly<Record<string, (model: Model) => Promise<unknown>>> = {
  "greedy": (model) => model.complete(prompt, { temperature: 0, maxTokens: 4 }),
  "sampled": (model) => model.complete(prompt, { seed: 1, maxTokens: 4 }),
  "with a grammar": (model) => model.complete(prompt, { grammar: 'root ::= "a"+', maxTokens: 4 }),
  "with logprobs": (model) => model.complete(prompt, { logprobs: 2, maxTokens: 4 }),
  "with a custom sampler": (model) => model.complete(prompt, { samplers: [() => {}], maxTokens: 4 }),
  "in a chat": (model) => model.chat({ template: "{{ messages[0].content }}" }).send(prompt, { maxTokens: 4 }),
  "score": (model) => model.score(prompt, [" there", " was"]),
  "choose": (model) => model.choose(prompt, [" there", " was"]),
  "perplexity": (model) => model.perplexity(prompt),
};

/** What can be wrong with a model's weights. */
const damages: Readonly<Record<string, (weights: ReturnType<typeof tinyWeights>) => void>> = {
  "a layer": (weights) => weights["blk.0.ffn_down.weight"]?.fill(Number.NaN),
  "the row of one token": ({ "output.weight": output }) => {
    const width = (output?.length ?? 0) / vocabularySize;
    output?.fill(Number.NaN, width * (vocabularySize - 1));
  },
};

for (const [part, damage] of Object.entries(damages)) {
  test(`a model with NaN in ${part} gives a DecodeError, and no text`, slow, async () => {
    await using file = temporary();
    const weights = tinyWeights();
    damage(weights);
    await writeTinyModel(file.path, weights);
    await using model = await loadModel(file.path, { threads: 1 });
    for (const [use, run] of Object.entries(uses)) {
      await assert.rejects(run(model), (error) => {
        assert.ok(error instanceof DecodeError, `${use}: ${String(error)}`);
        assert.match(error.message, /NaN as the logit of token \d+: its weights are damaged/);
        assert.ok(Number.isNaN(error.value));
        return true;
      }, use);
    }
  });
}
