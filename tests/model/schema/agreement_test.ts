import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test, { after, before } from "node:test";
import fc from "fast-check";
import { type Native, open, type Pointer } from "../../../ffi/mod.ts";
import { JsonSchemaError } from "../../../lib/errors.ts";
import { GrammarMatcher, parseGrammar } from "../../../lib/gbnf/mod.ts";
import { schemaToGrammar } from "../../../lib/json_schema/mod.ts";
import { candidateMemory, Candidates } from "../../../lib/llama/thread/sampling/candidates.ts";
import { TokenBytes } from "../../../lib/llama/thread/tokenizer.ts";
import { randomBelow } from "../../support/random.ts";
import { randomLogic } from "../../unit/schema/random_logic.ts";
import { randomSchemas } from "../../unit/schema/random_schemas.ts";
import { root, slow } from "../support.ts";

/** `GGML_FFI_GRAMMARS=1` for the long form. */
const many = process.env["GGML_FFI_GRAMMARS"] !== undefined;

let native: Native;
let model: Pointer<"llama_model">;
let vocab: Pointer<"llama_vocab">;
/** The text of each token; nothing for those that aren't whole characters, or none. */
let pieces: (string | undefined)[];
const ends: number[] = [];

before(async () => {
  native = await open();
  const params = native.defaults("llama_model_params");
  params.vocab_only = true;
  const path = join(root, "csrc/upstream/llama.cpp/models/ggml-vocab-gpt-2.gguf");
  model = native.lib.llama_model_load_from_file(path, params) as Pointer<"llama_model">;
  vocab = native.lib.llama_model_get_vocab(model) as Pointer<"llama_vocab">;
  const bytes = new TokenBytes(native.lib, vocab, true);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  pieces = Array.from({ length: native.lib.llama_vocab_n_tokens(vocab) }, (_, token) => {
    if (native.lib.llama_vocab_is_eog(vocab, token)) ends.push(token);
    try {
      const text = decoder.decode(bytes.of(token).slice());
      return text === "" || text.startsWith("\0") ? undefined : text;
    } catch {
      return undefined;
    }
  });
});

after(() => native.lib.llama_model_free(model));

/** Follows some of the ways through a grammar, and compares all tokens at each step; how many answers there were. */
function compare(source: string, next: (below: number) => number): number {
  const sampler = native.lib.llama_sampler_init_grammar(vocab, source, "root");
  assert.ok(sampler !== null, source);
  const candidates = new Candidates(native, candidateMemory(pieces.length));
  const logits = new Float32Array(pieces.length).fill(1);
  const matcher = new GrammarMatcher(parseGrammar(source));
  let compared = 0;
  try {
    for (let step = 0; step < (many ? 8 : 3); step++) {
      candidates.fill(logits);
      candidates.apply(sampler);
      const allowed: number[] = [];
      for (const [token, piece] of pieces.entries()) {
        if (!many && token % 4 !== step % 4 && !ends.includes(token)) continue;
        const byUpstream = candidates.logitAt(token) !== -Infinity;
        if (ends.includes(token)) assert.equal(byUpstream, matcher.canEnd, `the end at step ${step}\n${source}`);
        else if (piece !== undefined) {
          const here = new GrammarMatcher(matcher).accept(piece);
          assert.equal(here, byUpstream, `${JSON.stringify(piece)} at step ${step}\n${source}`);
          if (here) allowed.push(token);
        }
        compared++;
      }
      if (allowed.length === 0) break;
      const token = allowed[next(allowed.length)] as number;
      native.lib.llama_sampler_accept(sampler, token);
      matcher.accept(pieces[token] as string);
    }
  } finally {
    native.lib.llama_sampler_free(sampler);
  }
  return compared;
}

test("the matcher and llama.cpp allow the same tokens, in grammars of random schemas", slow, () => {
  const next = randomBelow(7);
  let compared = 0;
  const sources = fc.sample(randomSchemas, { numRuns: many ? 25 : 12, seed: 4 }).map(({ schema }) =>
    schemaToGrammar(schema)
  );
  for (const source of sources) compared += compare(source, next);
  console.log(`${compared} tokens in ${sources.length} grammars: the same answers`);
  assert.ok(compared > 100_000);
});

test("the matcher and llama.cpp allow the same tokens, in grammars of random schemas of all keywords", slow, () => {
  const next = randomBelow(9);
  const sources: string[] = [];
  for (let seed = 1; sources.length < (many ? 25 : 12); seed++) {
    try {
      sources.push(schemaToGrammar(randomLogic(randomBelow(seed))));
    } catch (error) {
      assert.ok(error instanceof JsonSchemaError, String(error));
    }
  }
  const compared = sources.reduce((sum, source) => sum + compare(source, next), 0);
  console.log(`${compared} tokens in ${sources.length} grammars of all keywords: the same answers`);
  assert.ok(compared > 100_000);
});

test("the matcher and llama.cpp allow the same tokens, in upstream's own grammars", slow, () => {
  const folder = join(root, "csrc/upstream/llama.cpp/grammars");
  const next = randomBelow(8);
  let compared = 0;
  const files = readdirSync(folder).filter((name) => name.endsWith(".gbnf"));
  for (const file of files) compared += compare(readFileSync(join(folder, file), "utf8"), next);
  console.log(`${compared} tokens in ${files.length} grammars: the same answers`);
  assert.ok(compared > 200_000 && files.length >= 5);
});
