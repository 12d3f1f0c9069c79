/** Result streams of every kind whose work goes on when the test says so. */

import type { ChatResult } from "../../../lib/llama/chat/turn.ts";
import { startTurn } from "../../../lib/llama/chat/turn.ts";
import { type GenerationResult, startGeneration } from "../../../lib/llama/generation/generation.ts";
import type { Segment } from "../../../lib/whisper/transcribe/segment.ts";
import { startTranscription } from "../../../lib/whisper/transcribe/transcription.ts";

/** The result of a generation. */
export const generationResult: GenerationResult = {
  text: "abc",
  tokens: [1, 2, 3],
  stopReason: "eos",
  seed: 1,
  timings: {
    waitMs: 0,
    firstPieceMs: 1,
    promptMs: 1,
    generationMs: 1,
    promptTokens: 1,
    reusedTokens: 0,
    generatedTokens: 3,
    promptTokensPerSecond: 1,
    generatedTokensPerSecond: 1,
  },
};

const chatResult: ChatResult = {
  ...generationResult,
  reasoning: "abc",
  toolCalls: [],
  malformedToolCalls: [],
  failedToolCalls: [],
  rounds: 1,
};
const transcriptionResult = {
  language: "en",
  timings: { waitMs: 0, vadMs: 0, transcribeMs: 0, audioSeconds: 1 },
};

/** A stream and what moves it. */
export interface Controlled {
  /** The stream: a promise. */
  readonly promise: Promise<unknown>;
  /** What is iterated of it. */
  readonly items: AsyncIterable<unknown>;
  /** Makes an item of this text. */
  readonly piece: (text: string) => void;
  /** Ends the work. */
  readonly end: () => void;
  /** Fails the work. */
  readonly fail: (error: unknown) => void;
  /** The signal that the work has. */
  readonly signal: () => AbortSignal | undefined;
  /** What it has of its partial result, as text. */
  readonly partial: () => string;
}

/** A segment of this text. */
function segment(text: string): Segment {
  return { start: 0, end: 1, text, tokens: [], speakerTurn: false, noSpeechProbability: 0, language: "en" };
}

/** Work that ends when it is told to, and fails with the signal's reason when it is cancelled: in a later task, as a native thread does. */
class Work<Result> {
  readonly done = Promise.withResolvers<Result>();
  signal: AbortSignal | undefined;

  run(signal: AbortSignal): Promise<Result> {
    this.signal = signal;
    const stop = (): void => void setTimeout(() => this.done.reject(signal.reason));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    return this.done.promise;
  }
}

/** Every kind of stream by its name. */
export const kinds: Readonly<Record<string, (signal?: AbortSignal) => Controlled>> = {
  generation(outer) {
    const work = new Work<GenerationResult>();
    let push: (text: string) => void = () => {};
    const stream = startGeneration((signal, sink) => {
      push = (text) => sink.push(text);
      return work.run(signal);
    }, outer);
    return {
      promise: stream,
      items: stream,
      piece: (text) => push(text),
      end: () => work.done.resolve(generationResult),
      fail: work.done.reject,
      signal: () => work.signal,
      partial: () => stream.partial,
    };
  },
  turn: (outer) => turn(outer, (stream) => stream),
  "turn.events": (outer) => turn(outer, ({ events }) => events),
  "turn.reasoning": (outer) => turn(outer, ({ reasoning }) => reasoning, "reasoning"),
  transcription(outer) {
    const work = new Work<typeof transcriptionResult>();
    let push: (text: string) => void = () => {};
    const stream = startTranscription((signal, onSegments) => {
      push = (text) => onSegments([segment(text)]);
      return work.run(signal);
    }, outer);
    return {
      promise: stream,
      items: stream,
      piece: (text) => push(text),
      end: () => work.done.resolve(transcriptionResult),
      fail: work.done.reject,
      signal: () => work.signal,
      partial: () => stream.partial.map(({ text }) => text).join(""),
    };
  },
};

function turn(
  outer: AbortSignal | undefined,
  items: (stream: ReturnType<typeof startTurn>) => AsyncIterable<unknown>,
  type: "text" | "reasoning" = "text",
): Controlled {
  const work = new Work<ChatResult>();
  let push: (text: string) => void = () => {};
  const stream = startTurn((signal, sink, emit) => {
    push = (text) => {
      sink.push(text);
      emit({ type, text });
    };
    return work.run(signal);
  }, outer);
  return {
    promise: stream,
    items: items(stream),
    piece: (text) => push(text),
    end: () => work.done.resolve(chatResult),
    fail: work.done.reject,
    signal: () => work.signal,
    partial: () => stream.partial,
  };
}
