// Prints the tokens of a few generations, for a comparison of the runtimes.
import { testModel } from "./support.ts";

await using model = await testModel();
const all: number[][] = [];
for (
  const options of [{ temperature: 0 }, { seed: 1 }, { seed: 2, temperature: 1.5, topK: 0, topP: 1, minP: 0 }, {
    seed: 3,
    repeatPenalty: 1.3,
  }]
) {
  all.push((await model.complete("Once upon a time", { maxTokens: 24, ...options })).tokens);
}
console.log(JSON.stringify(all));
