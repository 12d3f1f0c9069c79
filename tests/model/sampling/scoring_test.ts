import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { EmptyPromptError, InvalidArgumentError, type Model, PromptTooLongError } from "../../../mod.ts";
import { slow, testModel } from "../support.ts";

let model: Model;

before(async () => {
  model = await testModel();
}, slow);

after(() => model.dispose());

/** Batches of other sizes are added up in another order. */
const near = (a: number, b: number) => Math.abs(a - b) < 0.05;

test("what was generated has the score that was reported as it was made", slow, async () => {
  const prompt = "The capital of France is";
  const { text, tokens, logprobs } = await model.complete(prompt, { temperature: 0, maxTokens: 40, logprobs: 0 });
  const [score] = await model.score(prompt, [text]);
  assert.ok(score !== undefined && logprobs !== undefined);
  assert.deepEqual(score.tokens, tokens);
  logprobs.forEach(({ logprob }, index) => assert.ok(near(logprob, score.logprobs[index] ?? 0), `token ${index}`));
  assert.ok(near(score.logprob, logprobs.reduce((sum, one) => sum + one.logprob, 0)));
  assert.equal(score.meanLogprob, score.logprob / tokens.length);
});

test("continuations: each alone as with others, also where they change how the prompt is cut", slow, async () => {
  const texts = [" Paris", " Rome, the city", " P"];
  const together = await model.score("The capital of France is", texts);
  for (const [index, text] of texts.entries()) {
    const [alone] = await model.score("The capital of France is", [text]);
    assert.ok(near(alone?.logprob ?? 0, together[index]?.logprob ?? 1));
  }
  const [cut] = await model.score("The capital of France is ", ["Paris"]);
  assert.ok(near(cut?.logprob ?? 0, together[0]?.logprob ?? 1), "the space belongs to the token");
  assert.deepEqual(await model.score("x", []), []);
});

test("the sum over what may come next is one", slow, async () => {
  const all = await model.complete("1 + 1 =", { temperature: 0, maxTokens: 1, logprobs: 1000 });
  const likely = all.logprobs?.[0]?.alternatives.filter(({ text }) => /^[ a-z]+$/.test(text)).slice(0, 20) ?? [];
  const scores = await model.score("1 + 1 =", likely.map(({ text }) => text));
  scores.forEach(({ tokens, logprob }, index) => {
    if (tokens.length === 1) assert.ok(near(logprob, likely[index]?.logprob ?? 1), `token ${index}`);
  });
});

test("choose: a label, yes or no, a number on a scale", slow, async () => {
  const kind = ["positive", "negative"] as const;
  const good = await model.choose("This film was wonderful, I loved it! Sentiment:", kind, { separator: " " });
  const bad = await model.choose("The worst film ever. Boring! Sentiment:", kind, { separator: " " });
  assert.deepEqual([good.label, good.index, bad.label, bad.index], ["positive", 0, "negative", 1]);
  assert.ok(Math.abs(good.labels.reduce((sum, one) => sum + one.probability, 0) - 1) < 1e-9);
  assert.equal(good.expected, undefined);
  const scale = await model.choose("From 1 to 5, two plus one is", [1, 2, 3, 4, 5], { separator: " " });
  assert.ok(scale.expected !== undefined && scale.expected > 1 && scale.expected < 5);
  const long = ["cold", "colder than anything that anybody has ever touched"];
  const mean = await model.choose("Fire is hot, but ice is", long, { separator: " ", compare: "mean" });
  const sum = await model.choose("Fire is hot, but ice is", long, { separator: " " });
  assert.ok((mean.labels[1]?.probability ?? 0) > (sum.labels[1]?.probability ?? 0));
});

test("perplexity: of what makes sense and what doesn't; a long text in windows as in one", slow, async () => {
  const sense = await model.perplexity("Water boils at one hundred degrees and freezes at zero degrees.");
  const none = await model.perplexity("degrees at freezes zero and degrees hundred one at boils Water.");
  assert.ok(sense.perplexity * 3 < none.perplexity);
  assert.ok(near(sense.perplexity, Math.exp(-sense.logprob / sense.tokens.length)));
  const text = Array.from({ length: 28 }, (_, n) => `The square of ${n} is ${n * n}.`).join(" ");
  const whole = await model.perplexity(text);
  assert.ok(whole.tokens.length > 256 && whole.tokens.length < 512, String(whole.tokens.length));
  await using small = await testModel({ contextSize: 256 });
  const windows = await small.perplexity(text);
  assert.deepEqual(windows.tokens, whole.tokens);
  assert.equal(windows.logprobs.length, whole.logprobs.length);
  assert.ok(windows.logprobs.slice(0, 255).every((one, index) => near(one, whole.logprobs[index] ?? 1)));
  assert.ok(Math.abs(Math.log(windows.perplexity) - Math.log(whole.perplexity)) < 0.2);
});

test("bad input", slow, async () => {
  await assert.rejects(model.score("", ["Paris"]), EmptyPromptError);
  await assert.rejects(model.score("x", [""]), InvalidArgumentError);
  await assert.rejects(model.score("x", "y" as unknown as string[]), InvalidArgumentError);
  await assert.rejects(model.score("x", ["word ".repeat(600)]), PromptTooLongError);
  await assert.rejects(model.choose("x", ["a", "a"]), InvalidArgumentError);
  await assert.rejects(model.choose("x", ["a"]), InvalidArgumentError);
  await assert.rejects(model.choose("x", 5 as unknown as string[]), InvalidArgumentError);
  await assert.rejects(model.choose("x", ["a", "b"], { compare: "max" as "sum" }), InvalidArgumentError);
  await assert.rejects(model.perplexity(""), EmptyPromptError);
  await assert.rejects(model.perplexity("a"), EmptyPromptError);
  const reason = new Error("enough");
  await assert.rejects(model.perplexity("word ".repeat(400), { signal: AbortSignal.abort(reason) }), reason);
  const controller = new AbortController();
  const running = model.perplexity("word ".repeat(2000), { signal: controller.signal });
  setTimeout(() => controller.abort(reason));
  await assert.rejects(running, reason);
  assert.match((await model.complete("The capital of France is", { temperature: 0, maxTokens: 4 })).text, /Paris/);
});
