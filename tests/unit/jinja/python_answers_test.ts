import assert from "node:assert/strict";
import test from "node:test";
import { variables } from "../../oracle/jinja_generator.ts";
import { renderLocally } from "../../oracle/jinja_render.ts";
import { pythonAnswers } from "./python_answers.ts";

for (const [subject, cases] of Object.entries(pythonAnswers)) {
  test(`as Python's Jinja: ${subject}`, () => {
    for (const [template, expected] of cases) {
      const { text, error } = renderLocally(template, variables);
      assert.equal(text, expected, `${template}: ${error ?? ""}`);
    }
  });
}
