import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import type { CompletionOptions } from "../../../mod.ts";
import { slow, testModel } from "../support.ts";

/** `GGML_FFI_RUNS=500` for the long form. */
const rounds = Number(process.env["GGML_FFI_RUNS"] ?? 18);

test("samplers, grammars, scores and failures leave no memory behind", { timeout: slow.timeout * 5 }, async () => {
  await using model = await testModel();
  const shapes: readonly CompletionOptions[] = [
    { grammar: 'root ::= "[" ([a-z]{1,9} ","?)* "]"' },
    { dryMultiplier: 1, drySequenceBreakers: ["\n"], repeatPenalty: 1.1, xtcProbability: 0.5 },
    { bannedStrings: ["the", " a"], logprobs: 20, minTokens: 2 },
    { samplers: ["topK", (candidates) => candidates.keep((token) => token % 2 === 0), "temperature"] },
    {
      samplers: [() => {
        throw new Error("made to fail");
      }],
    },
    { grammar: 'root ::= "x"', grammarTriggers: ["y"] },
    { mirostat: 2, logitBias: [{ text: " time", bias: -1 }] },
  ];
  const resident: number[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const shape of shapes) {
      await model.complete("Once upon a time", { maxTokens: 3, seed: round, ...shape }).then(() => {}, () => {});
    }
    await model.choose("One, two,", [" three", " four"]);
    resident.push(process.memoryUsage.rss() / 1e6);
  }
  const least = (from: number, to: number) => Math.min(...resident.slice(from, to));
  const third = Math.floor(rounds / 3);
  const growth = least(2 * third, rounds) - least(third, 2 * third);
  assert.ok(growth < 24, `${growth.toFixed(1)} MB more in the last third than in the one before`);
});
