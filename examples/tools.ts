// A model that calls a tool: the library runs it, and gives what it gives back to the model.
import { defaultModelPath, loadModel } from "../mod.ts";

await using model = await loadModel(await defaultModelPath(), { threads: 1 });
const chat = model.chat({
  tools: {
    get_weather: {
      description: "The weather of a city",
      parameters: { type: "object", properties: { city: { type: "string", maxLength: 20 } }, required: ["city"] },
      handler: ({ city }) => ({ city, degrees: 21, sky: "clear" }),
    },
  },
});
// So small a model calls tools well only when it must. `events` tells of all that happens.
const turn = chat.send("What is the weather in Rome?", {
  toolChoice: "required",
  parallelToolCalls: false,
  temperature: 0,
  maxTokens: 32,
});
for await (const event of turn.events) {
  if (event.type === "toolCall") console.log(`calls ${event.call.name}(${JSON.stringify(event.call.arguments)})`);
  if (event.type === "toolResult") console.log(`gives ${event.content}`);
}
