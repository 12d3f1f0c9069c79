import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { renderLocally } from "../../oracle/jinja_render.ts";

/** A random template, and what Python's jinja2 made of it. */
interface Line {
  variables?: Readonly<Record<string, unknown>>;
  template?: string;
  text?: string;
}

test("random templates give what Python's Jinja gives, and are refused where it refuses them", () => {
  const path = fileURLToPath(new URL("../../oracle/jinja_random.jsonl", import.meta.url));
  const [first, ...cases] = readFileSync(path, "utf8").trim().split("\n").map((line) => JSON.parse(line) as Line);
  assert.ok(cases.filter(({ text }) => text !== undefined).length > 200);
  for (const { template = "", text } of cases) {
    const mine = renderLocally(template, first?.variables ?? {});
    assert.equal(mine.text, text, `${template}: ${mine.error ?? ""}`);
  }
});
