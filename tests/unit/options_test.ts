import assert from "node:assert/strict";
import test from "node:test";
import { InvalidArgumentError } from "../../lib/errors.ts";
import { type ChatSendOptions, checkSend } from "../../lib/llama/chat/options.ts";
import { checkCompletion, type GenerationSettings } from "../../lib/llama/generation/options.ts";
import { checkLoad } from "../../lib/llama/model/load_options.ts";
import { modelPath } from "../../lib/models/model_path.ts";
import { checkSampling, MAX_SEED } from "../../lib/llama/sampling/options.ts";
import { checkTokens } from "../../lib/llama/model/vocab_check.ts";
import { checkInteger, checkText } from "../../base/check.ts";

/** Options as a caller without types might give them. */
// deno-lint-ignore no-explicit-any
const untyped = (value: unknown): any => value;

function refused(run: () => unknown, message: RegExp, value?: unknown): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof InvalidArgumentError, String(error));
    assert.equal(error.code, "INVALID_ARGUMENT");
    assert.match(error.message, message);
    if (value !== undefined) assert.deepEqual(error.value, value);
    assert.ok(error.expected !== undefined && error.expected !== "");
    return true;
  });
}

test("sampling: upstream's defaults", () => {
  const { seed, temperature, topK, topP, minP, repeatPenalty, penaltyLastN, typicalP, mirostat } = checkSampling({});
  assert.deepEqual([temperature, topK, topP, minP, repeatPenalty, penaltyLastN], [0.8, 40, 0.95, 0.05, 1, 64]);
  assert.deepEqual([typicalP, mirostat], [1, 0]);
  assert.ok(Number.isInteger(seed) && seed >= 0 && seed <= MAX_SEED);
  assert.notDeepEqual([checkSampling({}).seed, checkSampling({}).seed], [seed, seed]);
});

test("sampling: every number out of its range or no number is refused, the ends of the range are not", () => {
  const ranges: Record<string, [number, number]> = {
    temperature: [0, 100],
    topK: [0, 0x7fff_ffff],
    topP: [0, 1],
    minP: [0, 1],
    repeatPenalty: [0.01, 100],
    penaltyLastN: [-1, 1 << 20],
    typicalP: [0, 1],
    topNSigma: [0, 100],
    minKeep: [0, 1_000_000],
    xtcProbability: [0, 1],
    xtcThreshold: [0, 1],
    dryMultiplier: [0, 100],
    dryBase: [1, 100],
    dryAllowedLength: [0, 1 << 20],
    dryPenaltyLastN: [-1, 1 << 20],
    frequencyPenalty: [-100, 100],
    presencePenalty: [-100, 100],
    dynatempRange: [0, 100],
    dynatempExponent: [0.01, 100],
    mirostat: [0, 2],
    mirostatTau: [0, 100],
    mirostatEta: [0, 10],
    adaptiveTarget: [0, 1],
    adaptiveDecay: [0, 0.99],
    minTokens: [0, 0x7fff_ffff],
    logprobs: [0, 1000],
    seed: [0, MAX_SEED],
  };
  for (const [name, [min, max]] of Object.entries(ranges)) {
    checkSampling({ [name]: min });
    checkSampling({ [name]: max });
    for (const bad of [min - 1, max * 2 + 1, NaN, Infinity, -Infinity, "1", null, 1n, {}]) {
      refused(() => checkSampling({ [name]: bad }), new RegExp(`^${name} is `), bad);
    }
  }
  for (const whole of ["topK", "penaltyLastN", "seed", "minTokens", "logprobs"]) {
    refused(() => checkSampling({ [whole]: 1.5 }), /an integer/);
  }
});

const checkAnswer = (given: ChatSendOptions | undefined): GenerationSettings =>
  checkSend("chat.send", given, []).generation;

test("generation: maxTokens, stop, signal, unknown names", () => {
  assert.deepEqual(checkAnswer(undefined).stop, []);
  assert.deepEqual(checkAnswer({ stop: "a" }).stop, ["a"]);
  assert.equal(checkAnswer({ maxTokens: undefined }).maxTokens, undefined);
  for (const bad of [0, -1, 1.5, NaN, 2 ** 31, "5"]) {
    refused(() => checkAnswer({ maxTokens: untyped(bad) }), /maxTokens is/, bad);
  }
  refused(() => checkAnswer({ stop: "" }), /empty/);
  refused(() => checkAnswer({ stop: ["a", ""] }), /empty/);
  refused(() => checkAnswer({ stop: untyped([1]) }), /stop\[0\] is 1/);
  refused(() => checkAnswer({ stop: untyped(1) }), /stop is 1/);
  refused(() => checkAnswer({ stop: ["a", "\ud800"] }), /stop\[1\] isn't valid UTF-16/);
  refused(() => checkAnswer({ stop: new Array(65).fill("a") }), /64/);
  refused(() => checkAnswer({ signal: untyped({}) }), /AbortSignal/);
  refused(() => checkAnswer(untyped({ maxtokens: 5 })), /did you mean maxTokens/);
  refused(() => checkAnswer(untyped({ max_tokens: 5 })), /did you mean maxTokens/);
  refused(() => checkAnswer(untyped({ top_p: 5 })), /did you mean topP/);
  refused(() => checkAnswer(untyped({ nonsense: 5 })), /it knows temperature, /);
  refused(() => checkAnswer(untyped({ parseSpecial: true })), /no option/);
  refused(() => checkAnswer(untyped("x")), /a plain object/);
  refused(() => checkAnswer(untyped([])), /a plain object/);
  refused(() => checkAnswer(untyped(null)), /a plain object/);
  refused(() => checkCompletion("model.complete", { parseSpecial: untyped(1) }), /true or false/);
});

test("load: options and sources", () => {
  assert.equal(checkLoad(undefined).threads, navigator.hardwareConcurrency);
  assert.equal(checkLoad({ threads: 4096 }).threads, navigator.hardwareConcurrency);
  assert.equal(checkLoad({ threads: 1 }).threads, 1);
  for (const name of ["contextSize", "batchSize", "threads"]) {
    for (const bad of [0, -1, 1.5, NaN, 2 ** 31, "5"]) {
      refused(() => checkLoad({ [name]: bad }), new RegExp(`${name} is`), bad);
    }
  }
  refused(() => checkLoad({ gpuLayers: -1 }), /gpuLayers/);
  refused(() => checkLoad({ mmap: untyped("yes") }), /true or false/);
  refused(() => checkLoad({ onProgress: untyped(1) }), /a function/);
  refused(() => checkLoad(untyped({ n_ctx: 5 })), /no option "n_ctx"/);
  refused(() => checkLoad(untyped({ context_size: 5 })), /did you mean contextSize/);
  assert.equal(modelPath(new URL("file:///a%20b.gguf")), "/a b.gguf");
  assert.equal(modelPath("file:///a%20b.gguf"), "/a b.gguf");
  assert.equal(modelPath("a b.gguf"), "a b.gguf");
  refused(() => modelPath(new URL("https://example.com/a.gguf")), /file: URL/);
  for (const bad of ["file://elsewhere/a.gguf", "file:///a%2Fb.gguf", "file://[::"]) {
    refused(() => modelPath(bad), /no file: URL of a file on this machine/);
  }
  refused(() => modelPath(""), /empty/);
  refused(() => modelPath("a\0b"), /NUL/);
  refused(() => modelPath(untyped(5)), /a string/);
  refused(() => modelPath("\udc00"), /UTF-16/);
});

test("numbers: no zero is negative", () => {
  assert.ok(Object.is(checkInteger("x", -0, { min: 0, max: 1 }), 0));
  assert.equal(checkInteger("x", -1, { min: -1, max: 1 }), -1);
});

test("text: half surrogate pairs are found", () => {
  assert.equal(checkText("x", "a🌍\0b"), "a🌍\0b");
  for (
    const [bad, at] of [["\ud83c", 0], ["a\udf0d", 1], ["🌍\ud83c", 2], ["\ud83c\ud83c\udf0d", 0], [
      "\udf0d\ud83c",
      0,
    ]] as const
  ) {
    refused(() => checkText("x", bad), new RegExp(`at index ${at};`));
  }
});

test("tokens: every id is checked", () => {
  assert.deepEqual(checkTokens([0, 9], 10), Int32Array.of(0, 9));
  assert.deepEqual(checkTokens(Int32Array.of(3), 10), Int32Array.of(3));
  for (const bad of [-1, 10, 1.5, NaN, "1", undefined]) {
    refused(() => checkTokens(untyped([0, bad]), 10), /tokens\[1\] is /);
  }
  refused(() => checkTokens(Int32Array.of(0, -1), 10), /tokens\[1\] is /);
  refused(() => checkTokens(untyped("abc"), 10), /Int32Array/);
  let reads = 0;
  const changing = Object.defineProperty([0], 0, { get: () => reads++ === 0 ? 1 : 1000 });
  assert.deepEqual(checkTokens(changing, 10), Int32Array.of(1));
});
