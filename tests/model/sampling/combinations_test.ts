import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import fc from "fast-check";
import { type CompletionOptions, GgmlError } from "../../../mod.ts";
import { slow, testModel } from "../support.ts";

/** `GGML_FFI_RUNS=2000` for the long form. */
const runs = Number(process.env["GGML_FFI_RUNS"] ?? 60);

const sometimes = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 });
const number = (min: number, max: number) => fc.oneof(fc.constantFrom(min, max), fc.double({ min, max, noNaN: true }));
const integer = (min: number, max: number) =>
  fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max: Math.min(max, 100) }));
const names = [
  "penalties",
  "dry",
  "topNSigma",
  "topK",
  "typicalP",
  "topP",
  "minP",
  "xtc",
  "temperature",
  "infill",
] as const;

/** Options that may be given together or not, at the ends of their ranges too. */
const options: fc.Arbitrary<CompletionOptions> = fc.record({
  temperature: sometimes(number(0, 100)),
  dynatempRange: sometimes(number(0, 100)),
  dynatempExponent: sometimes(number(0.01, 100)),
  topK: sometimes(integer(0, 0x7fff_ffff)),
  topP: sometimes(number(0, 1)),
  minP: sometimes(number(0, 1)),
  typicalP: sometimes(number(0, 1)),
  topNSigma: sometimes(number(0, 100)),
  minKeep: sometimes(integer(0, 1_000_000)),
  xtcProbability: sometimes(number(0, 1)),
  xtcThreshold: sometimes(number(0, 1)),
  dryMultiplier: sometimes(number(0, 100)),
  dryBase: sometimes(number(1, 100)),
  dryAllowedLength: sometimes(integer(0, 1 << 20)),
  dryPenaltyLastN: sometimes(integer(-1, 1 << 20)),
  drySequenceBreakers: sometimes(fc.constantFrom([], ["\n"], ["a", "🌍", " the"])),
  repeatPenalty: sometimes(number(0.01, 100)),
  frequencyPenalty: sometimes(number(-100, 100)),
  presencePenalty: sometimes(number(-100, 100)),
  penaltyLastN: sometimes(integer(-1, 1 << 20)),
  mirostat: sometimes(fc.constantFrom(0, 1, 2)),
  mirostatTau: sometimes(number(0, 100)),
  mirostatEta: sometimes(number(0, 10)),
  adaptiveTarget: fc.option(number(0, 1), { nil: undefined, freq: 1 }),
  adaptiveDecay: sometimes(number(0, 0.99)),
  samplers: fc.option(fc.shuffledSubarray([...names]), { nil: undefined, freq: 1 }),
  logitBias: sometimes(fc.constantFrom({ 5: 1e9 }, { 5: -1e9, 6: -Infinity }, [{ text: " the", bias: 5 }])),
  ignoreEos: sometimes(fc.boolean()),
  minTokens: sometimes(integer(0, 5)),
  bannedStrings: sometimes(fc.constantFrom(["a"], ["the", " of"], [..."etaoinshr"])),
  logprobs: sometimes(integer(0, 20)),
  grammar: fc.option(fc.constantFrom('root ::= [a-z ]+ "."', 'root ::= "é"{1,3} | [0-9]*', "root ::= [^a]"), {
    nil: undefined,
    freq: 1,
  }),
  tokenHealing: sometimes(fc.boolean()),
  seed: fc.nat(0xffff_fffe),
});

test(
  "any combination of options gives a text or a typed error, the same one each time",
  { timeout: slow.timeout * 10 },
  async () => {
    await using model = await testModel();
    let texts = 0;
    await fc.assert(
      fc.asyncProperty(options, async (given) => {
        const once = async () => {
          try {
            return (await model.complete("One day, ", { maxTokens: 3, ...given })).text;
          } catch (error) {
            assert.ok(error instanceof GgmlError, String(error));
            return `${error.code}: ${error.message}`;
          }
        };
        const result = await once();
        if (!/^[A-Z_]+: /.test(result)) texts++;
        assert.equal(await once(), result);
      }),
      { numRuns: runs, seed: 11, endOnFailure: true },
    );
    assert.ok(texts > runs / 20, `${texts} texts`);
  },
);
