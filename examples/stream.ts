// Prints a text while it is made: deno run -A examples/stream.ts, or: bun examples/stream.ts
import process from "node:process";
import { defaultModelPath, loadModel } from "../mod.ts";

await using model = await loadModel(await defaultModelPath());
const generation = model.complete("Once upon a time", { maxTokens: 48, temperature: 0.8, seed: 1, stop: "\n" });
for await (const piece of generation) process.stdout.write(piece);
const { stopReason, timings } = await generation;
console.log(`\n(${stopReason}, ${timings.generatedTokensPerSecond.toFixed(1)} tokens a second)`);
