import assert from "node:assert/strict";
import test from "node:test";
import { UsageError } from "../../cli/errors.ts";
import { parseFlags } from "../../cli/flags.ts";
import { givenSampling, SAMPLING_FLAGS } from "../../cli/sampling.ts";
import { cli } from "./program.ts";

const given = (...args: string[]) => givenSampling(parseFlags(args, SAMPLING_FLAGS));

test("flags become options", () => {
  assert.deepEqual(given(), {});
  assert.deepEqual(given("--typical", "0.5", "--repeat-last-n", "-1", "--mirostat", "2", "--xtc-probability", "0.1"), {
    typicalP: 0.5,
    penaltyLastN: -1,
    mirostat: 2,
    xtcProbability: 0.1,
  });
  assert.deepEqual(given("--samplers", "top_k;typ-p; Temperature ;adaptive-p", "--adaptive-target", "0.5"), {
    adaptiveTarget: 0.5,
    samplers: ["topK", "typicalP", "temperature", "adaptiveP"],
  });
  assert.deepEqual(
    given("--logit-bias", "5+1.5", "--logit-bias", "6-inf", "--ignore-eos", "--ban", "a", "--ban", "b"),
    {
      logitBias: [{ token: 5, bias: 1.5 }, { token: 6, bias: -Infinity }],
      bannedStrings: ["a", "b"],
      ignoreEos: true,
    },
  );
  for (
    const bad of [
      ["--logit-bias", "x"],
      ["--logit-bias", "5"],
      ["--samplers", "top-q"],
      ["--grammar", "a", "--grammar-file", "b"],
      ["--grammar-file", "/no/such/file"],
      ["--mirostat", "3"],
      ["--typical", "2"],
    ]
  ) assert.throws(() => given(...bad), UsageError, bad.join(" "));
});

test("complete keeps to a grammar, and says what is wrong with one", { timeout: 120_000 }, async () => {
  const base = ["complete", "-p", "Is snow white?", "-t", "1", "-c", "256", "--seed", "1", "-n", "8"];
  const { code, out, err } = await cli([...base, "--grammar", 'root ::= " yes" | " no"', "--json", "--logprobs", "1"]);
  assert.deepEqual([code, err], [0, ""]);
  const result = JSON.parse(out) as { text: string; stopReason: string; logprobs: unknown[] };
  assert.match(result.text, /^ (yes|no)$/);
  assert.deepEqual([result.stopReason, result.logprobs.length > 0], ["eos", true]);
  const wrong = await cli([...base, "--grammar", "root ::= ("]);
  assert.notEqual(wrong.code, 0);
  assert.match(wrong.err, /the grammar has .*line 1/);
});
