/**
 * Scores of given texts.
 *
 * @module
 */

import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { DecodeError, EmptyPromptError, PromptTooLongError } from "../../errors.ts";
import { type ContextState, contextState } from "./context_state.ts";
import { decode } from "./decode.ts";
import { useLoras } from "./lora.ts";
import { assertFiniteLogits } from "./sampling/finite_logits.ts";
import { logSum } from "./sampling/logprobs.ts";
import { promptTokens } from "./prompt.ts";
import type { Prompt } from "./protocol.ts";

/** Tokens per decode: logits are kept for each, a megabyte for five tokens of a large vocabulary. */
const AT_ONCE = 32;

/** Input of the task `score`. */
export interface ScoreInput {
  /** The context. */
  context: Pointer<"llama_context">;
  /** The prompt. */
  prompt: Extract<Prompt, { kind: "text" }>;
  /** The continuations. */
  continuations: readonly string[];
}

/** The tokens of a text with their log-probabilities. */
export interface TokenScores {
  /** The tokens. */
  tokens: Int32Array;
  /** The natural logarithm of each one's probability. */
  logprobs: Float64Array;
}

/** Scores each continuation, from the first token in which one of them differs from the prompt alone. */
export function score({ context, prompt, continuations }: ScoreInput, task: TaskContext): TokenScores[] {
  const state = contextState(context);
  useLoras(state, task, []);
  const tokenize = (text: string) => promptTokens(task.native, state.vocab, { ...prompt, text });
  const alone = tokenize(prompt.text);
  const texts = continuations.map((one) => tokenize(prompt.text + one));
  const start = Math.min(...texts.map((tokens) => common(tokens, alone)));
  if (start === 0) {
    throw new EmptyPromptError(
      "the prompt has no tokens and this model has no start token; expected text before the continuations",
      {
        value: prompt.text,
        expected: "some text",
      },
    );
  }
  for (const tokens of texts) checkLength(tokens, state);
  const scorer = new Scorer(state, task);
  try {
    const [first] = texts;
    if (first === undefined) return [];
    scorer.begin(first.subarray(0, start));
    return texts.map((tokens) => ({ tokens: tokens.slice(start), logprobs: scorer.scores(tokens, start) }));
  } finally {
    state.forget();
  }
}

/** Input of the task `textScores`. */
export interface PerplexityInput {
  /** The context. */
  context: Pointer<"llama_context">;
  /** The text. */
  prompt: Extract<Prompt, { kind: "text" }>;
}

/** Scores each token of a text but the first. A text longer than the context is read in windows, so that at least half a context precedes each token. */
export function textScores({ context, prompt }: PerplexityInput, task: TaskContext): TokenScores {
  const state = contextState(context);
  useLoras(state, task, []);
  const tokens = promptTokens(task.native, state.vocab, prompt);
  if (tokens.length < 2) {
    throw new EmptyPromptError("the text has fewer than two tokens; expected a longer text", {
      value: prompt.text,
      expected: "at least two tokens",
    });
  }
  const scorer = new Scorer(state, task);
  const logprobs = new Float64Array(tokens.length - 1);
  try {
    for (let scored = 1; scored < tokens.length;) {
      const from = scored === 1 ? 0 : Math.max(0, scored - Math.ceil(state.contextSize / 2));
      const window = tokens.subarray(from, Math.min(tokens.length, from + state.contextSize));
      scorer.begin(window.subarray(0, scored - from));
      logprobs.set(scorer.scores(window, scored - from), scored - 1);
      scored = from + window.length;
    }
  } finally {
    state.forget();
  }
  return { tokens: tokens.slice(1), logprobs };
}

/** Decodes a common prefix once, and the rest of each text after it. */
class Scorer {
  readonly #state: ContextState;
  readonly #task: TaskContext;
  readonly #wanted = new Int8Array(AT_ONCE).fill(1);
  #begin = new Int32Array(0);
  #after = new Float32Array(0);
  #base = 0;

  constructor(state: ContextState, task: TaskContext) {
    this.#state = state;
    this.#task = task;
  }

  /** Decodes the common prefix. */
  begin(tokens: Int32Array): void {
    this.#begin = tokens.slice();
    this.#state.forget();
    this.#readBegin();
    this.#after = this.#logits(-1).slice();
    this.#base = logSum(this.#after);
  }

  /** Returns the log-probabilities of the tokens of a text from `start`, which isn't before the end of the common prefix. */
  scores(tokens: Int32Array, start: number): Float64Array {
    const found = new Float64Array(tokens.length - start);
    if (found.length === 0) return found;
    found[0] = (this.#after[tokens[start] as number] as number) - this.#base;
    if (!this.#state.keep(start)) {
      this.#state.forget();
      this.#readBegin();
    }
    const step = Math.min(AT_ONCE, this.#state.batchSize);
    // The logits after the last token aren't needed.
    for (let at = start; at < tokens.length - 1; at += step) {
      const part = tokens.subarray(at, Math.min(at + step, tokens.length - 1));
      this.#read(part, true);
      for (let index = 0; index < part.length; index++) {
        const logits = this.#logits(index);
        found[at + index + 1 - start] = (logits[tokens[at + index + 1] as number] as number) - logSum(logits);
      }
      this.#task.throwIfCancelled();
    }
    return found;
  }

  #readBegin(): void {
    const { batchSize } = this.#state;
    for (let at = 0; at < this.#begin.length; at += batchSize) {
      this.#read(this.#begin.subarray(at, at + batchSize), false);
    }
  }

  /** Computes the logits of each token, or of the last one. */
  #read(tokens: Int32Array, each: boolean): void {
    const { native } = this.#task;
    const { batch, batchTokens } = this.#state;
    batchTokens.set(tokens);
    if (each) native.assign(batch, { logits: this.#wanted });
    try {
      decode(this.#state, this.#task, tokens.length);
    } finally {
      batch.logits = null;
    }
  }

  #logits(index: number): Float32Array {
    const { lib, native } = this.#task;
    const logits = lib.llama_get_logits_ith(this.#state.context, index);
    if (logits === null) throw new DecodeError("llama.cpp has no logits for a token", { expected: "logits" });
    const view = native.viewFloat32(logits, lib.llama_vocab_n_tokens(this.#state.vocab));
    assertFiniteLogits(view, this.#state);
    return view;
  }
}

/** Returns the length of the common prefix. */
function common(a: Int32Array, b: Int32Array): number {
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  return same;
}

function checkLength(tokens: Int32Array, { contextSize }: ContextState): void {
  if (tokens.length <= contextSize) return;
  throw new PromptTooLongError(
    `the prompt and its continuation have ${tokens.length} tokens, but the context holds ${contextSize}; shorten them, or load the model with a larger contextSize`,
    { value: tokens.length, expected: `at most ${contextSize} tokens` },
  );
}
