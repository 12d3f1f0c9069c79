// node-llama-cpp on Node, asked as our own child is: peer.mjs PACKAGE_FOLDER MODEL THREADS first | rounds
import { createRequire } from "node:module";
import process from "node:process";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, modelPath, threads, mode] = process.argv.slice(2);
const entry = createRequire(`${folder}/package.json`).resolve("node-llama-cpp");
const { getLlama, LlamaCompletion } = await import(pathToFileURL(entry).href);
const llama = await getLlama({ gpu: false, build: "never", maxThreads: Number(threads), logLevel: "error" });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ contextSize: 2048, threads: Number(threads) });
const sequence = context.getSequence();
const completion = new LlamaCompletion({ contextSequence: sequence });

async function generate(prompt, maxTokens, onFirst) {
  const tokens = [];
  let first = NaN;
  await sequence.clearHistory();
  await completion.generateCompletion(prompt, {
    maxTokens,
    temperature: 0,
    onToken(made) {
      if (tokens.length === 0) {
        first = performance.now();
        onFirst?.();
      }
      tokens.push(...made);
    },
  });
  return { tokens, ms: performance.now() - first };
}

if (mode === "first") {
  await generate("Once upon a time", 1, () => console.log("first token"));
  process.exit(0);
}
await generate("Once upon a time", 8);
console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const { prompt, maxTokens } = JSON.parse(line);
  console.log(JSON.stringify(await generate(prompt, maxTokens)));
}
process.exit(0);
