import assert from "node:assert/strict";
import test from "node:test";
import { schemaValidator } from "../../../lib/json_schema/mod.ts";
import { ensureJsonSchemaSuite, suiteCounts } from "../../oracle/json_schema_suite.ts";
import { readSuite, remoteSchemas, totalOf } from "./suite.ts";

/** The schemas of each draft, and how many of them are refused. */
const drafts = { draft7: [254, 3], "draft2020-12": [368, 4] } as const;

for (const draft of ["draft7", "draft2020-12"] as const) {
  test(
    `the official suite, ${draft}: no invalid text is allowed, few schemas are refused`,
    { timeout: 300_000 },
    async () => {
      const { counts, findings } = await suiteCounts(draft);
      const total = totalOf(counts);
      console.log(`${draft}: ${JSON.stringify(total)}`);
      assert.deepEqual(findings.filter(({ kind }) => kind === "unsound"), []);
      const [schemas, refused] = drafts[draft];
      assert.equal(total.schemas, schemas);
      assert.ok(total.refused <= refused, JSON.stringify(findings.filter(({ kind }) => kind === "refused"), null, 2));
      assert.ok(total.valid - total.validRefused > 0.65 * total.valid);
    },
  );

  test(`the official suite, ${draft}: the validator agrees`, { timeout: 300_000 }, async () => {
    const folder = await ensureJsonSchemaSuite();
    const schemas = remoteSchemas(folder);
    const counts = { values: 0, annotations: 0 };
    for (const { keyword, title, schema, tests } of readSuite(folder, draft)) {
      const problem = schemaValidator(schema, { schemas });
      for (const { description, data, valid } of tests) {
        counts.values++;
        if (problem(data) === undefined === valid) continue;
        // Formats are asserted here, and a vocabulary without assertions asserts all the same.
        const isStricter = valid && (/only an annotation/.test(description) || keyword === "vocabulary");
        assert.ok(isStricter, `${keyword}: ${title}: ${description}`);
        counts.annotations++;
      }
    }
    console.log(`${draft}: ${JSON.stringify(counts)}`);
    assert.ok(counts.values > 900 && counts.annotations <= 11);
  });
}
