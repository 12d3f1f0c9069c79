// Generation as the caller of a stream sees it: streamed.ts MODEL THREADS first | rounds
import process from "node:process";
import { createInterface } from "node:readline";
import { loadModel } from "../../mod.ts";

const [path = "", threads, mode] = process.argv.slice(2);
await using model = await loadModel(path, { threads: Number(threads), contextSize: 2048 });

async function generate(
  prompt: string,
  maxTokens: number,
  onFirst?: () => void,
): Promise<{ tokens: number[]; ms: number }> {
  const generation = model.complete(prompt, { maxTokens, temperature: 0 });
  let first = NaN;
  for await (const _ of generation) {
    if (!Number.isNaN(first)) continue;
    first = performance.now();
    onFirst?.();
  }
  const { tokens } = await generation;
  return { tokens: Array.from(tokens), ms: performance.now() - first };
}

if (mode === "first") {
  await generate("Once upon a time", 1, () => console.log("first token"));
} else {
  await generate("Once upon a time", 8);
  console.log(JSON.stringify({ ready: true }));
  for await (const line of createInterface({ input: process.stdin })) {
    const { prompt, maxTokens } = JSON.parse(line) as { prompt: string; maxTokens: number };
    console.log(JSON.stringify(await generate(prompt, maxTokens)));
  }
}
