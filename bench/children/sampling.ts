// The cost of choosing a token beside computing it: sampling.ts MODEL THREADS TOKENS PROMPT OPTIONS_JSON SEED…
import process from "node:process";
import { open, type TaskContext } from "../../ffi/mod.ts";
import { checkCompletion, type CompletionOptions } from "../../lib/llama/generation/options.ts";
import { ContextState } from "../../lib/llama/thread/context_state.ts";
import { decode } from "../../lib/llama/thread/decode.ts";
import { CustomSamplers } from "../../lib/llama/thread/sampling/custom_samplers.ts";
import { promptTokens } from "../../lib/llama/thread/prompt.ts";
import type { GenerateInput, GenerateMessage } from "../../lib/llama/thread/protocol.ts";
import { TokenSampler } from "../../lib/llama/thread/sampling/sampler.ts";

const [path = "", threads = "1", most = "1", prompt = "", options = "{}", ...seeds] = process.argv.slice(2);
const native = await open();
const { lib } = native;
const model = lib.llama_model_load_from_file(path, native.defaults("llama_model_params"));
if (model === null) throw new Error("the model could not be loaded");
const params = native.defaults("llama_context_params");
params.n_threads = params.n_threads_batch = Number(threads);
params.n_ctx = params.n_batch = 1024;
const context = lib.llama_init_from_model(model, params);
const vocab = lib.llama_model_get_vocab(model);
if (context === null || vocab === null) throw new Error("the context could not be made");
const state = new ContextState(native, context, vocab, Number(threads));

/** A task on this thread, which has the cores for itself. */
const task = {
  native,
  lib,
  cores: { acquire: () => Number(threads), release: () => {}, pause: () => {} },
  cancelled: () => false,
  throwIfCancelled: () => {},
  post: () => {},
} as unknown as TaskContext<GenerateMessage>;

const tokens = promptTokens(native, vocab, { kind: "text", text: prompt, parseSpecial: true });
for (const seed of seeds) {
  const settings = checkCompletion("bench", { ...JSON.parse(options) as CompletionOptions, seed: Number(seed) });
  const input = { ...settings, context, exchange: undefined } as unknown as GenerateInput;
  state.forget();
  state.batchTokens.set(tokens);
  decode(state, task, tokens.length);
  using sampler = new TokenSampler(task, state, input, new CustomSamplers(task, input, new Map()), "");
  sampler.read(tokens);
  let decodeMs = 0;
  let sampleMs = 0;
  let count = 0;
  while (count < Number(most)) {
    const start = performance.now();
    const token = sampler.sample();
    const sampled = performance.now();
    sampleMs += sampled - start;
    count++;
    if (token === undefined) break;
    state.batchTokens[0] = token;
    decode(state, task, 1);
    decodeMs += performance.now() - sampled;
  }
  console.log(JSON.stringify({ tokens: count, decodeMs, sampleMs, refused: sampler.refused }));
}
