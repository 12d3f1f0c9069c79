// Answers each line that c_loop.c would, with the library: generation.ts MODEL THREADS CONTEXT_SIZE BATCH_SIZE
import process from "node:process";
import { createInterface } from "node:readline";
import { loadModel } from "../../mod.ts";
import { fromLine, type Measured } from "../support/round.ts";

const [path = "", threads, contextSize, batchSize] = process.argv.slice(2);
await using model = await loadModel(path, {
  threads: Number(threads),
  contextSize: Number(contextSize),
  batchSize: Number(batchSize),
});
console.log(JSON.stringify({ ready: true }));

for await (const line of createInterface({ input: process.stdin })) {
  const { prompt, ...options } = fromLine(line);
  const start = performance.now();
  const { tokens, timings } = await model.complete(prompt, options);
  const measured: Measured = {
    promptTokens: timings.promptTokens - timings.reusedTokens,
    promptMs: timings.promptMs,
    generateMs: timings.generationMs,
    wholeMs: performance.now() - start,
    tokens: Array.from(tokens),
  };
  console.log(JSON.stringify(measured));
}
