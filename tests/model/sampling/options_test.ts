import assert from "node:assert/strict";
import process from "node:process";
import test, { after, before } from "node:test";
import {
  type CompletionOptions,
  DisposedError,
  type GenerationResult,
  InvalidArgumentError,
  type Model,
  NoTokenLeftError,
  type SamplerCandidates,
} from "../../../mod.ts";
import { command, run, slow, testModel } from "../support.ts";

/** `GGML_FFI_RUNS=100` for the long form. */
const seeds = process.env["GGML_FFI_RUNS"] ?? "7";
const prompt = "Once upon a time";

let model: Model;

before(async () => {
  model = await testModel();
}, slow);

after(() => model.dispose());

function complete(options: CompletionOptions): Promise<GenerationResult> {
  return model.complete(prompt, { maxTokens: 12, seed: 1, ...options }).then((result) => result);
}

test("the same seeds give the same text in both runtimes", { timeout: 300_000 }, async () => {
  const runs = await Promise.all(
    (["deno", "bun"] as const).map((which) => run(command(which, "tests/model/sampling/seeds_child.ts", [seeds]))),
  );
  const [deno, bun] = runs.map(({ stdout, stderr }) => {
    assert.equal(stderr, "");
    return JSON.parse(stdout) as string[];
  });
  assert.deepEqual(deno, bun);
  assert.equal(deno?.length, Number(seeds));
  assert.ok(new Set(deno).size > Number(seeds) / 2);
});

test("samplers in an order: it matters, and only those are applied", slow, async () => {
  const flat = { temperature: 3, topP: 0.5 };
  const cutFirst = await complete({ ...flat, samplers: ["topP", "temperature"] });
  const cutLast = await complete({ ...flat, samplers: ["temperature", "topP"] });
  assert.notEqual(cutFirst.text, cutLast.text);
  const none = await complete({ samplers: [] });
  assert.equal((await complete({ temperature: 1, topK: 0, topP: 1, minP: 0 })).text, none.text);
});

test(
  "temperature 0 takes the likeliest token whatever else would cut or mix, but for penalties and biases",
  slow,
  async () => {
    const { tokens } = await complete({ temperature: 0 });
    const options: CompletionOptions = {
      xtcProbability: 1,
      typicalP: 0.1,
      topNSigma: 1,
      mirostat: 2,
      dynatempRange: 1,
    };
    assert.deepEqual((await complete({ temperature: 0, ...options })).tokens, tokens);
    const [first = 0] = tokens;
    const biased = await complete({ temperature: 0, logitBias: { [first]: -Infinity } });
    assert.notEqual(biased.tokens[0], first);
  },
);

test("logit bias by id and by text", slow, async () => {
  const [zero = -1] = model.tokenize("0");
  const wanted = [{ logitBias: { [zero]: 100 } }, { logitBias: [{ token: zero, bias: 100 }] }, {
    logitBias: [{ text: "0", bias: 100 }],
  }];
  for (const options of wanted) assert.equal((await complete({ ...options, maxTokens: 4 })).text, "0000");
  await assert.rejects(complete({ logitBias: { [model.info.vocabularySize]: 1 } }), InvalidArgumentError);
  const all = Array.from({ length: model.info.vocabularySize }, (_, token) => ({ token, bias: -Infinity }));
  await assert.rejects(complete({ logitBias: all }), NoTokenLeftError);
  assert.equal((await complete({ logitBias: all.filter(({ token }) => token !== zero), maxTokens: 3 })).text, "000");
});

test("penalties look at the prompt too, and further with -1", slow, async () => {
  const repeated = "a b c d e f g h a b c d e f g h a b c d e f g h";
  const go = async (options: CompletionOptions) =>
    (await model.complete(repeated, { maxTokens: 4, temperature: 0, ...options })).text;
  assert.equal(await go({}), " a b c d");
  for (
    const options of [{ frequencyPenalty: 20 }, { presencePenalty: 20 }, { repeatPenalty: 10 }, {
      dryMultiplier: 20,
      drySequenceBreakers: [],
    }]
  ) {
    assert.notEqual(await go(options), " a b c d", JSON.stringify(options));
    const window = "dryMultiplier" in options ? { dryPenaltyLastN: 0 } : { penaltyLastN: 0 };
    assert.equal(await go({ ...options, ...window }), " a b c d");
  }
  assert.notEqual(await go({ presencePenalty: 20, penaltyLastN: -1 }), " a b c d");
});

test("ignoreEos and minTokens put off the end", slow, async () => {
  const end = model.tokenize("<|im_end|>", { addSpecial: false, parseSpecial: true })[0] ?? -1;
  const wants = { logitBias: { [end]: 100 }, maxTokens: 6 };
  assert.deepEqual([(await complete(wants)).tokens.length, (await complete(wants)).stopReason], [0, "eos"]);
  assert.equal((await complete({ ...wants, ignoreEos: true })).stopReason, "maxTokens");
  const later = await complete({ ...wants, minTokens: 3 });
  assert.deepEqual([later.tokens.length, later.stopReason], [3, "eos"]);
});

test(
  "banned strings never come, also across tokens and characters; when they cover everything there is an end",
  slow,
  async () => {
    const { text } = await complete({ temperature: 0, maxTokens: 24 });
    assert.match(text, /New Haven was/);
    const banned = [" Haven", "ew Y", "the", " thriving metro"];
    const other = await complete({ temperature: 0, maxTokens: 24, bannedStrings: banned });
    for (const one of banned) assert.ok(!other.text.includes(one), `${one} is in ${other.text}`);
    const greeted = await model.complete("Write an emoji: 😀 😀 😀", {
      temperature: 0,
      maxTokens: 8,
      bannedStrings: ["😀"],
    });
    assert.ok(!greeted.text.includes("😀"));
    const bytes = model.tokenize("😀", { addSpecial: false });
    assert.ok(bytes.length > 1, "the emoji has more than one token");
    // Every token with text holds one of these; the rest are half characters and end tokens.
    const every = Array.from({ length: 0x80 - 1 }, (_, index) => String.fromCharCode(index + 1));
    const half = Array.from({ length: 0x800 - 0x80 }, (_, index) => String.fromCharCode(index + 0x80)).slice(0, 800);
    const covered = await complete({ bannedStrings: [...every, ...half], maxTokens: 12 });
    const ascii = (text: string) => every.some((char) => text.includes(char));
    assert.ok(!ascii(covered.text), covered.text);
    const left = model.info.vocabularySize;
    const onlyAscii = Array.from({ length: left }, (_, token) => token).filter((token) =>
      !ascii(model.detokenize([token], { renderSpecial: false }))
    );
    const nothing = complete({
      bannedStrings: every,
      logitBias: onlyAscii.map((token) => ({ token, bias: -Infinity })),
    });
    await assert.rejects(nothing, NoTokenLeftError);
    // And the model goes on all the same.
    assert.equal((await complete({ temperature: 0, maxTokens: 24 })).text, text);
  },
);

test("log-probabilities: of what was chosen and of what wasn't", slow, async () => {
  const { tokens, text, logprobs } = await complete({ temperature: 0, maxTokens: 5, logprobs: 3 });
  assert.ok(logprobs !== undefined);
  assert.deepEqual(logprobs.map(({ token }) => token), tokens);
  assert.equal(logprobs.map((one) => one.text).join(""), text);
  for (const { token, logprob, alternatives } of logprobs) {
    assert.equal(alternatives.length, 3);
    assert.deepEqual(alternatives[0], { ...alternatives[0], token, logprob });
    const sum = alternatives.reduce((total, one) => total + Math.exp(one.logprob), 0);
    assert.ok(sum > 0 && sum <= 1 + 1e-6);
    assert.ok(
      alternatives.every((one, index) => index === 0 || one.logprob <= (alternatives[index - 1]?.logprob ?? 0)),
    );
  }
  const all = await complete({ maxTokens: 1, logprobs: 1000, temperature: 0 });
  assert.equal(all.logprobs?.[0]?.alternatives.length, 1000);
  assert.deepEqual((await complete({ maxTokens: 2, logprobs: 0 })).logprobs?.map((one) => one.alternatives), [[], []]);
  assert.equal((await complete({ maxTokens: 1 })).logprobs, undefined);
});

test("a sampler of one's own: a function here, a function of a module there", slow, async () => {
  let seen = 0;
  let kept: SamplerCandidates | undefined;
  const own = (candidates: SamplerCandidates): void => {
    assert.equal(candidates.generated.length, seen++);
    kept = candidates;
    candidates.keep((token) => token % 7 === 0);
    candidates.setLogit(0, candidates.logit(0) + 0.5);
  };
  const here = await complete({ samplers: [own, "topK", "temperature"] });
  assert.ok(here.tokens.every((token) => token % 7 === 0) && seen === here.tokens.length);
  assert.throws(() => kept?.token(0), DisposedError);
  const module = new URL("./custom_sampler.ts", import.meta.url);
  const there = await complete({ samplers: [{ module, options: 7 }, "topK", "temperature"] });
  assert.ok(there.tokens.every((token) => token % 7 === 0));
  const both = await complete({
    samplers: ["topK", { module, options: 2 }, (c) => c.keep((token) => token % 3 === 0), "temperature"],
    topK: 1000,
  });
  assert.ok(both.tokens.every((token) => token % 6 === 0));
});

test("a sampler of one's own that fails fails the generation, not the model", slow, async () => {
  const mine = new RangeError("mine");
  const bad: [NonNullable<CompletionOptions["samplers"]>, unknown][] = [
    [[() => {
      throw mine;
    }], mine],
    [[(candidates) => candidates.keep(() => false)], NoTokenLeftError],
    [[(candidates) => {
      for (let index = 0; index < candidates.size; index++) candidates.setLogit(index, -Infinity);
    }], NoTokenLeftError],
    [[(candidates) => candidates.setLogit(0, NaN)], InvalidArgumentError],
    [[(candidates) => void candidates.logit(candidates.size)], InvalidArgumentError],
    [[async () => {}], InvalidArgumentError],
    [[{ module: new URL("./custom_sampler.ts", import.meta.url), export: "failing" }], RangeError],
    [[{ module: new URL("./custom_sampler.ts", import.meta.url), export: "nothing" }], InvalidArgumentError],
    [[{ module: new URL("./custom_sampler.ts", import.meta.url), export: "none" }], InvalidArgumentError],
    [[{ module: new URL("./no_such_module.ts", import.meta.url) }], InvalidArgumentError],
  ];
  for (const [samplers, error] of bad) await assert.rejects(complete({ samplers }), error as RangeError);
  const controller = new AbortController();
  const reason = new Error("enough");
  const aborted = complete({ samplers: [() => controller.abort(reason)], signal: controller.signal });
  await assert.rejects(aborted, reason);
  assert.equal((await complete({ temperature: 0 })).tokens.length, 12);
});
