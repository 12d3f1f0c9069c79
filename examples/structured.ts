// Gets values instead of text: deno run -A examples/structured.ts, or: bun examples/structured.ts
import { defaultModelPath, loadModel } from "../mod.ts";

await using model = await loadModel(await defaultModelPath());

// A JSON Schema. A schema of Zod, or of another library with ~standard.jsonSchema, gives the value its type besides.
const schema = {
  type: "object",
  properties: {
    name: { type: "string", maxLength: 20 },
    age: { type: "integer", minimum: 0, maximum: 120 },
    city: { type: "string", maxLength: 20 },
  },
  required: ["name", "age", "city"],
};

// The model doesn't see the schema: the prompt says what is wanted.
const question = "Anna is 31 years old and lives in Vienna. Give her name, age and city as JSON.";
const result = await model.chat().send(question, { schema, temperature: 0, maxTokens: 100 });
if (result.stopReason === "eos") console.log(JSON.stringify(result.value));
else console.log(`cut off: ${result.stopReason}`);
