import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { editGguf } from "../../../lib/gguf/edit.ts";
import { defaultModelPath, InvalidArgumentError, loadModel, UnsupportedModelError } from "../../../mod.ts";
import { root, slow, testModel } from "../support.ts";

const vocabulary = (name: string) => join(root, `csrc/upstream/llama.cpp/models/ggml-vocab-${name}.gguf`);

test(
  "filling in the middle: the marks of a vocabulary that has them, text in between that is never a mark",
  slow,
  async () => {
    await using model = await loadModel(vocabulary("starcoder"));
    const mark = (name: string) => model.tokenize(`<fim_${name}>`, { addSpecial: false, parseSpecial: true });
    const text = (text: string) => model.tokenize(text, { addSpecial: false });
    const [pre, suf, mid] = ["prefix", "suffix", "middle"].map(mark);
    assert.deepEqual([pre, suf, mid].map((one) => one?.length), [1, 1, 1]);
    const tokens = (...parts: (Iterable<number> | undefined)[]) => parts.flatMap((part) => [...part ?? []]);
    const [before, behind] = ["def add(a, b):\n    return ", "\n\nprint(add(1, 2)) # <fim_middle>"];
    assert.deepEqual([...model.infillTokens(before, behind)], tokens(pre, text(before), suf, text(behind), mid));
    assert.deepEqual(
      [...model.infillTokens(before, behind, { order: "spm" })],
      tokens(suf, text(behind), pre, text(before), mid),
    );
    assert.equal([...model.infillTokens(before, behind)].filter((token) => token === mid?.[0]).length, 1);
    const file = { name: "x.py", text: "y = 1" };
    assert.throws(() => model.infillTokens("a", "b", { files: [file] }), UnsupportedModelError);
    assert.throws(() => model.infill("a", "b"), UnsupportedModelError);
  },
);

test("vocabularies with the marks, and those without", slow, async () => {
  const found: Record<string, boolean> = {};
  for (const name of ["starcoder", "refact", "deepseek-coder", "gpt-2", "llama-bpe", "phi-3"]) {
    await using model = await loadModel(vocabulary(name));
    try {
      found[name] = model.infillTokens("a", "b").length > 3;
    } catch (error) {
      assert.ok(error instanceof UnsupportedModelError, String(error));
      found[name] = false;
    }
  }
  assert.deepEqual(found, {
    starcoder: true,
    refact: true,
    "deepseek-coder": true,
    "gpt-2": false,
    "llama-bpe": false,
    "phi-3": false,
  });
});

test("a model without the marks gives a typed error, one with them an answer", slow, async () => {
  await using plain = await testModel();
  await assert.rejects(plain.infill("a", "b").then(), UnsupportedModelError);
  assert.throws(() => plain.infillTokens("a", "b"), UnsupportedModelError);
  assert.throws(() => plain.infill("a", 5 as unknown as string), InvalidArgumentError);
  assert.throws(() => plain.infill("a", "b", { order: "x" as "psm" }), InvalidArgumentError);
  assert.throws(() => plain.infill("a", "b", { files: [{ name: "x" }] as never }), InvalidArgumentError);
  const output = join(tmpdir(), `${crypto.randomUUID()}.gguf`);
  const uint32 = (value: number) => ({ type: "uint32" as const, value });
  try {
    await editGguf(await defaultModelPath(), {
      output,
      set: {
        "tokenizer.ggml.fim_pre_token_id": uint32(5),
        "tokenizer.ggml.fim_suf_token_id": uint32(6),
        "tokenizer.ggml.fim_mid_token_id": uint32(7),
        "tokenizer.ggml.fim_rep_token_id": uint32(8),
        "tokenizer.ggml.fim_sep_token_id": uint32(9),
      },
    });
    await using model = await loadModel(output, { threads: 1, contextSize: 512 });
    assert.deepEqual([...model.infillTokens("", "")], [5, 6, 7]);
    const text = (text: string) => model.tokenize(text, { addSpecial: false });
    assert.deepEqual(
      [...model.infillTokens("a", "b", { files: [{ name: "x.py", text: "y = 1" }], repository: "r", file: "z.py" })],
      [
        8,
        ...text("r\n"),
        9,
        ...text("x.py\n"),
        ...text("y = 1"),
        9,
        ...text("z.py\n"),
        5,
        ...text("a"),
        6,
        ...text("b"),
        7,
      ],
    );
    const options = { maxTokens: 8, temperature: 0 };
    const result = await model.infill("The capital of France is", ".", options);
    assert.equal(result.tokens.length, 8);
    assert.equal(result.timings.promptTokens, model.infillTokens("The capital of France is", ".").length);
    const sampled = await model.infill("a", "b", { maxTokens: 8, samplers: ["topK", "infill"] });
    assert.ok(sampled.stopReason === "eos" || sampled.stopReason === "maxTokens");
  } finally {
    await rm(output, { force: true });
  }
});

test(
  "token healing: a prompt that ends inside a token, or with a space, goes on as the whole text would",
  slow,
  async () => {
    await using model = await testModel();
    const go = async (prompt: string, tokenHealing: boolean) =>
      (await model.complete(prompt, { temperature: 0, maxTokens: 6, tokenHealing })).text;
    assert.notEqual(await go("The url is http:", false), await go("The url is http:", true));
    assert.match(await go("The url is http:", true), /^\/\//);
    assert.match(await go("The capital of France is ", true), /^Paris/);
    assert.doesNotMatch(await go("The capital of France is ", false), /^Paris/);
    assert.match(await go("The capital of France is P", true), /^aris/);
    const grammar = 'root ::= "a"';
    assert.throws(() => model.complete("x", { tokenHealing: true, grammar }), InvalidArgumentError);
    const { text } = await model.complete("The capital of France is P", {
      temperature: 0,
      maxTokens: 6,
      tokenHealing: true,
      stop: "ris",
    });
    assert.equal(text, "a");
  },
);
