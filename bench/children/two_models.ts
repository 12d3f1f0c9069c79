// Two models in one process: each line `after MAX_TOKENS PROMPT` or `at_once MAX_TOKENS PROMPT` is answered by what it took.
// two_models.ts MODEL THREADS CONTEXT_SIZE
import process from "node:process";
import { createInterface } from "node:readline";
import { loadModel } from "../../mod.ts";

/** The time and the tokens of both generations together. */
export interface MeasuredPair {
  /** Milliseconds from the first call to the last result. */
  ms: number;
  /** Tokens of both, prompts included. */
  tokens: number;
  /** Both texts. */
  texts: string[];
}

const [path = "", threads, contextSize] = process.argv.slice(2);
const options = { threads: Number(threads), contextSize: Number(contextSize) };
await using one = await loadModel(path, options);
await using other = await loadModel(path, options);
console.log(JSON.stringify({ ready: true }));

for await (const line of createInterface({ input: process.stdin })) {
  const [how, maxTokens, ...words] = line.split(" ");
  const prompt = words.join(" ");
  const asked = { maxTokens: Number(maxTokens), temperature: 0 };
  const start = performance.now();
  const first = one.complete(`1: ${prompt}`, asked);
  if (how === "after") await first;
  const second = other.complete(`2: ${prompt}`, asked);
  const results = [await first, await second];
  const measured: MeasuredPair = {
    ms: performance.now() - start,
    tokens: results.reduce((sum, { tokens, timings }) => sum + tokens.length + timings.promptTokens, 0),
    texts: results.map(({ text }) => text),
  };
  console.log(JSON.stringify(measured));
}
