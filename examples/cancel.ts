// Stops an answer under way, and asks again: deno run -A examples/cancel.ts, or: bun examples/cancel.ts
import { defaultModelPath, loadModel } from "../mod.ts";

await using model = await loadModel(await defaultModelPath());
const chat = model.chat({ system: "You are a helpful assistant." });
const controller = new AbortController();
let pieces = 0;
try {
  for await (const _ of chat.send("Tell me a long story.", { signal: controller.signal })) {
    if (++pieces === 5) controller.abort(new Error("enough"));
  }
} catch (error) {
  console.log(`stopped: ${error instanceof Error ? error.message : error}`);
}
console.log(`messages kept: ${chat.history.length}`);
const { text } = await chat.send("What is the capital of France?", { temperature: 0, maxTokens: 32 });
console.log(text);
