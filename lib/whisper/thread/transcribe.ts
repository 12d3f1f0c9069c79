/**
 * From audio to text on the native thread.
 *
 * @module
 */

import type { NativeCallback } from "../../../ffi/call/callback.ts";
import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { StructView } from "../../../ffi/types/struct_view.ts";
import type { whisper_full_params } from "../../../ffi/tables/structs.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { loggedErrors } from "../../support/native_log.ts";
import { TranscriptionError } from "../errors.ts";
import { PartTimes } from "../transcribe/times.ts";
import { SpeechAudio } from "../vad/segments.ts";
import { languageOf, languageScores } from "./language.ts";
import { cText, fullParams } from "./params.ts";
import type { TranscribeInput, TranscribeMessage, TranscribeOutput } from "./protocol.ts";
import { SegmentReader } from "./segments.ts";
import { makeState } from "./state.ts";
import { suppressedTokens } from "./suppress.ts";
import { findSpeech } from "./vad.ts";
import { waiting } from "./waiting.ts";

type Task = TaskContext<TranscribeMessage>;

/** Minimum length of audio that is transcribed, in samples: a tenth of a second. */
const SHORTEST = 1_600;
/** `whisper_full` has freed the state when it gives this. */
const STATE_GONE = -7;
/** Share of voice activity detection in the progress. */
const VAD_PART = 0.1;

/** Transcribes; posts segments as they come. */
export function transcribe(input: TranscribeInput, task: Task): TranscribeOutput {
  task.throwIfCancelled();
  const started = performance.now();
  const speech = input.vad === undefined ? undefined : findSpeech(
    { model: input.vad.model, samples: input.samples, settings: input.vad.settings, threads: input.threads },
    task as TaskContext<never>,
    (part) => tell(input, task, part * VAD_PART),
  );
  const found = performance.now();
  const kept = speech === undefined
    ? undefined
    : new SpeechAudio(input.samples, speech, input.vad?.settings.overlapSeconds ?? 0);
  const samples = kept?.samples ?? input.samples;
  const part = new PartTimes(input.fromMs, Math.floor(input.samples.length / 16));
  const times = new PartTimes(input.fromMs, Math.floor(input.samples.length / 16), kept);
  const heard = samples.length < SHORTEST ? undefined : new Run(input, samples, times, task).run();
  return {
    language: heard?.language ?? languageOf(task.native, input.context, input.decoding.language),
    languages: heard?.languages,
    speech: speech?.map(({ start, end }) => part.segment(Math.round(start * 100), Math.round(end * 100))),
    vadMs: found - started,
    transcribeMs: performance.now() - found,
  };
}

function tell({ progress }: TranscribeInput, { post }: Task, part: number): void {
  if (progress) post({ progress: part });
}

/** One call of `whisper_full`, with a state of its own: nothing of an earlier transcription reaches it. */
class Run {
  readonly #input: TranscribeInput;
  readonly #samples: Float32Array<ArrayBuffer>;
  readonly #times: PartTimes;
  readonly #task: Task;
  readonly #native: Native;
  #threads = 1;
  /** Return code of `whisper_full`. */
  #code = 0;

  constructor(
    input: TranscribeInput,
    samples: Float32Array<ArrayBuffer>,
    times: PartTimes,
    task: Task,
  ) {
    this.#input = input;
    this.#samples = samples;
    this.#times = times;
    this.#task = task;
    this.#native = task.native;
  }

  run(): Pick<TranscribeOutput, "language" | "languages"> {
    const { lib } = this.#native;
    const { context, decoding } = this.#input;
    this.#threads = this.#takeCores(this.#input.threads, 1);
    this.#task.throwIfCancelled();
    const state = makeState(context, this.#task);
    try {
      const found = decoding.language === "auto" && lib.whisper_is_multilingual(context) !== 0
        ? languageScores(this.#task, context, state, this.#samples, this.#threads)
        : undefined;
      this.#task.throwIfCancelled();
      const language = found?.[0]?.language ?? languageOf(this.#native, context, decoding.language);
      this.#compute(state, language);
      return { language, languages: found };
    } finally {
      if (this.#code !== STATE_GONE) lib.whisper_free_state(state);
    }
  }

  /** Takes cores, `least` of them; gives 0 when it is cancelled meanwhile. */
  #takeCores(wanted: number, least: number): number {
    return this.#task.cores.acquire(wanted, waiting(this.#task), least);
  }

  #compute(state: Pointer<"whisper_state">, language: string): void {
    const { context, decoding } = this.#input;
    const { lib, native } = this.#task;
    const reader = new SegmentReader(native, context, state, {
      words: decoding.wordTimestamps,
      dtw: this.#input.alignment,
      byWords: this.#input.vad !== undefined,
      times: this.#times,
      language,
    });
    using calls = new Callbacks();
    const params = this.#params(language, reader, calls);
    const mark = native.logMark();
    this.#code = lib.whisper_full_with_state(context, state, params, this.#samples, this.#samples.length);
    this.#task.throwIfCancelled();
    if (this.#code !== 0) failed(this.#code, loggedErrors(native, mark));
    this.#post(reader);
  }

  #params(language: string, reader: SegmentReader, calls: Callbacks): StructView<whisper_full_params> {
    const { native, cancel } = this.#task;
    const filtered = suppressedTokens(native, this.#input.context, this.#input.decoding);
    const params = fullParams(native, this.#input.decoding, this.#threads, filtered !== undefined && this.#threads > 1);
    native.assign(params, { language: cText(language) });
    params.abort_callback = cancel.callback;
    params.abort_callback_user_data = cancel.data;
    params.new_segment_callback = calls.keep(
      native.callback("whisper_new_segment_callback", () => this.#post(reader)),
    );
    params.encoder_begin_callback = calls.keep(
      native.callback("whisper_encoder_begin_callback", this.#betweenWindows()),
    );
    if (this.#input.progress) {
      const before = this.#input.vad === undefined ? 0 : VAD_PART;
      params.progress_callback = calls.keep(
        native.callback(
          "whisper_progress_callback",
          (_context, _state, percent) => tell(this.#input, this.#task, before + percent / 100 * (1 - before)),
        ),
      );
    }
    if (filtered === undefined) return params;
    const size = native.lib.whisper_n_vocab(this.#input.context);
    params.logits_filter_callback = calls.keep(
      native.callback("whisper_logits_filter_callback", (_context, _state, _tokens, _count, logits) => {
        if (logits === null) return;
        const values = native.viewFloat32(logits, size);
        for (const id of filtered) values[id] = -Infinity;
      }),
    );
    return params;
  }

  /** Before each window but the first the cores are offered to others. */
  #betweenWindows(): () => boolean {
    let isFirst = true;
    return () => {
      if (this.#task.cancelled()) return false;
      if (isFirst) isFirst = false;
      else return this.#takeCores(this.#threads, this.#threads) > 0;
      return true;
    };
  }

  #post(reader: SegmentReader): void {
    const segments = reader.read();
    if (segments.length > 0) this.#task.post({ segments });
  }
}

/** Callbacks that end together. */
class Callbacks implements Disposable {
  readonly #all: NativeCallback[] = [];

  keep<N extends string>(callback: NativeCallback<N>): NativeCallback<N>["pointer"] {
    this.#all.push(callback);
    return callback.pointer;
  }

  [Symbol.dispose](): void {
    for (const one of this.#all) one.close();
  }
}

function failed(code: number, words: string | undefined): never {
  throw new TranscriptionError(
    `whisper.cpp gave ${code}: ${words ?? "it failed"}; the model can be used again`,
    { value: code, expected: "0" },
  );
}
