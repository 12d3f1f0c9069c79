import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import fc from "fast-check";
import { GrammarMatcher, matchesGrammar, parseGrammar } from "../../../lib/gbnf/mod.ts";
import { schemaToGrammar } from "../../../lib/json_schema/mod.ts";
import { randomBelow } from "../../support/random.ts";
import { ajvValidator, isValidText, mutateText, mutateValue, settings, walk } from "./oracle.ts";
import type { RootCase } from "./flat_schemas.ts";
import { randomSchemas } from "./random_schemas.ts";

const runs = Number(process.env["GGML_FFI_SCHEMAS"] ?? 300);

interface Counts {
  schemas: number;
  accepted: number;
  rejected: number;
  walked: number;
}

test("random schemas: what ajv takes is allowed, what it refuses isn't, and all that is allowed it takes", {
  timeout: 600_000,
}, () => {
  const counts: Counts = { schemas: 0, accepted: 0, rejected: 0, walked: 0 };
  const property = fc.property(
    randomSchemas.chain((one) =>
      fc.tuple(
        fc.constant({ schema: one.schema, draft: one.draft }),
        fc.array(one.values, { minLength: 3, maxLength: 3 }),
      )
    ),
    fc.nat(),
    ([one, values], seed) => check(one, values, randomBelow(seed), counts),
  );
  fc.assert(property, settings(runs));
  console.log(
    `${counts.schemas} schemas: ${counts.accepted} valid texts allowed, ${counts.rejected} invalid ones refused, ${counts.walked} made from the grammars valid`,
  );
  assert.equal(counts.schemas, runs);
  assert.ok(counts.accepted > runs && counts.rejected > 5 * runs && counts.walked > runs);
});

function check(
  { schema, draft }: Pick<RootCase, "schema" | "draft">,
  values: readonly unknown[],
  next: (below: number) => number,
  counts: Counts,
): void {
  const valid = ajvValidator(schema, draft);
  const source = schemaToGrammar(schema);
  const grammar = parseGrammar(source);
  const shown = JSON.stringify(schema);
  counts.schemas++;
  for (const value of values) {
    const text = JSON.stringify(value);
    if (!valid(JSON.parse(text))) throw new Error(`the generator made ${text} for ${shown}`);
    assert.ok(matchesGrammar(grammar, text), `${text} is valid and not allowed for ${shown}\n${source}`);
    counts.accepted++;
    for (let time = 0; time < 6; time++) {
      const bad = time % 2 === 0 ? JSON.stringify(mutateValue(value, next)) : mutateText(text, next);
      if (isValidText(bad, valid)) continue;
      assert.ok(!matchesGrammar(grammar, bad), `${bad} is invalid and allowed for ${shown}\n${source}`);
      counts.rejected++;
    }
  }
  for (let time = 0; time < 4; time++) {
    const text = walk(new GrammarMatcher(grammar), next);
    if (text === undefined) continue;
    assert.ok(isValidText(text, valid), `${JSON.stringify(text)} is allowed and invalid for ${shown}\n${source}`);
    counts.walked++;
  }
}
