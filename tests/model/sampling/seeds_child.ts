// Prints the text of generations by seed, for a comparison of the runtimes. Run: deno run -A tests/model/sampling/seeds_child.ts 100
import process from "node:process";
import type { CompletionOptions } from "../../../mod.ts";
import { testModel } from "../support.ts";

const shapes: readonly CompletionOptions[] = [
  {},
  { temperature: 1.5, topK: 0, topP: 1, minP: 0 },
  { mirostat: 2 },
  { xtcProbability: 0.5, repeatPenalty: 1.2, dryMultiplier: 0.8, drySequenceBreakers: [] },
  { grammar: 'root ::= ("," | " " [a-z]+){4,8} "."' },
  { adaptiveTarget: 0.4, bannedStrings: ["the", " a "] },
  { typicalP: 0.7, dynatempRange: 0.5 },
];

await using model = await testModel();
const texts: string[] = [];
for (let seed = 1; seed <= Number(process.argv[2] ?? 10); seed++) {
  const shape = shapes[seed % shapes.length];
  texts.push((await model.complete("Once upon a time", { maxTokens: 12, seed, ...shape })).text);
}
console.log(JSON.stringify(texts));
