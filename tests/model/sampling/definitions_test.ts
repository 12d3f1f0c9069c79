import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import test, { after, before } from "node:test";
import fc from "fast-check";
import { type Native, open, type Pointer } from "../../../ffi/mod.ts";
import { candidateMemory, Candidates } from "../../../lib/llama/thread/sampling/candidates.ts";
import { Vocabulary } from "../../../lib/llama/thread/vocabulary.ts";
import { root, slow } from "../support.ts";
import * as plain from "./definitions.ts";

type Sampler = Pointer<"llama_sampler">;

/** `GGML_FFI_RUNS=10000` for the long form. */
const runs = Number(process.env["GGML_FFI_RUNS"] ?? 300);
const parameters = { numRuns: runs, seed: 20260101 };
const vocabularySize = 2000;
const within = 1e-5;

let native: Native;
let model: Pointer<"llama_model">;
let vocab: Pointer<"llama_vocab">;
let candidates: Candidates;

before(async () => {
  native = await open();
  const params = native.defaults("llama_model_params");
  params.vocab_only = true;
  const path = join(root, "csrc/upstream/llama.cpp/models/ggml-vocab-qwen2.gguf");
  model = native.lib.llama_model_load_from_file(path, params) as Pointer<"llama_model">;
  vocab = native.lib.llama_model_get_vocab(model) as Pointer<"llama_vocab">;
  candidates = new Candidates(native, candidateMemory(vocabularySize));
});

after(() => native.lib.llama_model_free(model));

/** Candidates of different ids, whose logits are all different. */
const someCandidates = (most = 1200) =>
  fc.uniqueArray(fc.tuple(fc.nat(vocabularySize - 1), fc.integer({ min: -1500, max: 1500 })), {
    minLength: 1,
    maxLength: most,
    selector: ([id]) => id,
    size: "max",
  }).map((list) => {
    const used = new Set<number>();
    return list.filter(([, logit]) => !used.has(logit) && used.add(logit)).map(([id, logit]) => ({
      id,
      logit: logit / 128,
    }));
  });

const probability = fc.integer({ min: 1, max: 999 }).map((part) => Math.fround(part / 1000));
const seed = fc.nat(0xffff_fffe);
const keep = fc.constantFrom(0, 0, 1, 5);

function set(list: plain.Candidates): void {
  list.forEach(({ id, logit }, index) => {
    candidates.ids[index * 3] = id;
    candidates.values[index * 3 + 1] = logit;
    candidates.values[index * 3 + 2] = 0;
  });
  candidates.setSize(list.length);
}

/** What is left and possible, in the order that there is. */
function left(): plain.Candidate[] {
  candidates.drop();
  return Array.from(
    { length: candidates.size },
    (_, index) => ({ id: candidates.ids[index * 3] ?? -1, logit: candidates.logitAt(index) }),
  );
}

function same(list: plain.Candidates, expected: plain.Candidates): void {
  const possible = expected.filter(({ logit }) => logit !== -Infinity);
  const parts = new Map(softmaxOf(possible));
  assert.equal(list.length, possible.length);
  for (const [id, part] of softmaxOf(list)) {
    const wanted = parts.get(id);
    assert.ok(
      wanted !== undefined && Math.abs(part - wanted) <= within,
      `token ${id}: ${part}, by its definition ${wanted}`,
    );
  }
}

function softmaxOf(list: plain.Candidates): [number, number][] {
  const parts = plain.softmax(list);
  return list.map(({ id }, index) => [id, parts[index] ?? 0]);
}

function applied(sampler: Sampler | null, list: plain.Candidates, history: readonly number[] = []): void {
  assert.ok(sampler !== null);
  for (const token of history) native.lib.llama_sampler_accept(sampler, token);
  set(list);
  candidates.apply(sampler);
}

/** How many runs were too close to call; few may be. */
function check<T>(name: string, values: fc.Arbitrary<T>, run: (value: T) => boolean): void {
  let skipped = 0;
  fc.assert(
    fc.property(values, (value) => {
      if (!run(value)) skipped++;
    }),
    parameters,
  );
  assert.ok(skipped < runs / 3, `${name}: ${skipped} of ${runs} were too close to call`);
}

/** A sampler that leaves some of the candidates. */
function filter<T>(
  name: string,
  values: fc.Arbitrary<T>,
  make: (value: T) => Sampler | null,
  expect: (list: plain.Candidates, value: T) => plain.Candidates | undefined,
  most?: number,
): void {
  test(name, slow, () => {
    check(name, fc.tuple(someCandidates(most), values), ([list, value]) => {
      const expected = expect(list, value);
      if (expected === undefined) return false;
      const sampler = make(value);
      applied(sampler, list);
      same(left(), expected);
      native.lib.llama_sampler_free(sampler as Sampler);
      return true;
    });
  });
}

filter("top-k", fc.nat(1500), (k) => native.lib.llama_sampler_init_top_k(k), plain.topK);
filter(
  "top-p",
  fc.record({ p: probability, keep }),
  ({ p, keep }) => native.lib.llama_sampler_init_top_p(p, BigInt(keep)),
  (list, { p, keep }) => plain.topP(list, p, keep),
);
filter(
  "min-p",
  fc.record({ p: probability, keep }),
  ({ p, keep }) => native.lib.llama_sampler_init_min_p(p, BigInt(keep)),
  (list, { p, keep }) => plain.minP(list, p, keep),
);
filter(
  "typical",
  fc.record({ p: probability, keep }),
  ({ p, keep }) => native.lib.llama_sampler_init_typical(p, BigInt(keep)),
  (list, { p, keep }) => plain.typical(list, p, keep),
);
filter(
  "top-n-sigma",
  fc.integer({ min: 0, max: 50 }).map((n) => n / 10),
  (n) => native.lib.llama_sampler_init_top_n_sigma(n),
  plain.topNSigma,
);
filter(
  "temperature",
  fc.integer({ min: 0, max: 300 }).map((t) => t / 100),
  (t) => native.lib.llama_sampler_init_temp(t),
  plain.temperature,
);
filter(
  "dynamic temperature",
  fc.record({
    t: fc.integer({ min: 1, max: 200 }),
    range: fc.integer({ min: 0, max: 100 }),
    exponent: fc.integer({ min: 10, max: 300 }),
  }),
  ({ t, range, exponent }) => native.lib.llama_sampler_init_temp_ext(t / 100, range / 100, exponent / 100),
  (list, { t, range, exponent }) => plain.dynamicTemperature(list, t / 100, range / 100, exponent / 100),
);
filter(
  "XTC",
  fc.record({ probability, threshold: fc.integer({ min: 0, max: 50 }).map((part) => part / 100), keep, seed }),
  ({ probability, threshold, keep, seed }) =>
    native.lib.llama_sampler_init_xtc(probability, threshold, BigInt(keep), seed),
  (list, { probability, threshold, keep, seed }) =>
    plain.xtc(list, probability, threshold, keep, new plain.Random(seed).float()),
  30,
);
filter(
  "logit bias",
  fc.array(fc.tuple(fc.nat(vocabularySize - 1), fc.constantFrom(-Infinity, -3, -0.5, 0, 0.5, 3)), { maxLength: 300 })
    .map((list) => new Map(list)),
  (biases) => {
    const bytes = new DataView(new ArrayBuffer(Math.max(8, biases.size * 8)));
    [...biases].forEach(([token, bias], index) => {
      bytes.setInt32(index * 8, token, true);
      bytes.setFloat32(index * 8 + 4, bias, true);
    });
    return native.lib.llama_sampler_init_logit_bias(vocabularySize, biases.size, new Uint8Array(bytes.buffer));
  },
  (list, biases) => {
    const expected = plain.logitBias(list, biases);
    return expected.every(({ logit }) => logit === -Infinity) ? undefined : expected;
  },
);

test("penalties", slow, () => {
  const values = fc.record({
    list: someCandidates(300),
    history: fc.array(fc.nat(300), { maxLength: 200 }),
    last: fc.nat(80),
    repeat: fc.integer({ min: 50, max: 200 }),
    frequency: fc.integer({ min: -20, max: 20 }),
    presence: fc.integer({ min: -20, max: 20 }),
  });
  check("penalties", values, ({ list, history, last, repeat, frequency, presence }) => {
    const sampler = native.lib.llama_sampler_init_penalties(
      vocabularySize,
      last,
      repeat / 100,
      frequency / 10,
      presence / 10,
    );
    applied(sampler, list, history);
    same(left(), plain.penalties(list, history, last, Math.fround(repeat / 100), frequency / 10, presence / 10));
    native.lib.llama_sampler_free(sampler);
    return true;
  });
});

test("DRY", slow, () => {
  const pieces = new Vocabulary(native.lib, vocab).pieces;
  const breaks = new Set([...pieces.keys()].filter((token) => pieces[token]?.includes("\n")));
  const text = new TextEncoder().encode("\n\0");
  const addresses = BigUint64Array.of(native.addressOf(text));
  const breaker = [...breaks][0] ?? 0;
  const few = fc.constantFrom(10, 11, 12, 13, breaker);
  const values = fc.record({
    list: fc.uniqueArray(fc.integer({ min: -500, max: 500 }), { minLength: 6, maxLength: 6 }),
    history: fc.array(few, { maxLength: 60 }),
    last: fc.integer({ min: 1, max: 70 }),
    multiplier: fc.integer({ min: 1, max: 30 }),
    base: fc.integer({ min: 100, max: 200 }),
    allowed: fc.nat(4),
    breaking: fc.boolean(),
  });
  const count = Math.min(runs, 1000);
  fc.assert(
    fc.property(values, ({ list, history, last, multiplier, base, allowed, breaking }) => {
      const given = [10, 11, 12, 13, breaker, 14].map((id, index) => ({ id, logit: (list[index] ?? 0) / 64 }));
      const sampler = native.lib.llama_sampler_init_dry(
        vocab,
        multiplier / 10,
        base / 100,
        allowed,
        last,
        breaking ? addresses : null,
        breaking ? 1n : 0n,
      );
      applied(sampler, given, history);
      const rules = {
        last,
        multiplier: multiplier / 10,
        base: Math.fround(base / 100),
        allowed,
        breaks: breaking ? breaks : new Set<number>(),
      };
      same(left(), plain.dry(given, history, rules));
      native.lib.llama_sampler_free(sampler);
    }),
    { ...parameters, numRuns: count },
  );
  // C reads it in each run.
  assert.equal(text.length, 2);
});

test("greedy", slow, () => {
  check("greedy", someCandidates(), (list) => {
    const sampler = native.lib.llama_sampler_init_greedy();
    applied(sampler, list);
    assert.equal(candidates.chosen, plain.greedy(list));
    native.lib.llama_sampler_free(sampler);
    return true;
  });
});

test("dist: the probabilities, and the token that the seed's random number falls on", slow, () => {
  check("dist", fc.tuple(someCandidates(), seed), ([list, seed]) => {
    const expected = plain.pick(list, new plain.Random(seed).double());
    if (expected === undefined) return false;
    const sampler = native.lib.llama_sampler_init_dist(seed);
    applied(sampler, list);
    assert.equal(candidates.chosen, expected);
    plain.softmax(list).forEach((part, index) =>
      assert.ok(Math.abs(part - (candidates.values[index * 3 + 2] ?? 0)) <= within)
    );
    native.lib.llama_sampler_free(sampler);
    return true;
  });
});

for (const version of [1, 2] as const) {
  test(`Mirostat ${version}: what it keeps, what it chooses, and how it corrects itself`, slow, () => {
    const values = fc.record({
      lists: fc.array(someCandidates(300), { minLength: 3, maxLength: 3 }),
      seed,
      tau: fc.integer({ min: 5, max: 80 }).map((tau) => tau / 10),
      eta: fc.integer({ min: 1, max: 50 }).map((eta) => eta / 100),
    });
    check(`mirostat ${version}`, values, ({ lists, seed, tau, eta }) => {
      const sampler = version === 1
        ? native.lib.llama_sampler_init_mirostat(vocabularySize, seed, tau, eta, 100)
        : native.lib.llama_sampler_init_mirostat_v2(seed, tau, eta);
      const random = new plain.Random(seed);
      let mu = 2 * tau;
      let steps = 0;
      for (const list of lists.filter(({ length }) => length > 1)) {
        const kept = version === 1 ? plain.mirostat1(list, mu, vocabularySize, 100) : plain.mirostat2(list, mu);
        const chosen = kept === undefined ? undefined : plain.pick(kept, random.double());
        if (kept === undefined || chosen === undefined) break;
        set(list);
        candidates.apply(sampler);
        assert.equal(candidates.chosen, chosen);
        same(left(), kept);
        const part = plain.softmax(kept)[kept.findIndex(({ id }) => id === chosen)] ?? 0;
        mu -= eta * (-Math.log2(part) - tau);
        steps++;
      }
      native.lib.llama_sampler_free(sampler);
      return steps > 0;
    });
  });
}

test("adaptive-p: the transformed probabilities, the choice, and the target that follows it", slow, () => {
  const values = fc.record({
    lists: fc.array(someCandidates(40), { minLength: 3, maxLength: 3 }),
    seed,
    target: fc.integer({ min: 0, max: 100 }).map((part) => part / 100),
    decay: fc.integer({ min: 0, max: 99 }).map((part) => part / 100),
  });
  check("adaptive-p", values, ({ lists, seed, target, decay }) => {
    const sampler = native.lib.llama_sampler_init_adaptive_p(target, decay, seed);
    const random = new plain.Random(seed);
    let sum = target / (1 - decay);
    let weight = 1 / (1 - decay);
    let steps = 0;
    for (const list of lists.filter(({ length }) => length > 1)) {
      const adapted = Math.min(1, Math.max(0, 2 * target - sum / weight));
      const changed = plain.adaptiveP(list, adapted);
      const chosen = plain.pick(changed, random.double());
      if (chosen === undefined) break;
      set(list);
      candidates.apply(sampler);
      assert.equal(candidates.chosen, chosen);
      same(left(), changed);
      native.lib.llama_sampler_accept(sampler, chosen);
      sum = (plain.softmax(list)[list.findIndex(({ id }) => id === chosen)] ?? 0) + decay * sum;
      weight = 1 + decay * weight;
      steps++;
    }
    native.lib.llama_sampler_free(sampler);
    return steps > 0;
  });
});

test("infill", slow, () => {
  const vocabulary = new Vocabulary(native.lib, vocab);
  const end = native.lib.llama_vocab_eot(vocab);
  const isEnd = (id: number) => native.lib.llama_vocab_is_eog(vocab, id);
  check("infill", fc.tuple(someCandidates(25), fc.integer({ min: -2000, max: 1500 })), ([list, logit]) => {
    const given = [...list, { id: end, logit: logit / 128 + 0.001 }];
    const expected = plain.infill(given, (id) => vocabulary.pieces[id] ?? "", isEnd);
    if (expected === undefined) return false;
    const sampler = native.lib.llama_sampler_init_infill(vocab);
    applied(sampler, given);
    const kept = left().map(({ id }) => id);
    assert.deepEqual(kept.toSorted(), (expected.length === 0 ? [end] : expected).toSorted());
    native.lib.llama_sampler_free(sampler);
    return true;
  });
});
