import assert from "node:assert/strict";
import test from "node:test";
import { writeGguf } from "../../lib/ggml/mod.ts";
import {
  type CompletionOptions,
  DisposedError,
  GgmlError,
  InvalidArgumentError,
  loadModel,
  LoraError,
  type Model,
} from "../../mod.ts";
import { slow } from "./support.ts";
import {
  type LoraContent,
  merged,
  randomLora,
  shapes,
  temporary,
  tinyWeights,
  type Weights,
  writeLora,
  writeTinyModel,
} from "./tiny_model.ts";

const quiet = { threads: 1, contextSize: 64 };
const plain = { temperature: 0, maxTokens: 6, logprobs: 3, ignoreEos: true } as const;
const matrices = ["blk.0.attn_q.weight", "blk.0.attn_v.weight", "blk.0.ffn_down.weight", "output.weight"];
const one = randomLora(matrices, 4, 8, 100);
const other = randomLora(["blk.0.attn_k.weight", "token_embd.weight"], 2, 2, 200);

type Logprobs = { tokens: number[]; logprobs: number[] };

async function answer(model: Model, lora?: CompletionOptions): Promise<Logprobs> {
  const { tokens, logprobs = [] } = await model.complete("Once upon a time", { ...plain, ...lora });
  return { tokens, logprobs: logprobs.map(({ logprob }) => logprob) };
}

async function answerOf(weights: Weights): Promise<Logprobs> {
  await using file = temporary();
  await writeTinyModel(file.path, weights);
  await using model = await loadModel(file.path, quiet);
  return await answer(model);
}

function assertSame(found: Logprobs, expected: Logprobs, what: string): void {
  assert.deepEqual(found.tokens, expected.tokens, what);
  found.logprobs.forEach((value, index) => {
    assert.ok(
      Math.abs(value - (expected.logprobs[index] ?? 0)) < 2e-3,
      `${what}: ${value}, ${expected.logprobs[index]}`,
    );
  });
}

test(
  "adapters give what merged weights give, with each scale, together, and changed from one request to the next",
  slow,
  async () => {
    const weights = tinyWeights();
    await using base = temporary();
    await using first = temporary();
    await using second = temporary();
    await writeTinyModel(base.path, weights);
    await writeLora(first.path, one);
    await writeLora(second.path, other);
    await using model = await loadModel(base.path, quiet);
    const a = await model.loadLora(first.path);
    const b = await model.loadLora(second.path);
    assert.deepEqual([a.info.alpha, a.info.rank, a.info.tensorCount], [8, 4, 4]);
    const without = await answer(model);
    const alone = await answerOf(merged(weights, one, 1));
    assert.notDeepEqual(without.tokens, alone.tokens);
    assertSame(await answer(model, { lora: a }), alone, "one adapter");
    assertSame(await answer(model), without, "none again");
    assertSame(
      await answer(model, { lora: { adapter: a, scale: -0.5 } }),
      await answerOf(merged(weights, one, -0.5)),
      "-0.5",
    );
    assertSame(await answer(model, { lora: [b] }), await answerOf(merged(weights, other, 1)), "the other");
    const both = merged(merged(weights, one, 0.25), other, 2);
    assertSame(
      await answer(model, { lora: [{ adapter: a, scale: 0.25 }, { adapter: b, scale: 2 }] }),
      await answerOf(both),
      "both",
    );
    assertSame(await answer(model, { lora: { adapter: a, scale: 0 } }), without, "scale 0");
    const together = await Promise.all([answer(model, { lora: a }), answer(model), answer(model, { lora: a })]);
    assertSame(together[0], alone, "asked for together");
    assertSame(together[1], without, "asked for together, without");
    await a.dispose();
    await assert.rejects(model.complete("x", { ...plain, lora: a }).then(), DisposedError);
    assertSame(await answer(model, { lora: b }), await answerOf(merged(weights, other, 1)), "after a dispose");
  },
);

test("a chat with an adapter doesn't use what was computed without it", slow, async () => {
  await using base = temporary();
  await using file = temporary();
  await writeTinyModel(base.path, tinyWeights());
  await writeLora(file.path, one);
  await using model = await loadModel(base.path, quiet);
  const lora = await model.loadLora(file.path);
  const template = "{% for m in messages %}{{ m.content }}{% endfor %}";
  const settings = { temperature: 0, maxTokens: 4, ignoreEos: true } as const;
  const fresh = model.chat({ template, history: [{ role: "user", content: "Once" }] });
  const expected = await fresh.send("upon", { ...settings, lora });
  const chat = model.chat({ template, history: [{ role: "user", content: "Once" }] });
  await model.chat({ template }).send("Once", settings);
  assert.deepEqual((await chat.send("upon", { ...settings, lora })).tokens, expected.tokens);
  const again = await chat.send("a", settings);
  assert.equal(again.timings.reusedTokens, 0);
});

/** Adapters with something wrong, and what is said of them. */
const wrong: readonly (readonly [what: string, RegExp, (content: LoraContent) => Parameters<typeof writeGguf>[1]])[] = [
  [
    "another architecture",
    /general\.architecture is "qwen2"; it was made for another model/,
    (lora) => file(lora, { "general.architecture": "qwen2" }),
  ],
  ["no adapter", /general\.type is "model"/, (lora) => file(lora, { "general.type": "model" })],
  [
    "a type that is a number",
    /general\.type is 1/,
    (lora) => file(lora, { "general.type": { type: "uint32", value: 1 } }),
  ],
  ["another kind of adapter", /adapter\.type is "ia3"/, (lora) => file(lora, { "adapter.type": "ia3" })],
  ["alpha as text", /adapter\.lora\.alpha/, (lora) => file(lora, { "adapter.lora.alpha": "8" })],
  [
    "alpha of another type",
    /type uint32/,
    (lora) => file(lora, { "adapter.lora.alpha": { type: "uint32", value: 8 } }),
  ],
  [
    "alpha that is no number",
    /adapter\.lora\.alpha/,
    (lora) => file(lora, { "adapter.lora.alpha": { type: "float32", value: Number.NaN } }),
  ],
  [
    "an activated LoRA",
    /activated LoRA/,
    (lora) => file(lora, { "adapter.alora.invocation_tokens": Uint32Array.of(1, 2) }),
  ],
  ["nothing in it", /has no matrices/, () => file({ ...one, pairs: {} })],
  ["one matrix of a pair", /has no \.lora_b/, (lora) => file(lora, {}, (tensors) => tensors.slice(0, 1))],
  [
    "a tensor of its own",
    /isn't a matrix of a LoRA/,
    (lora) => file(lora, {}, (tensors) => [...tensors, { ...tensor("own", [4]) }]),
  ],
  [
    "a tensor that the model hasn't",
    /isn't a tensor of this model/,
    (lora) =>
      file(
        lora,
        {},
        (
          tensors,
        ) => [...tensors, tensor("blk.9.attn_q.weight.lora_a", [32, 4]), tensor("blk.9.attn_q.weight.lora_b", [4, 32])],
      ),
  ],
  [
    "another size",
    /don't match/,
    () =>
      file(
        { ...one, pairs: {} },
        {},
        () => [tensor("blk.0.attn_q.weight.lora_a", [64, 4]), tensor("blk.0.attn_q.weight.lora_b", [4, 32])],
      ),
  ],
  [
    "two ranks",
    /don't match/,
    () =>
      file(
        { ...one, pairs: {} },
        {},
        () => [tensor("blk.0.attn_q.weight.lora_a", [32, 4]), tensor("blk.0.attn_q.weight.lora_b", [3, 32])],
      ),
  ],
  [
    "a third dimension",
    /don't match/,
    () =>
      file(
        { ...one, pairs: {} },
        {},
        () => [tensor("blk.0.attn_q.weight.lora_a", [32, 4, 2]), tensor("blk.0.attn_q.weight.lora_b", [4, 32, 2])],
      ),
  ],
  [
    "an embedding of two ranks",
    /don't match/,
    () =>
      file(
        { ...one, pairs: {} },
        {},
        () => [tensor("token_embd.weight.lora_a", [2, 49152]), tensor("token_embd.weight.lora_b", [3, 32])],
      ),
  ],
];

type Content = Parameters<typeof writeGguf>[1];
type Tensors = NonNullable<Content["tensors"]>;

function tensor(name: string, shape: readonly number[]): Tensors[number] {
  return { name, type: "f32", shape, data: new Float32Array(shape.reduce((product, size) => product * size, 1)) };
}

function file(
  _: LoraContent,
  metadata: Record<string, unknown> = {},
  change: (tensors: Tensors) => Tensors = (all) => all,
): Content {
  const pairs = Object.keys(_.pairs).slice(0, 1).flatMap((name) => {
    const [input = 0, output = 0] = shapes[name] ?? [];
    return [tensor(`${name}.lora_a`, [input, 4]), tensor(`${name}.lora_b`, [4, output])];
  });
  return {
    metadata: {
      "general.type": "adapter",
      "general.architecture": "llama",
      "adapter.type": "lora",
      "adapter.lora.alpha": { type: "float32", value: 8 },
      ...metadata,
    } as NonNullable<Content["metadata"]>,
    tensors: change(pairs),
  };
}

test("adapters with something wrong are refused, and the model goes on", slow, async () => {
  await using base = temporary();
  const weights = tinyWeights();
  await writeTinyModel(base.path, weights);
  await using model = await loadModel(base.path, quiet);
  const before = await answer(model);
  for (const [what, words, content] of wrong) {
    await using bad = temporary();
    await writeGguf(bad.path, content(one));
    await assert.rejects(
      model.loadLora(bad.path),
      (error) => error instanceof LoraError && error.code === "LORA" && words.test(error.message),
      what,
    );
  }
  await assert.rejects(model.loadLora(base.path), LoraError);
  await assert.rejects(model.loadLora("/nowhere/at/all.gguf"), (error) => error instanceof GgmlError);
  assertSame(await answer(model), before, "after all");
  const { "output.weight": _, ...tied } = weights;
  await using tiedFile = temporary();
  await writeTinyModel(tiedFile.path, tied);
  await using tiedModel = await loadModel(tiedFile.path, quiet);
  await using second = temporary();
  await writeLora(second.path, other);
  await assert.rejects(tiedModel.loadLora(second.path), /whose output is the same tensor/);
});

test("wrong options, another model's adapter, and what is disposed are refused", slow, async () => {
  await using base = temporary();
  await using path = temporary();
  await writeTinyModel(base.path, tinyWeights());
  await writeLora(path.path, one);
  await using model = await loadModel(base.path, quiet);
  const stranger = await loadModel(base.path, quiet);
  const lora = await model.loadLora(path.path);
  const foreign = await stranger.loadLora(path.path);
  for (
    const bad of ["x", {}, { adapter: 1 }, { adapter: lora, scale: "1" }, { adapter: lora, scale: Infinity }, [
      lora,
      lora,
    ]]
  ) {
    assert.throws(() => model.complete("x", { lora: bad as never }), InvalidArgumentError);
  }
  await assert.rejects(model.complete("x", { lora: foreign, maxTokens: 1 }).then(), InvalidArgumentError);
  await stranger.dispose();
  await foreign.dispose();
  await assert.rejects(stranger.loadLora(path.path), DisposedError);
  await lora.dispose();
  await lora.dispose();
});
