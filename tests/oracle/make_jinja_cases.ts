/**
 * Makes tests/oracle/jinja_cases.jsonl: what Python's jinja2 makes of conversations of our own with the templates of the fetched sources.
 * `deno run -A tests/oracle/make_jinja_cases.ts`, after set-up. The texts are the templates' own: of them only hashes and lengths are kept.
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { jinjaConversations } from "./jinja_conversations.ts";
import { pythonAnswers } from "../unit/jinja/python_answers.ts";
import { variables as smallVariables } from "./jinja_generator.ts";
import { askJinja } from "./jinja_python.ts";
import { compareAnswers, renderLocally } from "./jinja_render.ts";

const folder = fileURLToPath(new URL("../../csrc/upstream/llama.cpp/models/templates", import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith(".jinja")).sort();
const requests = files.flatMap((file) => jinjaConversations.map(({ name, variables }) => ({ file, name, variables })));
const answers = await askJinja(requests.map(({ file, variables }) => ({ file: join(folder, file), variables })));
const counts = new Map<string, number>();
const lines = requests.map(({ file, name, variables }, index) => {
  const answer = answers[index];
  if (answer === undefined) throw new Error("jinja2 gave no answer");
  const mine = renderLocally(readFileSync(join(folder, file), "utf8"), variables);
  const verdict = compareAnswers(mine, answer);
  counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  if (verdict !== "same" && verdict !== "refused by both") {
    console.log(
      `${verdict}: ${file}: ${name}\n  jinja2: ${answer.text === undefined ? answer.message : ""}\n  here:   ${
        "message" in mine ? mine.message : ""
      }`,
    );
  }
  const template = file.replace(/\.jinja$/, "");
  if (answer.text === undefined) return { template, name, refused: answer.error };
  const hash = createHash("sha256").update(answer.text).digest("hex").slice(0, 16);
  return { template, name, hash, length: answer.text.length };
});
console.log([...counts].map(([verdict, count]) => `${verdict}: ${count}`).join(", "));
const path = fileURLToPath(new URL("jinja_cases.jsonl", import.meta.url));
writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));

/** The small templates of the unit tests: their answers must be jinja2's. */
const small = Object.values(pythonAnswers).flat();
const found = await askJinja(small.map(([template]) => ({ template, variables: smallVariables })));
const stale = small.filter(([, text], index) => found[index]?.text !== text);
console.log(`${small.length} small templates, ${stale.length} of them with another answer than jinja2's`, stale);
