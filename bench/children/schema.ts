// Milliseconds to compile a schema: the first time, the median of the next thirty, and that of thirty once the runtime has compiled the code.
import process from "node:process";
import { createInterface } from "node:readline";
import { schemaToGrammar } from "../../lib/json_schema/mod.ts";
import { summarize } from "../support/stats.ts";

const warmUpRuns = Number(process.argv[2] ?? 150);

/** Some of each kind that schemas are mostly made of. */
function schema(properties: number): Record<string, unknown> {
  const kinds = (index: number): unknown[] => [
    { type: "string" },
    { type: "integer", minimum: index },
    { type: "array", items: { type: "string" } },
    { type: "number" },
    { enum: [`a${index}`, `b${index}`] },
    { type: "string", maxLength: 20 + index % 5 },
    { type: "object", properties: { x: { type: "number" }, y: { type: ["string", "null"] } }, required: ["x"] },
    { type: "string", format: "date" },
  ];
  const names = Array.from({ length: properties }, (_, index) => `property${index}`);
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name, index) => [name, kinds(index)[index % 8]])),
    required: names.filter((_, index) => index % 2 === 0),
  };
}

console.log(JSON.stringify({ ready: true }));
for await (const _ of createInterface({ input: process.stdin })) {
  const measured: Record<string, number> = {};
  for (const properties of [500, 12]) {
    const given = schema(properties);
    measured[`${properties} properties, first time`] = time(given);
    measured[`${properties} properties, the next 30`] = median(given);
    for (let run = 0; run < warmUpRuns; run++) time(given);
    measured[`${properties} properties, after ${warmUpRuns + 31}`] = median(given);
  }
  console.log(JSON.stringify(measured));
}

function median(given: Record<string, unknown>): number {
  return summarize(Array.from({ length: 30 }, () => time(given))).median;
}

function time(given: Record<string, unknown>): number {
  const start = performance.now();
  schemaToGrammar(given);
  return performance.now() - start;
}
