import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import { DisposedError, InvalidArgumentError, UnsupportedModelError } from "../../errors.ts";
import {
  atMostCores,
  type AudioOptions,
  detectLanguageSpec,
  type DetectSpeechOptions,
  detectSpeechSpec,
} from "../transcribe/audio_options.ts";
import { gatherAudio, type WhisperAudio } from "../transcribe/audio_input.ts";
import type { ThreadPool } from "./thread_pool.ts";
import type { WhisperSettings } from "./load_options.ts";
import {
  checkLive,
  checkLiveAudio,
  type LiveAudio,
  type LiveOptions,
  type LiveSettings,
  type LiveText,
  transcribeLive,
} from "../live/live.ts";
import type { Segment } from "../transcribe/segment.ts";
import type {
  LanguageProbability,
  LoadedWhisper,
  SpeechSegment,
  TranscribeMessage,
  VadModelInput,
} from "../thread/protocol.ts";
import { checkTranscribe, type TranscribeOptions, type TranscribeSettings, WHOLE } from "../transcribe/options.ts";
import { startTranscription, type Transcription, type TranscriptionResult } from "../transcribe/transcription.ts";
import { type VadSettings, vadSpec } from "../vad/options.ts";
import { type WhisperInfo, whisperInfo } from "./info.ts";
import { definePicture } from "../../../base/inspect.ts";
import { abortable } from "../../support/abortable.ts";

/** The parts of a model that was loaded. */
export interface WhisperParts {
  /** The libraries, on the caller's thread. */
  readonly native: Native;
  /** The threads that work for it. */
  readonly pool: ThreadPool;
  /** The model. */
  readonly loaded: LoadedWhisper;
  /** The options that it was loaded with. */
  readonly settings: WhisperSettings;
  /** The model for voice activity. */
  readonly vad: VadModelInput | undefined;
  /** The path of its file. */
  readonly path: string | undefined;
}

/** State that the finalizer needs to free an undisposed model. */
interface FinalizerState {
  pool: ThreadPool;
  loaded: LoadedWhisper;
}

const finalizer = new FinalizationRegistry<FinalizerState>(({ pool, loaded }) => {
  pool.end((thread) => thread.run("unloadWhisper", loaded.context)).catch(() => {});
});

let create: (parts: WhisperParts) => Whisper;

/**
 * A loaded Whisper model. Made by `loadWhisper`.
 *
 * Dispose it when it is no longer needed, best by `await using`: what is under way is finished first.
 */
export class Whisper implements AsyncDisposable {
  readonly #pool: ThreadPool;
  readonly #loaded: LoadedWhisper;
  readonly #settings: WhisperSettings;
  readonly #vad: VadModelInput | undefined;
  /** The models for voice activity of live audio. */
  readonly #vadStreams = new Set<Pointer<"whisper_vad_context">>();
  #disposed: Promise<void> | undefined;

  static {
    create = (parts) => new Whisper(parts);
    definePicture(Whisper, "Whisper", (whisper) => {
      const { size, path, weightType, threads } = whisper.info;
      if (whisper.disposed) return "(disposed)";
      return `${size}, ${weightType}, ${path ?? "from bytes"}, ${threads} ${threads === 1 ? "thread" : "threads"}`;
    });
  }

  /** Facts about the model. */
  readonly info: Readonly<WhisperInfo>;

  private constructor({ native, pool, loaded, settings, vad, path }: WhisperParts) {
    this.#pool = pool;
    this.#loaded = loaded;
    this.#settings = settings;
    this.#vad = vad;
    this.info = whisperInfo(native, loaded, settings, path);
    finalizer.register(this, { pool, loaded }, this);
  }

  /**
   * Transcribes audio. The audio is a file (a path, a `file:` URL, or its bytes), or samples of one channel, -1 to 1. The work starts at once.
   *
   * Throws {@linkcode InvalidArgumentError} at once for a bad option, {@linkcode DisposedError} after a dispose. The transcription rejects with what
   * reading the audio throws (AudioNotFoundError and its like), {@linkcode UnsupportedModelError} for what this model can't do, TranscriptionError, and
   * the signal's reason.
   */
  transcribe(audio: WhisperAudio, options?: TranscribeOptions): Transcription {
    const settings = checkTranscribe(options);
    this.#assertAlive();
    this.#assertCan(settings);
    const source = gatherAudio(audio, settings.audio, settings.part);
    const vad = this.#chooseVad(settings.vad, source.isFile);
    return startTranscription((signal, onSegments) => {
      const asked = performance.now();
      // Native code stops a moment later; what is asked of the model meanwhile waits for that.
      return abortable(
        this.#pool.keep(async () => {
          const samples = await source.read(signal);
          return await this.#run(samples, settings, vad, signal, onSegments, asked);
        }),
        signal,
      );
    }, settings.audio.signal);
  }

  /**
   * Transcribes audio while it is spoken: samples, or the bytes of a WAV file or of raw samples, as they come. Windows begin and end with speech where
   * there is a `vadModel`, else with sound. Memory is bounded: it reads no further than it has transcribed. Leaving the loop ends it.
   *
   * Throws {@linkcode InvalidArgumentError} at once for a bad option, {@linkcode DisposedError} after a dispose. The loop throws what
   * {@linkcode Whisper.transcribe} throws, and the signal's reason.
   */
  live(audio: LiveAudio, options?: LiveOptions): AsyncGenerator<LiveText, void, undefined> {
    const settings = checkLive(options);
    this.#assertAlive();
    this.#assertCan(settings.transcribe);
    checkLiveAudio(audio);
    const vad = this.#chooseVad(settings.transcribe.vad, true);
    return this.#live(audio, settings, vad?.model);
  }

  async *#live(
    audio: LiveAudio,
    settings: LiveSettings,
    vad: VadModelInput | undefined,
  ): AsyncGenerator<LiveText, void, undefined> {
    const { transcribe } = settings;
    const { signal } = transcribe.audio;
    this.#assertAlive();
    const vadStream = vad === undefined
      ? undefined
      : await this.#pool.with((thread) => thread.run("openVadStream", vad));
    if (vadStream !== undefined) this.#vadStreams.add(vadStream);
    try {
      yield* transcribeLive(audio, settings, {
        processVad: vadStream === undefined
          ? undefined
          : (samples) => this.#pool.with((thread) => thread.run("processVad", { vadStream, samples }, { signal })),
        transcribe: async (samples, language) => {
          const segments: Segment[] = [];
          const asked = { ...transcribe, decoding: { ...transcribe.decoding, language }, onProgress: undefined };
          const never = signal ?? new AbortController().signal;
          const work = this.#pool.keep(() =>
            this.#run(samples, asked, undefined, never, (more) => segments.push(...more), 0)
          );
          const done = await abortable(work, signal);
          return { segments, language: done.language ?? "" };
        },
      });
    } finally {
      // Else it goes with the model.
      if (vadStream !== undefined && this.#disposed === undefined && this.#pool.lost === undefined) {
        this.#vadStreams.delete(vadStream);
        await this.#pool.with((thread) => thread.run("closeVadStream", vadStream));
      }
    }
  }

  /**
   * Detects speech.
   *
   * Throws {@linkcode InvalidArgumentError} for a bad option or when there is no `vadModel`, {@linkcode DisposedError} after a dispose, what reading the
   * audio throws, and the signal's reason.
   */
  async detectSpeech(audio: WhisperAudio, options?: DetectSpeechOptions): Promise<SpeechSegment[]> {
    const settings = detectSpeechSpec.check(options);
    this.#assertAlive();
    const { threads = this.#settings.threads, signal, onProgress } = settings;
    const source = gatherAudio(audio, settings, WHOLE);
    const model = this.#needVad();
    return await this.#pool.keep(async () => {
      const samples = await source.read(signal);
      return await this.#pool.on((thread) =>
        thread.run("detectSpeech", { model, samples, settings: vadSettings(settings), threads: atMostCores(threads) }, {
          signal,
          transfer: [samples.buffer],
          onMessage: (message) => "progress" in message && onProgress?.(message.progress),
        })
      );
    });
  }

  /**
   * Detects the language: the probability of each, the most probable first. Uses the first 30 seconds.
   *
   * Throws {@linkcode UnsupportedModelError} for a model that knows English alone, {@linkcode InvalidArgumentError} for a bad option or too little audio,
   * {@linkcode DisposedError} after a dispose, what reading the audio throws, and the signal's reason.
   */
  async detectLanguage(audio: WhisperAudio, options?: AudioOptions): Promise<LanguageProbability[]> {
    const settings = detectLanguageSpec.check(options);
    this.#assertAlive();
    if (!this.info.multilingual) this.#refuseLanguages("detect languages");
    const { threads = this.#settings.threads, signal } = settings;
    const source = gatherAudio(audio, settings, LANGUAGE_PART);
    const detected = this.#pool.keep(async () => {
      const samples = await source.read(signal);
      const input = { context: this.#loaded.context, samples, threads: atMostCores(threads) };
      return await this.#pool.on((thread) =>
        thread.run("detectLanguage", input, { signal, transfer: [samples.buffer] })
      );
    });
    return await abortable(detected, signal);
  }

  /** Frees the model. Waits for pending work; abort it first to be quicker. Later calls throw {@linkcode DisposedError}. */
  dispose(): Promise<void> {
    return this.#disposed ??= this.#free();
  }

  /** Whether the model was disposed. */
  get disposed(): boolean {
    return this.#disposed !== undefined;
  }

  /** {@linkcode Whisper.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #free(): Promise<void> {
    finalizer.unregister(this);
    await this.#pool.end(async (thread) => {
      for (const vadStream of this.#vadStreams) await thread.run("closeVadStream", vadStream);
      await thread.run("unloadWhisper", this.#loaded.context);
    });
  }

  #assertAlive(): void {
    if (this.#disposed === undefined) {
      if (this.#pool.lost !== undefined) throw this.#pool.lost;
      return;
    }
    throw new DisposedError("the Whisper model was disposed; load it again", {
      value: this.info.path,
      expected: "a model that is loaded",
    });
  }

  #assertCan({ decoding, audio: { threads } }: TranscribeSettings): void {
    const { multilingual, vocabularySize } = this.info;
    if (decoding.translate && !multilingual) this.#refuseLanguages("translate");
    const filtered = decoding.suppressTokens.length > 0 || decoding.suppressRegex !== undefined;
    const isOne = (threads ?? this.#settings.threads) === 1;
    if (filtered && !isOne && (decoding.beamSize > 1 || (decoding.bestOf ?? 1) > 1)) {
      throw new InvalidArgumentError(
        "suppressTokens and suppressRegex look at one candidate at a time; give threads: 1, or beamSize: 1 and bestOf: 1 with them",
        { value: { beamSize: decoding.beamSize, bestOf: decoding.bestOf }, expected: "threads: 1, or one candidate" },
      );
    }
    const wrong = decoding.suppressTokens.find((id) => id >= vocabularySize);
    if (wrong === undefined) return;
    throw new InvalidArgumentError(
      `suppressTokens has ${wrong}, but the model's vocabulary has ${vocabularySize} tokens`,
      {
        value: wrong,
        expected: `from 0 to ${vocabularySize - 1}`,
      },
    );
  }

  #refuseLanguages(what: string): never {
    throw new UnsupportedModelError(`this model is English-only and can't ${what}; load a multilingual one`, {
      value: this.info.path,
      expected: "a multilingual model",
    });
  }

  #chooseVad(
    wanted: "auto" | false | VadSettings,
    isFile: boolean,
  ): { model: VadModelInput; settings: VadSettings } | undefined {
    if (wanted === false) return undefined;
    if (wanted !== "auto") return { model: this.#needVad(), settings: wanted };
    return isFile && this.#vad !== undefined ? { model: this.#vad, settings: vadSpec.check(undefined) } : undefined;
  }

  #needVad(): VadModelInput {
    if (this.#vad !== undefined) return this.#vad;
    throw new InvalidArgumentError("there is no model for voice activity; give loadWhisper a vadModel", {
      value: undefined,
      expected: "a Silero model in whisper.cpp's format",
    });
  }

  async #run(
    samples: Float32Array<ArrayBuffer>,
    { decoding, part, audio, onProgress }: TranscribeSettings,
    vad: { model: VadModelInput; settings: VadSettings } | undefined,
    signal: AbortSignal,
    onSegments: (segments: Segment[]) => void,
    asked: number,
  ): Promise<Omit<TranscriptionResult, "text" | "segments">> {
    const audioSeconds = samples.length / 16_000;
    const input = {
      context: this.#loaded.context,
      samples,
      fromMs: part.fromMs,
      decoding,
      vad,
      alignment: this.#settings.alignmentHeads !== 0,
      threads: atMostCores(audio.threads ?? this.#settings.threads),
      progress: onProgress !== undefined,
    };
    const onMessage = (message: TranscribeMessage): void => {
      if ("segments" in message) onSegments(message.segments);
      else if ("progress" in message) onProgress?.(message.progress);
    };
    const output = await this.#pool.on((thread) =>
      thread.run("transcribe", input, { signal, onMessage, transfer: [samples.buffer] })
    );
    const { language, languages, speech, vadMs, transcribeMs } = output;
    const waitMs = Math.max(0, performance.now() - asked - vadMs - transcribeMs);
    return {
      language: language === "" ? undefined : language,
      ...(languages === undefined ? {} : { languages }),
      ...(speech === undefined ? {} : { speech }),
      timings: { waitMs, vadMs, transcribeMs, audioSeconds },
    };
  }
}

/** The settings of voice activity detection among others. */
function vadSettings(checked: VadSettings): VadSettings {
  const { threshold, minSpeechMs, minSilenceMs, maxSpeechSeconds, padMs, overlapSeconds } = checked;
  return { threshold, minSpeechMs, minSilenceMs, maxSpeechSeconds, padMs, overlapSeconds };
}

/** The part that languages are detected in: upstream looks at no more. */
const LANGUAGE_PART = { fromMs: 0, toMs: 30_000 };

/** Returns the model of its parts. */
export function createWhisper(parts: WhisperParts): Whisper {
  return create(parts);
}
