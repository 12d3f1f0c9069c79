import assert from "node:assert/strict";
import test from "node:test";
import { UsageError } from "../../cli/errors.ts";
import { parseFlags } from "../../cli/flags/parse.ts";
import { GENERATION_FLAGS, givenGeneration } from "../../cli/flags/generation.ts";
import { cli } from "./program.ts";

const given = (...args: string[]) => givenGeneration(parseFlags(args, GENERATION_FLAGS));

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
  const schema = { type: "object", properties: { a: { type: "integer" } } };
  assert.deepEqual(given("-j", JSON.stringify(schema), "-n", "3"), { schema, maxTokens: 3 });
  for (
    const bad of [
      ["--logit-bias", "x"],
      ["--logit-bias", "5"],
      ["--samplers", "top-q"],
      ["--grammar", "a", "--grammar-file", "b"],
      ["--grammar-file", "/no/such/file"],
      ["--mirostat", "3"],
      ["--typical", "2"],
      ["--json-schema", "{"],
      ["--json-schema", "{}", "--json-schema-file", "b"],
      ["--json-schema-file", "/no/such/file"],
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

test("complete keeps to a JSON schema, reads the model without a map, and refuses adapters that are none", {
  timeout: 120_000,
}, async () => {
  const base = [
    "complete",
    "-p",
    "A person as JSON:",
    "-t",
    "1",
    "-c",
    "256",
    "--seed",
    "1",
    "--temp",
    "0",
    "--no-mmap",
  ];
  const schema =
    '{"type":"object","properties":{"age":{"type":"integer","maximum":99}},"required":["age"],"additionalProperties":false}';
  const { code, out, err } = await cli([...base, "-j", schema]);
  assert.deepEqual([code, err], [0, ""]);
  assert.deepEqual(Object.keys(JSON.parse(out) as object), ["age"]);
  const cases: readonly (readonly [string[], number, RegExp])[] = [
    [["--lora", "adapter.gguf:x"], 2, /--lora must be FILE or FILE:SCALE/],
    [["--lora", "/no/adapter.gguf:0.5"], 1, /no file \/no\/adapter\.gguf/],
    [["--rpc", "127.0.0.1:1"], 1, /127\.0\.0\.1:1/],
  ];
  for (const [args, wanted, words] of cases) {
    const ended = await cli([...base, ...args]);
    assert.deepEqual([ended.code, ended.out], [wanted, ""], ended.err);
    assert.match(ended.err, words);
  }
});
