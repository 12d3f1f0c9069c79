// A custom sampler in the chain. Run: deno run -A examples/custom_sampler.ts, or: bun examples/custom_sampler.ts
import { defaultModelPath, loadModel, type SamplerFunction } from "../mod.ts";

await using model = await loadModel(await defaultModelPath());
const withE = new Set(
  Array.from({ length: model.info.vocabularySize }, (_, token) => token)
    .filter((token) => /e/i.test(model.detokenize([token]))),
);
const lipogram: SamplerFunction = (candidates) => candidates.keep((token) => !withE.has(token));
const { text } = await model.complete("Once upon a time", { samplers: [lipogram], maxTokens: 32, seed: 1 });
console.log(text.includes("e") ? "it has an e" : `no e in:${text.replaceAll("\n", " ")}`);
