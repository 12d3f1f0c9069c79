/**
 * Renders random templates with the library and with Python's jinja2, and prints where they differ: `deno run -A tests/oracle/jinja_random.ts [COUNT [SEED]]`.
 * Ends with 1 where they differ otherwise than docs/chat_and_tools.md says. `--store` writes the sample that the unit tests read.
 */

import { writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { randomTemplates, variables } from "./jinja_generator.ts";
import { askJinja } from "./jinja_python.ts";
import { compareAnswers, renderLocally } from "./jinja_render.ts";

/** Differences that are known: addresses of objects; lines that `pprint` breaks; parts of numbers and dicts that jinja2 takes when it compiles. */
function isKnown(template: string, text = ""): boolean {
  return / at 0x[0-9a-f]/i.test(text) || template.includes("pprint") || /[\d}]\)*\[-?[\dn]*:/.test(template);
}

const args = process.argv.slice(2).filter((arg) => arg !== "--store");
const [count = 2000, seed = 1] = args.map(Number);
const templates = randomTemplates(seed, count);
const answers = await askJinja(templates.map((template) => ({ template, variables })));
const counts = new Map<string, number>();
const sample: unknown[] = [];
let shown = 0;
for (const [index, template] of templates.entries()) {
  const expected = answers[index];
  if (expected === undefined || / at 0x[0-9a-f]/.test(expected.text ?? "")) continue;
  const mine = renderLocally(template, variables);
  const compared = compareAnswers(mine, expected);
  const isSame = compared === "same" || compared === "refused by both";
  const verdict = isSame || !isKnown(template, expected.text) ? compared : "known difference";
  counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  sample.push(expected.text === undefined ? { template, refused: true } : { template, text: expected.text });
  if (isSame || shown++ >= 200) continue;
  if (verdict !== "known difference") process.exitCode = 1;
  console.log(
    `${verdict}: ${JSON.stringify(template)}\n  jinja2: ${JSON.stringify(expected)}\n  here:   ${JSON.stringify(mine)}`,
  );
}
console.log([...counts].map(([verdict, number]) => `${verdict}: ${number}`).join(", "));
if (process.argv.includes("--store")) {
  const path = fileURLToPath(new URL("jinja_random.jsonl", import.meta.url));
  writeFileSync(path, [{ variables }, ...sample].map((line) => `${JSON.stringify(line)}\n`).join(""));
}
