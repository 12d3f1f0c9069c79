import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import {
  JsonSchemaError,
  SchemaContradictionError,
  SchemaTooComplexError,
  UnsupportedKeywordError,
} from "../../../lib/errors.ts";
import { checkGbnf } from "../../../lib/gbnf/check.ts";
import { GrammarMatcher, matchesGrammar, parseGrammar } from "../../../lib/gbnf/mod.ts";
import { compileSchema, type JsonValue, schemaToGrammar, schemaValidator } from "../../../lib/json_schema/mod.ts";
import { randomBelow } from "../../support/random.ts";
import { ajvValidator, isValidText, mutateText, mutateValue, walk } from "./oracle.ts";
import { randomLogic, randomValue } from "./random_logic.ts";
import { textsOf } from "./suite.ts";

const runs = Number(process.env["GGML_FFI_SCHEMAS"] ?? 300);
const firstSeed = Number(process.env["GGML_FFI_SEED"] ?? 20_261_130);

/** Ajv's validator, but for the few schemas whose code throws TypeErrors. */
function soundAjv(schema: unknown, otherwise: (value: unknown) => boolean): (value: unknown) => boolean {
  const valid = ajvValidator(schema, "2020-12");
  return (value) => {
    try {
      return valid(value);
    } catch (error) {
      if (error instanceof TypeError) return otherwise(value);
      throw error;
    }
  };
}

test("all keywords in any combination: no invalid text is allowed, and the validator agrees with ajv", {
  timeout: 600_000,
}, () => {
  const counts = {
    byAjv: 0,
    refused: 0,
    contradictory: 0,
    compiled: 0,
    walked: 0,
    rejected: 0,
    allowed: 0,
    narrower: 0,
    values: 0,
  };
  for (let run = 0; run < runs; run++) {
    const next = randomBelow(firstSeed + run);
    const schema = randomLogic(next);
    const shown = `seed ${firstSeed + run}: ${JSON.stringify(schema)}`;
    const problem = schemaValidator(schema);
    const own = (value: unknown) => problem(value as JsonValue) === undefined;
    // Ajv counts as evaluated what failed branches looked at; the official suite says who is right.
    const isAjvRight = !shown.includes('"unevaluated');
    const valid = isAjvRight ? soundAjv(schema, own) : own;
    counts.byAjv += isAjvRight ? 1 : 0;
    const values = Array.from({ length: 30 }, () => randomValue(next, 3));
    for (const value of values) {
      counts.values++;
      assert.equal(problem(value) === undefined, valid(value), `${JSON.stringify(value)} for ${shown}`);
    }
    let source: string;
    try {
      source = schemaToGrammar(schema);
    } catch (error) {
      if (!(error instanceof JsonSchemaError)) throw new Error(`${shown} gave ${error}`, { cause: error });
      if (error instanceof SchemaContradictionError) {
        // Nothing that is generated is valid, as far as the random values tell; narrowing may leave nothing of what is.
        counts.contradictory++;
      } else {
        assert.ok(
          error instanceof UnsupportedKeywordError || error instanceof SchemaTooComplexError,
          `${shown}: ${error}`,
        );
        counts.refused++;
        const { loosened } = compileSchema(schema, { schemaMode: "validate" });
        assert.ok(loosened.length > 0);
      }
      continue;
    }
    counts.compiled++;
    // Llama.cpp reads it, too.
    checkGbnf(source);
    const grammar = parseGrammar(source);
    for (let time = 0; time < 12; time++) {
      const text = walk(new GrammarMatcher(grammar), next, 200);
      if (text === undefined) continue;
      assert.ok(isValidText(text, valid), `${text} is allowed and invalid for ${shown}`);
      counts.walked++;
      const bad = time % 2 === 0 ? mutateText(text, next) : JSON.stringify(mutateValue(JSON.parse(text), next));
      if (isValidText(bad, valid)) continue;
      assert.ok(!matchesGrammar(grammar, bad), `${bad} is allowed and invalid for ${shown}`);
      counts.rejected++;
    }
    for (const value of values) {
      const allowed = textsOf(value, 24).some((text) => matchesGrammar(grammar, text));
      if (valid(value)) counts[allowed ? "allowed" : "narrower"]++;
      else assert.ok(!allowed, `${JSON.stringify(value)} is allowed and invalid for ${shown}`);
    }
  }
  console.log(JSON.stringify(counts));
  assert.ok(counts.compiled > runs / 2 && counts.walked > 3 * runs && counts.refused < runs / 4);
});
