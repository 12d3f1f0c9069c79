/**
 * Renders random templates with the library and with Python's jinja2, and prints where they differ: `deno run -A tests/oracle/jinja_random.ts [COUNT [SEED]]`.
 * `--store` writes the sample that the unit tests read.
 */

import { writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { randomTemplates, variables } from "./jinja_generator.ts";
import { askJinja } from "./jinja_python.ts";
import { compareAnswers, renderLocally } from "./jinja_render.ts";

const args = process.argv.slice(2).filter((arg) => arg !== "--store");
const [count = 2000, seed = 1] = args.map(Number);
const templates = randomTemplates(seed, count);
const answers = await askJinja(templates.map((template) => ({ template, variables })));
const counts = new Map<string, number>();
const sample: unknown[] = [];
let shown = 0;
for (const [index, template] of templates.entries()) {
  const expected = answers[index];
  // Addresses differ from run to run.
  if (expected === undefined || / at 0x[0-9a-f]/.test(expected.text ?? "")) continue;
  const mine = renderLocally(template, variables);
  const verdict = compareAnswers(mine, expected);
  counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  sample.push(expected.text === undefined ? { template, refused: true } : { template, text: expected.text });
  if (verdict === "same" || verdict === "refused by both" || shown++ >= 200) continue;
  console.log(
    `${verdict}: ${JSON.stringify(template)}\n  jinja2: ${JSON.stringify(expected)}\n  here:   ${JSON.stringify(mine)}`,
  );
}
console.log([...counts].map(([verdict, number]) => `${verdict}: ${number}`).join(", "));
if (process.argv.includes("--store")) {
  const path = fileURLToPath(new URL("jinja_random.jsonl", import.meta.url));
  writeFileSync(path, [{ variables }, ...sample].map((line) => `${JSON.stringify(line)}\n`).join(""));
}
