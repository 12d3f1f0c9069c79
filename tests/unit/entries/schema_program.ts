// Run without any permission.
import { GgmlError, matchesGrammar, parseGrammar, schemaToGrammar } from "../../../lib/json_schema/mod.ts";

const grammar = parseGrammar(
  schemaToGrammar({ type: "object", properties: { age: { type: "integer" } }, required: ["age"] }),
);
const matches = ['{"age": 5}', '{"age": "5"}'].map((text) => matchesGrammar(grammar, text));
let refusal = "nothing";
try {
  schemaToGrammar({ type: "no such type" } as never);
} catch (error) {
  refusal = error instanceof GgmlError ? error.code : String(error);
}
(globalThis as { result?: unknown }).result = { matches, refusal };
console.log(JSON.stringify({ matches, refusal }));
