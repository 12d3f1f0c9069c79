import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import {
  type CompletionOptions,
  type GenerationResult,
  GrammarError,
  GrammarMatcher,
  InvalidArgumentError,
  type Model,
  parseGrammar,
} from "../../../mod.ts";
import { open } from "../../../ffi/mod.ts";
import { candidateMemory, Candidates } from "../../../lib/llama/thread/sampling/candidates.ts";
import { checkGrammar, type GrammarSettings } from "../../../lib/llama/sampling/grammar.ts";
import { Grammar } from "../../../lib/llama/thread/sampling/grammar.ts";
import { Vocabulary } from "../../../lib/llama/thread/vocabulary.ts";
import { slow, testModel } from "../support.ts";

let model: Model;

before(async () => {
  model = await testModel();
}, slow);

after(() => model.dispose());

const list = `root ::= "[" item ("," item)* "]"
item ::= " "? "\\"" [a-zé]{1,8} "\\"" | " "? [0-9]+ ("." [0-9]{1,2})?`;

function complete(options: CompletionOptions): Promise<GenerationResult> {
  return model.complete("Three colours as JSON:", { maxTokens: 24, seed: 1, ...options }).then((result) => result);
}

test("a text by a grammar keeps to it, however it is sampled; cut off it is a beginning", slow, async () => {
  const shapes: CompletionOptions[] = [
    { temperature: 0 },
    { temperature: 2, topK: 0, topP: 1, minP: 0 },
    { mirostat: 2 },
    { topK: 3 },
    { xtcProbability: 1 },
    { repeatPenalty: 1.5, typicalP: 0.5 },
    { bannedStrings: ["e", ", "], logitBias: [{ text: '"', bias: 3 }] },
    { samplers: ["temperature"] },
    { samplers: [(candidates) => candidates.keep((token) => token % 2 === 0)] },
  ];
  const grammar = parseGrammar(list);
  for (const shape of shapes) {
    for (const seed of [1, 2]) {
      const { text, stopReason } = await complete({ ...shape, seed, grammar: list });
      const matcher = new GrammarMatcher(grammar);
      assert.ok(matcher.accept(text.replace(/\ufffd$/, "")), JSON.stringify({ text, shape: Object.keys(shape) }));
      if (stopReason === "eos") assert.ok(matcher.canEnd, text);
      else assert.equal(stopReason, "maxTokens");
    }
  }
});

test("at its end only the end token may come, also when that was put off", slow, async () => {
  for (const options of [{}, { minTokens: 20 }, { ignoreEos: true }]) {
    const { text, stopReason } = await complete({ ...options, grammar: 'root ::= " red"' });
    assert.deepEqual([text, stopReason], [" red", "eos"]);
  }
  assert.equal((await complete({ grammar: 'root ::= ""' })).text, "");
  const unwritable = complete({ grammar: 'root ::= "a" [\\U0010FFFF]', bannedStrings: ["\u{10ffff}"] });
  await assert.rejects(unwritable);
});

test("a grammar from a trigger on: a word, a token, a pattern, inside and across tokens", slow, async () => {
  const say = async (options: CompletionOptions) =>
    (await model.complete("Tell a story.", { maxTokens: 30, seed: 1, ...options })).text;
  const free = await say({});
  const word = /[a-z]{5,}/.exec(free.slice(10))?.[0] ?? "";
  assert.notEqual(word, "");
  const after = (text: string, trigger: string) => text.slice(text.indexOf(trigger) + trigger.length);
  assert.match(
    after(await say({ grammar: `root ::= "${word}" " BIG"{2} "!"`, grammarTriggers: [word] }), word),
    /^ BIG BIG!$/,
  );
  const tail = word.slice(2);
  assert.match(
    after(await say({ grammar: `root ::= "${tail}" " BIG"{2} "!"`, grammarTriggers: [{ word: tail }] }), tail),
    /^ BIG BIG!$/,
  );
  const pattern = new RegExp(`${word.slice(0, 2)}(${tail})`);
  assert.match(
    after(await say({ grammar: `root ::= "${tail}" " BIG"{2} "!"`, grammarTriggers: [{ pattern }] }), word),
    /^ BIG BIG!$/,
  );
  const token = model.tokenize(free, { addSpecial: false })[3] ?? -1;
  const piece = model.detokenize([token]);
  const byToken = await say({
    grammar: `root ::= ${JSON.stringify(piece)} " BIG"{2} "!"`,
    grammarTriggers: [{ token }],
  });
  assert.match(after(byToken, piece), /BIG BIG!$/);
  assert.equal(await say({ grammar: 'root ::= "zzzzz"', grammarTriggers: ["zzzzz"] }), free);
});

test(
  "a trigger that the grammar can't begin with, a token that isn't there, a grammar that can't be: typed errors",
  slow,
  async () => {
    const grammar = 'root ::= "b"';
    await assert.rejects(complete({ grammar, grammarTriggers: ["a"] }), GrammarError);
    await assert.rejects(complete({ grammar, grammarTriggers: [{ token: 5 }] }), GrammarError);
    await assert.rejects(complete({ grammar, grammarTriggers: [{ token: 1 << 30 }] }), InvalidArgumentError);
    await assert.rejects(complete({ grammar, grammarTriggers: [{ token: "two tokens" }] }), InvalidArgumentError);
    await assert.rejects(complete({ grammar: "root ::= <nonsense>" }), GrammarError);
    assert.throws(() => complete({ grammar: "root ::= (" }), GrammarError);
    assert.equal((await complete({ grammar: 'root ::= <|im_start|> "x"', maxTokens: 4 })).text, "x");
    assert.equal((await complete({ temperature: 0, maxTokens: 4 })).tokens.length, 4);
  },
);

test("the quick look at first bytes leaves out no token that the grammar allows", slow, async () => {
  const native = await open();
  const params = native.defaults("llama_model_params");
  params.vocab_only = true;
  const loaded = native.lib.llama_model_load_from_file(model.info.path, params);
  assert.ok(loaded !== null);
  const vocab = native.lib.llama_model_get_vocab(loaded);
  assert.ok(vocab !== null);
  const vocabulary = new Vocabulary(native.lib, vocab);
  const candidates = new Candidates(native, candidateMemory(vocabulary.size));
  const allowed = (grammar: Grammar, quick: boolean): Set<number> => {
    candidates.fill(new Float32Array(vocabulary.size));
    const next = grammar.nextBytes;
    assert.ok(next !== undefined);
    if (quick) candidates.keepFirst(next, vocabulary.firstBytes);
    grammar.apply(candidates);
    return new Set(Array.from({ length: candidates.drop() }, (_, index) => candidates.ids[index * 3] ?? -1));
  };
  for (const source of [list, 'root ::= [^"\\n]* "é" ("🌍" | "x")', 'root ::= ("ab" | "ac" root)?']) {
    using grammar = new Grammar(native, vocab, vocabulary, checkGrammar({ grammar: source }) as GrammarSettings);
    for (let step = 0; step < 12; step++) {
      const [all, quick] = [allowed(grammar, false), allowed(grammar, true)];
      assert.deepEqual(quick, all);
      const going = [...all].filter((token) => !native.lib.llama_vocab_is_eog(vocab, token));
      const next = going[(step * 7919) % Math.max(1, going.length)];
      if (next === undefined) break;
      assert.ok(grammar.allows(next));
      grammar.accept(next);
    }
  }
  native.lib.llama_model_free(loaded);
});
