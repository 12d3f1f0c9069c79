/**
 * The generation loop: from a prompt to the end of the text without leaving the native thread.
 *
 * @module
 */

import type { TaskContext } from "../../../ffi/thread/task.ts";
import { EmptyPromptError, PromptTooLongError } from "../../errors.ts";
import { StopMatcher } from "../generation/stop_matcher.ts";
import { AnswerBytes, ReasoningBudget } from "./answer_marks.ts";
import { type ContextState, contextState } from "./context_state.ts";
import { decode } from "./decode.ts";
import { useLoras } from "./lora.ts";
import { promptTokens } from "./prompt.ts";
import { CustomSamplers, importSamplers } from "./sampling/custom_samplers.ts";
import type { GenerateInput, GenerateMessage, GenerateOutput, StopReason } from "./protocol.ts";
import { TokenSampler } from "./sampling/sampler.ts";
import { healPrompt } from "./token_healing.ts";

type Task = TaskContext<GenerateMessage>;

/** Generates text, and posts it piece by piece once that is wanted. */
export function generate(input: GenerateInput, task: Task): GenerateOutput | Promise<GenerateOutput> {
  const { samplers } = input.sampling;
  if (!samplers.some(({ kind }) => kind === "module")) {
    return run(input, task, new CustomSamplers(task, input, new Map()));
  }
  return importSamplers(samplers).then((modules) => run(input, task, new CustomSamplers(task, input, modules)));
}

function run(input: GenerateInput, task: Task, custom: CustomSamplers): GenerateOutput {
  const state = contextState(input.context);
  task.throwIfCancelled();
  const whole = promptTokens(task.native, state.vocab, input.prompt);
  const { tokens: prompt, begin } = input.tokenHealing ? healPrompt(whole, state) : { tokens: whole, begin: "" };
  checkPrompt(prompt, state);
  using sampler = new TokenSampler(task, state, input, custom, begin);
  const started = performance.now();
  useLoras(state, task, input.loras);
  const reused = preparePrompt(state, prompt, input.owner);
  readPrompt(state, task, prompt, reused);
  sampler.read(prompt);
  const prompted = performance.now();
  const output = new Output(input, task, begin.length);
  const stopReason = output.keptBy(() => loop(state, task, sampler, output, input));
  return {
    text: output.text,
    tokens: Int32Array.from(sampler.tokens),
    stopReason,
    stop: output.stop,
    logprobs: sampler.logprobs,
    promptTokens: prompt.length,
    reusedTokens: reused,
    firstPieceMs: output.firstAt === undefined ? undefined : output.firstAt - started,
    promptMs: prompted - started,
    generationMs: performance.now() - prompted,
  };
}

function checkPrompt(prompt: Int32Array, state: ContextState): void {
  if (prompt.length === 0) {
    throw new EmptyPromptError("the prompt has no tokens and this model has no start token; expected text", {
      value: "",
      expected: "some text",
    });
  }
  if (prompt.length <= state.contextSize) return;
  throw new PromptTooLongError(
    `the prompt has ${prompt.length} tokens, but the context holds ${state.contextSize}; shorten it, or load the model with a larger contextSize`,
    { value: prompt.length, expected: `at most ${state.contextSize} tokens` },
  );
}

/** Keeps only the beginning of the prompt in the context's memory. Returns its length in tokens. */
function preparePrompt(state: ContextState, prompt: Int32Array, owner: number): number {
  let same = 0;
  if (owner !== 0 && owner === state.owner) {
    const most = Math.min(state.used, prompt.length - 1);
    while (same < most && state.held[same] === prompt[same]) same++;
  }
  if (same === 0 || !state.keep(same)) state.forget();
  state.owner = owner;
  return state.used;
}

function readPrompt(state: ContextState, task: Task, prompt: Int32Array, from: number): void {
  for (let at = from; at < prompt.length; at += state.batchSize) {
    const part = prompt.subarray(at, Math.min(at + state.batchSize, prompt.length));
    state.batchTokens.set(part);
    decode(state, task, part.length);
  }
}

function loop(
  state: ContextState,
  task: Task,
  sampler: TokenSampler,
  output: Output,
  { maxTokens = Infinity, marks }: GenerateInput,
): StopReason {
  const { batchTokens, contextSize } = state;
  const bytes = new AnswerBytes(task.lib, state, marks);
  const budget = marks?.budget === undefined ? undefined : new ReasoningBudget(task.lib, state, marks.budget);
  for (;;) {
    const forced = budget?.next();
    const token = forced === undefined ? sampler.sample() : sampler.take(forced);
    if (token === undefined) return output.end("eos");
    const given = bytes.of(token);
    budget?.add(given);
    if (output.push(given)) return "stop";
    if (sampler.tokens.length >= maxTokens) return output.end("maxTokens");
    if (state.used >= contextSize) return output.end("context");
    batchTokens[0] = token;
    decode(state, task, 1);
  }
}

/** Decodes the bytes of tokens, finds stop strings, and posts text that can't be part of one, if it is wanted. */
class Output {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #matcher: StopMatcher;
  readonly #task: Task;
  readonly #wanted: Int32Array<SharedArrayBuffer>;
  #posted = 0;
  /** Bytes that are part of the prompt. */
  #skip: number;
  /** The text so far, without what may become a stop string. */
  text = "";
  /** The time of the first text. */
  firstAt: number | undefined;
  /** The stop string that was found. */
  stop: string | undefined;

  constructor({ stop, wanted }: GenerateInput, task: Task, skip: number) {
    this.#skip = skip;
    this.#matcher = new StopMatcher(stop);
    this.#wanted = wanted;
    this.#task = task;
  }

  /** Adds the bytes of a token. Returns whether a stop string was found. */
  push(bytes: Uint8Array): boolean {
    const from = Math.min(this.#skip, bytes.length);
    this.#skip -= from;
    return this.#take(this.#decoder.decode(from === 0 ? bytes : bytes.subarray(from), { stream: true }));
  }

  /** Emits the text that was held back. An incomplete character becomes U+FFFD. */
  end(reason: StopReason): StopReason {
    if (this.#take(this.#decoder.decode())) return "stop";
    this.#give(this.#matcher.flush());
    return reason;
  }

  /** Runs the loop. If it fails or is cancelled, posts the text so far, wanted or not: the caller keeps it. */
  keptBy(loop: () => StopReason): StopReason {
    try {
      return loop();
    } catch (error) {
      this.text += this.#matcher.flush();
      this.#post();
      throw error;
    }
  }

  #take(piece: string): boolean {
    if (piece === "") return false;
    const { text, stop } = this.#matcher.push(piece);
    this.#give(text);
    this.stop = stop;
    return stop !== undefined;
  }

  #give(text: string): void {
    this.text += text;
    if (this.text.length === this.#posted) return;
    this.firstAt ??= performance.now();
    if (Atomics.load(this.#wanted, 0) !== 0) this.#post();
  }

  #post(): void {
    if (this.text.length === this.#posted) return;
    this.#task.post(this.text.slice(this.#posted));
    this.#posted = this.text.length;
  }
}
