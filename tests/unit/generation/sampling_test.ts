import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { DisposedError, GrammarError, InvalidArgumentError } from "../../../lib/errors.ts";
import { checkInfillPrompt } from "../../../lib/llama/generation/infill.ts";
import { checkSampling, type SamplingOptions } from "../../../lib/llama/sampling/options.ts";
import { lendCandidates, type SamplerCandidates } from "../../../lib/llama/sampling/candidates.ts";
import { checkGbnf } from "../../../lib/gbnf/check.ts";
import { checkGrammar, type GrammarOptions } from "../../../lib/llama/sampling/grammar.ts";
import { choice, continuationScore } from "../../../lib/llama/generation/scoring.ts";
import { BannedStrings } from "../../../lib/llama/thread/sampling/banned_strings.ts";
import { largest, logSum } from "../../../lib/llama/thread/sampling/logprobs.ts";
import { TriggerText } from "../../../lib/llama/thread/sampling/trigger_text.ts";

const refused = (options: unknown, message: RegExp) =>
  assert.throws(() => checkSampling(options as SamplingOptions), (error) => {
    assert.ok(error instanceof InvalidArgumentError, String(error));
    assert.match(error.message, message);
    assert.ok(error.expected !== undefined);
    return true;
  });

test("the order of samplers", () => {
  const names = (options: SamplingOptions) =>
    checkSampling(options).samplers.map((one) => one.kind === "name" ? one.name : one.kind);
  const usual = ["penalties", "dry", "topNSigma", "topK", "typicalP", "topP", "minP", "xtc", "temperature"];
  assert.deepEqual(names({}), usual);
  assert.deepEqual(names({ adaptiveTarget: 0.5 }), [...usual, "adaptiveP"]);
  assert.deepEqual(names({ samplers: ["temperature", () => {}, "topK"] }), ["temperature", "function", "topK"]);
  refused({ samplers: "topK" }, /samplers is "topK"/);
  refused({ samplers: ["top_k"] }, /samplers\[0\] is "top_k"; expected one of "penalties"/);
  refused({ samplers: ["topK", "topK"] }, /topK twice/);
  refused({ samplers: ["topK"], topP: 0.5 }, /topP is given, but samplers has no topP/);
  refused({ samplers: ["adaptiveP", "topK"], adaptiveTarget: 0.5 }, /must be the last/);
  refused({ samplers: ["adaptiveP"] }, /needs adaptiveTarget/);
  refused({ samplers: ["infill"] }, /topK must come before it/);
  refused({ samplers: ["topK", "infill"], topK: 0 }, /topK must come before it/);
  refused({ mirostat: 1, samplers: ["topK"] }, /mirostat takes the place/);
  refused({ samplers: [5] }, /samplers\[0\]/);
  refused({ samplers: [null] }, /samplers\[0\]/);
  refused({ samplers: [{ module: "./x.ts" }] }, /absolute URL/);
  refused({ samplers: [{ module: "file:///x.ts", options: () => {} }] }, /can't be sent/);
  refused({ samplers: [{ modul: "file:///x.ts" }] }, /did you mean module/);
  refused({ samplers: new Array(65).fill("topK") }, /at most 64/);
});

test("biases, banned strings, breakers, logprobs", () => {
  assert.deepEqual(checkSampling({ logitBias: { 5: -1, 7: -Infinity } }).logitBias, [{ token: 5, bias: -1 }, {
    token: 7,
    bias: -Infinity,
  }]);
  assert.deepEqual(checkSampling({ logitBias: [{ text: "a", bias: 1 }] }).logitBias, [{ token: "a", bias: 1 }]);
  for (
    const bad of [
      5,
      "x",
      { a: 1 },
      { 1: NaN },
      { 1: Infinity },
      { 1: "2" },
      [{ token: 1 }],
      [{ token: 1, text: "a", bias: 1 }],
      [{ token: -1, bias: 1 }],
      [{ text: "", bias: 1 }],
      [1],
    ]
  ) {
    refused({ logitBias: bad }, /logitBias/);
  }
  refused({ bannedStrings: [""] }, /bannedStrings\[0\] is empty/);
  refused({ bannedStrings: "a" }, /at most 1000/);
  refused({ bannedStrings: ["a\0"] }, /NUL/);
  refused({ bannedStrings: ["\ud800"] }, /UTF-16/);
  refused({ drySequenceBreakers: ["a\0"] }, /NUL/);
  refused({ drySequenceBreakers: new Array(65).fill("a") }, /at most 64/);
  refused({ ignoreEos: 1 }, /true or false/);
});

test("grammars: what is wrong is told with its place, before llama.cpp sees it", () => {
  const wrong = (source: string, message: RegExp) =>
    assert.throws(() => checkGbnf(source), (error) => error instanceof GrammarError && message.test(error.message));
  for (
    const right of [
      'root ::= "a"',
      "root ::= a b?\na ::= [^a-z\\]]\nb ::= (a | .){2,3} # more",
      'root ::= "" | "x" root',
      "root ::= <[5]> !<|im_end|>",
    ]
  ) {
    checkGbnf(right);
  }
  wrong('root ::= "a', /line 1, column/);
  wrong('a ::= "b"\nroot ::= c', /"c"/);
  wrong('a ::= "b"', /no rule "root"/);
  wrong("", /no rule "root"/);
  wrong("root = 1", /::=/);
  wrong("root ::= (a", /./);
  wrong('root ::= "a"{5,2}', /5/);
  wrong('root ::= "a"{2001}', /2000/);
  wrong("root ::= *", /nothing/);
  wrong('root ::= "a\0"', /NUL/);
  wrong('root ::= root "x"', /can begin with itself/);
  wrong('root ::= a root "x"\na ::= b\nb ::= "" | "y"', /can begin with itself/);
  wrong('root ::= ("a"?)*', /can begin with itself/);
  wrong(`root ::= ${"(".repeat(300)}"a"${")".repeat(300)}`, /nested/);
  const doubling = Array.from({ length: 40 }, (_, n) => `r${n} ::= r${n + 1} r${n + 1} | r${n + 1}`).join("\n");
  wrong(`root ::= r0\n${doubling}\nr40 ::= "a" | ""`, /in more than/);
  const chain = Array.from({ length: 5000 }, (_, n) => `r${n} ::= r${n + 1}`).join("\n");
  wrong(`root ::= r0\n${chain}\nr5000 ::= "a"`, /deep/);
});

test("grammars: any text is read or refused, and quickly", () => {
  const part = fc.constantFrom(
    "root ::= ",
    '"a"',
    "[a-z]",
    "(",
    ")",
    "|",
    "*",
    "+",
    "?",
    "{2,3}",
    "\n",
    "a ::= ",
    "a",
    " ",
    "#",
    "<",
    ">",
    "\\",
    "^",
    "]",
    '"',
    ".",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      try {
        checkGbnf(parts.join(""));
      } catch (error) {
        assert.ok(error instanceof GrammarError, String(error));
      }
    }),
    { numRuns: 3000, seed: 7 },
  );
});

test("grammars: triggers", () => {
  const check = (options: unknown) => checkGrammar(options as GrammarOptions);
  const grammar = 'root ::= "a"';
  assert.equal(check({}), undefined);
  assert.deepEqual(
    check({ grammar, grammarTriggers: ["a", { token: 5 }, { token: "<b>" }, { word: "c" }] })?.triggers,
    {
      words: ["a", "c"],
      tokens: [5, "<b>"],
      patterns: [],
    },
  );
  assert.equal(check({ grammar, grammarTriggers: [{ pattern: /x/giy }] })?.triggers?.patterns[0]?.flags, "di");
  for (
    const bad of [
      { grammarRoot: "a" },
      { grammarTriggers: ["a"] },
      { grammar, grammarTriggers: [] },
      { grammar, grammarTriggers: [""] },
      { grammar, grammarTriggers: [{}] },
      { grammar, grammarTriggers: [{ pattern: "x" }] },
      { grammar, grammarTriggers: [{ word: "a", token: 1 }] },
      { grammar, grammarTriggers: [{ token: -1 }] },
      { grammar: 5 },
    ]
  ) {
    assert.throws(() => check(bad), InvalidArgumentError, JSON.stringify(bad));
  }
});

test("triggers are found across tokens and inside of them", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const look = (words: string[], patterns: RegExp[], texts: string[]) => {
    const text = new TriggerText({ words, tokens: [], patterns });
    for (const [token, one] of texts.entries()) {
      const found = text.find(token, bytes(one));
      if (found !== undefined) return { rest: new TextDecoder().decode(found.bytes), tokens: found.tokens };
      text.add(token, bytes(one));
    }
    return undefined;
  };
  assert.deepEqual(look(["<call>"], [], ["a <ca", "ll", ">{"]), { rest: "<ca", tokens: [1, 2] });
  assert.deepEqual(look(["<call>"], [], ["a ", "<ca", "ll>"]), { rest: "", tokens: [1, 2] });
  assert.equal(look(["<call>"], [], ["a <", "call", " >"]), undefined);
  assert.deepEqual(look(["é"], [], ["xé"]), { rest: "é", tokens: [] });
  assert.deepEqual(look([], [/x(\d+)/d], ["ab", "x", "12", "3"]), { rest: "", tokens: [2] });
  assert.deepEqual(look([], [/ö(ü)/d], ["äö", "ü!"]), { rest: "", tokens: [1] });
  assert.deepEqual(look(["yes"], [], [..."a long text before it says ", "yes"])?.tokens.length, 1);
});

test("banned strings: the tokens that would complete one, by a search over all texts", () => {
  const letters = fc.constantFrom("a", "b", "c");
  const text = (max: number) => fc.string({ unit: letters, minLength: 1, maxLength: max });
  fc.assert(
    fc.property(
      fc.array(text(3), { minLength: 1, maxLength: 6 }),
      fc.array(text(4), { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(5), { maxLength: 12 }),
      (pieces, strings, steps) => {
        const banned = new BannedStrings(strings, pieces);
        let written = "";
        for (const step of steps) {
          const forbidden = new Set([...banned.whole, ...banned.completing()]);
          pieces.forEach((piece, token) => {
            const bad = strings.some((one) => (written + piece).includes(one));
            assert.equal(forbidden.has(token), bad, JSON.stringify({ written, piece, strings }));
          });
          const token = step % pieces.length;
          if (forbidden.has(token)) continue;
          banned.push(token);
          written += pieces[token];
        }
      },
    ),
    { numRuns: 1000, seed: 3 },
  );
});

test("sums of logarithms and the largest numbers", () => {
  const numbers = fc.array(fc.oneof(fc.float({ noNaN: true, min: -90, max: 90 }), fc.constant(-Infinity)), {
    minLength: 1,
    maxLength: 200,
  });
  fc.assert(
    fc.property(numbers, fc.nat(20), (list, count) => {
      const values = Float32Array.from(list);
      const most = Math.max(...values);
      const sum = most === -Infinity
        ? most
        : most + Math.log(values.reduce((total, one) => total + Math.exp(one - most), 0));
      assert.ok(most === -Infinity ? logSum(values) === most : Math.abs(logSum(values) - sum) < 1e-10);
      const expected = [...values.keys()].sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0) || a - b).slice(0, count);
      assert.deepEqual(largest(values, count).map((at) => values[at]), expected.map((at) => values[at]));
    }),
    { numRuns: 1000, seed: 5 },
  );
});

test("candidates for a custom sampler: valid during the call", () => {
  const memory = new ArrayBuffer(36);
  new Int32Array(memory).set([1, 0, 0, 2, 0, 0, 3]);
  new Float32Array(memory).set([0.5], 1);
  let kept: SamplerCandidates | undefined;
  const left = lendCandidates(new Int32Array(memory), new Float32Array(memory), 3, [9], (candidates) => {
    kept = candidates;
    assert.deepEqual(candidates.generated, [9]);
    assert.deepEqual([...candidates].map(([token]) => token), [1, 2, 3]);
    assert.equal(String(candidates), "SamplerCandidates 3 tokens [1, 2, 3]");
    candidates.setLogit(2, 4);
    candidates.keep((token) => token !== 1);
    assert.deepEqual([...candidates], [[2, 0], [3, 4]]);
    for (const bad of [-1, 2, 0.5, NaN]) assert.throws(() => candidates.logit(bad), InvalidArgumentError);
    for (const bad of [NaN, Infinity, "1"]) {
      assert.throws(() => candidates.setLogit(0, bad as number), InvalidArgumentError);
    }
  });
  assert.equal(left, 2);
  assert.throws(() => kept?.token(0), DisposedError);
  assert.equal(String(kept), "SamplerCandidates (of an earlier token)");
});

test("a choice among scores, and what is asked of a gap", () => {
  const scores = [-1, -2, -1].map((logprob) =>
    continuationScore("x", { tokens: Int32Array.of(1, 2), logprobs: Float64Array.of(logprob, 0) })
  );
  const { label, index, expected, labels } = choice([10, 20, 30], scores, "sum");
  assert.deepEqual([label, index], [10, 0]);
  assert.ok(Math.abs((expected ?? 0) - 20) < 1e-9);
  assert.ok(Math.abs(labels.reduce((sum, one) => sum + one.probability, 0) - 1) < 1e-12);
  for (const bad of [{ order: "x" }, { files: 5 }, { files: [{ name: "x" }] }, { repository: 5 }, { nonsense: 1 }]) {
    assert.throws(() => checkInfillPrompt("a", "b", bad as never), InvalidArgumentError);
  }
});
