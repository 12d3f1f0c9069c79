// What a model thinks, in a stream of its own and with a limit. The template's <think> tells the library where thoughts are.
import { defaultModelPath, loadModel } from "../mod.ts";

await using model = await loadModel(await defaultModelPath(), { threads: 1 });
const template = `{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}<|im_end|>
{% endfor %}<|im_start|>assistant
<think>
`;
const turn = model.chat({ template }).send("What is the capital of France?", {
  reasoning: { budget: 7 },
  temperature: 0,
  maxTokens: 48,
});
let thought = "";
for await (const piece of turn.reasoning) thought += piece;
console.log(`thought: ${thought}`);
console.log(`said: ${(await turn).text}`);
