import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { jinjaConversations } from "../../oracle/jinja_conversations.ts";
import { renderLocally } from "../../oracle/jinja_render.ts";

const folder = fileURLToPath(new URL("../../../csrc/upstream/llama.cpp/models/templates", import.meta.url));
const cases = fileURLToPath(new URL("../../oracle/jinja_cases.jsonl", import.meta.url));

/** What Python's jinja2 made of a conversation with a template: a text, of which the hash is kept, or an error. */
interface Case {
  template: string;
  name: string;
  hash?: string;
  length?: number;
  refused?: string;
}

/** Templates that Jinja's sandbox refuses for lists that they change, which they may here. */
const changing = /^Kimi-K2-(Instruct|Thinking)$/;

test("the templates of the fetched sources give what Python's Jinja gives", () => {
  assert.ok(existsSync(folder), "the fetched sources aren't here: npm run setup");
  const conversations = new Map(jinjaConversations.map(({ name, variables }) => [name, variables]));
  const sources = new Map<string, string>();
  let [same, refused] = [0, 0];
  for (const line of readFileSync(cases, "utf8").trim().split("\n")) {
    const { template, name, hash, length, refused: error } = JSON.parse(line) as Case;
    const source = sources.get(template) ?? readFileSync(join(folder, `${template}.jinja`), "utf8");
    sources.set(template, source);
    const mine = renderLocally(source, conversations.get(name) ?? {});
    const where = `${template}: ${name}: ${mine.error === undefined ? mine.text : mine.message}`;
    if (hash === undefined) {
      if (error === "SecurityError" && changing.test(template)) continue;
      assert.equal(mine.text, undefined, where);
      refused++;
      continue;
    }
    const found = createHash("sha256").update(mine.text ?? "").digest("hex").slice(0, 16);
    assert.deepEqual([found, mine.text?.length], [hash, length], where);
    same++;
  }
  assert.equal(sources.size, readdirSync(folder).filter((file) => file.endsWith(".jinja")).length);
  console.log(`${same} texts are jinja2's, ${refused} conversations are refused by both`);
});
