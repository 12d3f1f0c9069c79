// An answer of a given form, with how sure the model was. Run: deno run -A examples/grammar.ts, or: bun examples/grammar.ts
import { defaultModelPath, loadModel } from "../mod.ts";

await using model = await loadModel(await defaultModelPath());
const { text, stopReason, logprobs } = await model.complete("Three colours of the rainbow, as a list:", {
  grammar: `root ::= " " colour ", " colour ", " colour "."
            colour ::= "red" | "orange" | "yellow" | "green" | "blue" | "violet"`,
  temperature: 0,
  logprobs: 1,
});
console.log(text.trim(), stopReason);
console.log(`surest token: ${Math.exp(Math.max(...logprobs?.map(({ logprob }) => logprob) ?? [])).toFixed(2)}`);
