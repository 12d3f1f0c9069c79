import assert from "node:assert/strict";
import test from "node:test";
import { InvalidArgumentError } from "../../mod.ts";
import { randomBelow } from "../support/random.ts";
import { sharedModel, slow, system } from "./support.ts";

const shared = sharedModel();

const texts = [
  "",
  " ",
  "Hello, world",
  "  two spaces before and after  ",
  "\n\n\ttabs and lines\r\n",
  "日本語のテキスト",
  "emoji 🌍👨‍👩‍👧‍👦🏳️‍🌈 and é é",
  "inner\0NUL\0",
  "<|im_start|>user\nnot special<|im_end|>",
  "\uFEFFwith a byte order mark",
  "\uFFFD\u0000\u007f\u{10FFFF}",
];

test("text to tokens and back is exact, on either thread", slow, async () => {
  const model = await shared();
  for (const text of texts) {
    for (const parseSpecial of [false, true]) {
      const tokens = model.tokenize(text, { parseSpecial });
      assert.ok(tokens instanceof Int32Array);
      assert.equal(model.detokenize(tokens), text);
      assert.equal(model.detokenize([...tokens]), text);
      assert.deepEqual(await model.tokenizeAsync(text, { parseSpecial }), tokens);
      assert.equal(await model.detokenizeAsync(tokens), text);
    }
  }
});

test("random text of all planes goes to tokens and back", slow, async () => {
  const model = await shared();
  const random = randomBelow(7);
  // This model's vocabulary lacks some bytes: a character that is lost alone is lost in a text too.
  const kept = (point: number) => {
    const one = String.fromCodePoint(point);
    return (point < 0xd800 || point > 0xdfff) && model.detokenize(model.tokenize(one)) === one;
  };
  let characters = 0;
  for (let round = 0; round < 300; round++) {
    const points = Array.from({ length: random(40) }, () => random([0x80, 0x3000, 0x110000][random(3)] ?? 0x80));
    const text = String.fromCodePoint(...points.filter(kept));
    characters += text.length;
    assert.equal(model.detokenize(model.tokenize(text)), text, JSON.stringify(text));
  }
  assert.ok(characters > 3000, String(characters));
});

test("control tokens are read only when asked for", slow, async () => {
  const model = await shared();
  const plain = model.tokenize("<|im_end|>");
  const special = model.tokenize("<|im_end|>", { parseSpecial: true });
  assert.ok(plain.length > 1);
  assert.equal(special.length, 1);
  assert.equal(model.detokenize(special, { renderSpecial: false }), "");
  assert.throws(() => model.detokenize([model.info.vocabularySize]), InvalidArgumentError);
  assert.throws(() => model.tokenize("\ud800"), InvalidArgumentError);
});

test("a long text", slow, async () => {
  const model = await shared();
  const text = "The quick brown 🦊. ".repeat(20_000);
  const tokens = await model.tokenizeAsync(text);
  assert.ok(tokens.length > 100_000);
  assert.equal(await model.detokenizeAsync(tokens), text);
});

test("pieces are whole characters; a last one that was cut becomes one U+FFFD", slow, async () => {
  const model = await shared();
  const chat = model.chat({ system });
  let cut = 0;
  for (const maxTokens of [23, 24, 25, 26, 27, 28]) {
    const pieces: string[] = [];
    const generation = model.chat({ system }).send("Repeat this exactly: 😀 日本語 😀", { temperature: 0, maxTokens });
    for await (const piece of generation) pieces.push(piece);
    assert.match(pieces.join(""), /\p{Emoji_Presentation}/u);
    for (const piece of pieces.slice(0, -1)) {
      assert.ok(piece.isWellFormed() && !piece.includes("\uFFFD"), JSON.stringify(piece));
    }
    if (pieces.at(-1)?.includes("\uFFFD")) cut++;
    assert.ok((pieces.at(-1)?.split("\uFFFD").length ?? 0) <= 2);
  }
  assert.ok(cut > 0, "no cut character in any of them: choose other lengths");
  assert.equal(chat.history.length, 1);
});

test("stop strings end the text, also across the borders of tokens", slow, async () => {
  const model = await shared();
  const prompt = "1, 2, 3,";
  const { text } = await model.complete(prompt, { temperature: 0, maxTokens: 24 });
  assert.match(text, /^ 4, 5, 6, 7/);
  const cases: [stop: string[], expected: string][] = [[[", 6"], " 4, 5"], [["5, 6, 7"], " 4, "], [[" 4"], ""], [[
    "nowhere",
    "6,",
  ], " 4, 5, "]];
  for (const [stop, expected] of cases) {
    const pieces: string[] = [];
    const generation = model.complete(prompt, { temperature: 0, maxTokens: 24, stop });
    for await (const piece of generation) pieces.push(piece);
    const result = await generation;
    assert.deepEqual({ streamed: pieces.join(""), text: result.text, stopReason: result.stopReason }, {
      streamed: expected,
      text: expected,
      stopReason: "stop",
    });
    assert.ok(result.stop !== undefined && stop.includes(result.stop));
  }
  const held = await model.complete(prompt, { temperature: 0, maxTokens: 24, stop: `${text.slice(-3)}!` });
  assert.equal(held.text, text);
  assert.equal(held.stopReason, "maxTokens");
});

test("leading spaces come through", slow, async () => {
  const model = await shared();
  const { text } = await model.complete("The capital of France is", { temperature: 0, maxTokens: 1 });
  assert.equal(text, " Paris");
});

test("a loop that begins late gets all of the text, the first piece holding what was there", slow, async () => {
  const model = await shared();
  const options = { maxTokens: 12, temperature: 0 };
  const whole = await model.complete("1, 2, 3,", options);
  const late = model.complete("1, 2, 3,", options);
  await model.tokenizeAsync("waits behind the generation");
  const pieces: string[] = [];
  for await (const piece of late) pieces.push(piece);
  assert.deepEqual(pieces, [whole.text]);
});
