// Asks a model one question and prints the answer: deno run -A examples/hello.ts, or: bun examples/hello.ts
import { defaultModelPath, loadModel } from "../mod.ts";

await using model = await loadModel(await defaultModelPath());
const { text } = await model.chat({ system: "You are a helpful assistant." }).send("What is the capital of France?", {
  temperature: 0,
  maxTokens: 64,
});
console.log(text);
