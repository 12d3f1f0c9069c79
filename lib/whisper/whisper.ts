import { open } from "../../ffi/mod.ts";
import type { Native } from "../../ffi/native.ts";
import type { Pointer } from "../../ffi/pointer.ts";
import { NativeThread } from "../../ffi/thread.ts";
import { DisposedError, InvalidArgumentError, UnsupportedModelError } from "../errors.ts";
import { watchedLoad } from "../load_options.ts";
import { checkOptions } from "../options.ts";
import { gatherAudio, type WhisperAudio } from "./gather_audio.ts";
import { Lanes, type WhisperThread } from "./lanes.ts";
import {
  checkWhisper,
  modelInput,
  type WhisperOptions,
  type WhisperSettings,
  type WhisperSource,
} from "./load_options.ts";
import {
  checkLive,
  checkLiveAudio,
  type LiveAudio,
  type LiveOptions,
  type LiveSettings,
  type LiveText,
  transcribeLive,
} from "./live.ts";
import type { Segment } from "./segment.ts";
import type {
  LanguageProbability,
  LoadedWhisper,
  SpeechSegment,
  TranscribeMessage,
  VadModelInput,
} from "./thread/protocol.ts";
import type { WhisperTasks } from "./thread/tasks.ts";
import {
  checkThreads,
  checkTranscribe,
  type TranscribeOptions,
  type TranscribeSettings,
} from "./transcribe_options.ts";
import { Transcription, type TranscriptionResult } from "./transcription.ts";
import { readVad } from "./vad_source.ts";
import { checkVad, vadNames, type VadOptions, type VadSettings } from "./vad_options.ts";
import { untilAborted } from "../until_aborted.ts";

/** What is known about a loaded model. Plain data. */
export interface WhisperInfo {
  /** The path it was loaded from; `undefined` for bytes. */
  path: string | undefined;
  /** Its size as whisper.cpp calls it, such as `"tiny"`. C: `whisper_model_type_readable`. */
  size: string;
  /** Whether it knows more languages than English. C: `whisper_is_multilingual`. */
  multilingual: boolean;
  /** Tokens of its vocabulary. C: `n_vocab`. */
  vocabularySize: number;
  /** Places of the encoder. C: `n_audio_ctx`. */
  audioContext: number;
  /** Attention heads of the encoder. C: `n_audio_head`. */
  audioHeads: number;
  /** Layers of the encoder. C: `n_audio_layer`. */
  audioLayers: number;
  /** Places of the decoder. C: `n_text_ctx`. */
  textContext: number;
  /** Attention heads of the decoder. C: `n_text_head`. */
  textHeads: number;
  /** Layers of the decoder. C: `n_text_layer`. */
  textLayers: number;
  /** Width of its layers. C: `n_audio_state`. */
  width: number;
  /** Bands of the spectrogram. C: `n_mels`. */
  melBands: number;
  /** The type of the large tensors, such as `"f16"`. */
  weightType: string;
  /** The number of that type in the file. C: `whisper_model_ftype`. */
  fileType: number;
  /** What whisper.cpp says of the processor. C: `whisper_print_system_info`. */
  systemInfo: string;
  /** Compute threads at most. */
  threads: number;
  /** Transcriptions at once. */
  parallel: number;
}

/** Options of {@linkcode Whisper.detectSpeech}. */
export interface DetectSpeechOptions extends VadOptions, AudioOptions {
  /** Called while it works with a number from 0 to 1. */
  onProgress?: ((part: number) => void) | undefined;
}

/** Options of audio alone. */
export interface AudioOptions {
  /** For samples: how many there are a second, 1,000 to 768,000. Default 16,000. */
  sampleRate?: number | undefined;
  /** For files: the channel that is heard, its number from 0, or `"mix"`. Default `"mix"`. */
  channel?: number | "mix" | undefined;
  /** For files: the program that reads what isn't WAV, `false` for none. Default `"ffmpeg"`. */
  ffmpeg?: string | false | undefined;
  /** How many threads compute, at most. */
  threads?: number | undefined;
  /** Stops it: the promise then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

const audioNames = ["sampleRate", "channel", "ffmpeg", "threads", "signal"] as const;

/**
 * Loads a Whisper model in whisper.cpp's format. All that whisper.cpp takes on trust is checked before; the load runs on a native thread, so the event loop
 * goes on.
 *
 * Throws {@linkcode InvalidArgumentError} for a bad option, ModelNotFoundError, ModelAccessError, NotWhisperModelError, WhisperTruncatedError or
 * WhisperFormatError for a bad file, ModelLoadError when whisper.cpp refuses, one of the Library…Errors when the native libraries can't be used, and the
 * signal's reason.
 */
export async function loadWhisper(source: WhisperSource, options?: WhisperOptions): Promise<Whisper> {
  const settings = checkWhisper(options);
  const model = modelInput("the model", source);
  settings.signal?.throwIfAborted();
  const vad = await readVad(settings.vadModel);
  const native = open(settings.libraryPath === undefined ? {} : { libraryPath: settings.libraryPath });
  const start = async (): Promise<WhisperThread> => await NativeThread.start<WhisperTasks>(native, settings);
  const [opened, thread] = await Promise.all([native, start()]);
  const { signal, onMessage } = watchedLoad(settings);
  try {
    const { gpu, flashAttention, alignmentHeads } = settings;
    const loaded = await thread.run("loadWhisper", { model, gpu, flashAttention, alignmentHeads }, {
      signal,
      onMessage,
      transfer: "bytes" in model ? [model.bytes.buffer] : [],
    });
    if (signal.aborted) await thread.run("unloadWhisper", loaded.context);
    signal.throwIfAborted();
    const path = "path" in model ? model.path : undefined;
    return new Whisper(opened, new Lanes(thread, start, settings.parallel), loaded, settings, vad, path);
  } catch (error) {
    await thread[Symbol.asyncDispose]();
    throw error;
  }
}

/** What the last net needs to free a model that nobody disposed. */
interface Remains {
  lanes: Lanes;
  loaded: LoadedWhisper;
}

const net = new FinalizationRegistry<Remains>(({ lanes, loaded }) => {
  lanes.end((thread) => thread.run("unloadWhisper", loaded.context)).catch(() => {});
});

/**
 * A loaded Whisper model. Made by {@linkcode loadWhisper}.
 *
 * Dispose it when it is no longer needed, best by `await using`: what is under way is finished first.
 */
export class Whisper implements AsyncDisposable {
  readonly #lanes: Lanes;
  readonly #loaded: LoadedWhisper;
  readonly #settings: WhisperSettings;
  readonly #vad: VadModelInput | undefined;
  /** The models for voice activity of live audio. */
  readonly #ears = new Set<Pointer<"whisper_vad_context">>();
  #disposed: Promise<void> | undefined;
  /** What is known about the model. */
  readonly info: Readonly<WhisperInfo>;

  /** Takes over what was loaded. */
  constructor(
    native: Native,
    lanes: Lanes,
    loaded: LoadedWhisper,
    settings: WhisperSettings,
    vad: VadModelInput | undefined,
    path: string | undefined,
  ) {
    this.#lanes = lanes;
    this.#loaded = loaded;
    this.#settings = settings;
    this.#vad = vad;
    const { numbers, size, multilingual } = loaded;
    this.info = Object.freeze({
      path,
      size,
      multilingual,
      vocabularySize: numbers.vocabularySize,
      audioContext: numbers.audioContext,
      audioHeads: numbers.audioHeads,
      audioLayers: numbers.audioLayers,
      textContext: numbers.textContext,
      textHeads: numbers.textHeads,
      textLayers: numbers.textLayers,
      width: numbers.width,
      melBands: numbers.melBands,
      weightType: native.readCString(native.lib.ggml_type_name(numbers.weightType as never)),
      fileType: loaded.fileType,
      systemInfo: loaded.systemInfo,
      threads: settings.threads,
      parallel: settings.parallel,
    });
    net.register(this, { lanes, loaded }, this);
  }

  /**
   * Turns audio into text. The audio is a file (a path, a `file:` URL, or its bytes), or samples of one channel, -1 to 1. The work starts at once.
   *
   * Throws {@linkcode InvalidArgumentError} at once for a bad option, {@linkcode DisposedError} after a dispose. The transcription rejects with what
   * reading the audio throws (AudioNotFoundError and its like), {@linkcode UnsupportedModelError} for what this model can't do, TranscriptionError, and
   * the signal's reason.
   */
  transcribe(audio: WhisperAudio, options?: TranscribeOptions): Transcription {
    const settings = checkTranscribe("whisper.transcribe", options);
    this.#assertAlive();
    this.#assertCan(settings);
    const source = gatherAudio(audio, settings);
    const vad = this.#chooseVad(settings.vad, source.isFile);
    return new Transcription((signal, onSegments) => {
      const asked = performance.now();
      // whisper.cpp looks at aborts between the encoding of one window and the next token alone: until then the thread goes on, and takes no other work.
      return untilAborted(
        this.#lanes.keep(async () => {
          const samples = await source.read(signal);
          return await this.#run(samples, settings, vad, signal, onSegments, asked);
        }),
        signal,
      );
    }, settings.signal);
  }

  /**
   * Turns audio into text while it is spoken: samples, or the bytes of a WAV file or of raw samples, as they come. Windows begin and end with speech where
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
    const vad = this.#chooseVad(settings.vad, true);
    return this.#live(audio, settings, vad?.model);
  }

  async *#live(
    audio: LiveAudio,
    settings: LiveSettings,
    vad: VadModelInput | undefined,
  ): AsyncGenerator<LiveText, void, undefined> {
    const { transcribe } = settings;
    const { signal } = transcribe;
    this.#assertAlive();
    const ear = vad === undefined ? undefined : await this.#lanes.with((thread) => thread.run("openEar", vad));
    if (ear !== undefined) this.#ears.add(ear);
    try {
      yield* transcribeLive(audio, settings, {
        hear: ear === undefined
          ? undefined
          : (samples) => this.#lanes.with((thread) => thread.run("hear", { ear, samples }, { signal })),
        transcribe: async (samples, language) => {
          const segments: Segment[] = [];
          const asked = { ...transcribe, decoding: { ...transcribe.decoding, language }, onProgress: undefined };
          const never = signal ?? new AbortController().signal;
          const work = this.#lanes.keep(() =>
            this.#run(samples, asked, undefined, never, (more) => segments.push(...more), 0)
          );
          const done = await untilAborted(work, signal);
          return { segments, language: done.language ?? "" };
        },
      });
    } finally {
      // Else it goes with the model.
      if (ear !== undefined && this.#disposed === undefined && this.#lanes.lost === undefined) {
        this.#ears.delete(ear);
        await this.#lanes.with((thread) => thread.run("closeEar", ear));
      }
    }
  }

  /**
   * Finds out where somebody speaks.
   *
   * Throws {@linkcode InvalidArgumentError} for a bad option or when there is no `vadModel`, {@linkcode DisposedError} after a dispose, what reading the
   * audio throws, and the signal's reason.
   */
  async detectSpeech(audio: WhisperAudio, options?: DetectSpeechOptions): Promise<SpeechSegment[]> {
    const given: DetectSpeechOptions = checkOptions("whisper.detectSpeech", options, [
      ...vadNames,
      ...audioNames,
      "onProgress",
    ]);
    const { sampleRate, channel, ffmpeg, threads, signal, onProgress, ...rest } = given;
    const settings = checkVad("whisper.detectSpeech", rest);
    const base = checkTranscribe("whisper.detectSpeech", { sampleRate, channel, ffmpeg, threads, signal, onProgress });
    this.#assertAlive();
    const source = gatherAudio(audio, base);
    const model = this.#needVad();
    return await this.#lanes.keep(async () => {
      const samples = await source.read(base.signal);
      return await this.#lanes.on((thread) =>
        thread.run("detectSpeech", { model, samples, settings, threads: base.threads ?? this.#settings.threads }, {
          signal: base.signal,
          transfer: [samples.buffer],
          onMessage: (message) => "progress" in message && base.onProgress?.(message.progress),
        })
      );
    });
  }

  /**
   * Listens for the language: how probable each is, the most probable first. The first 30 seconds count.
   *
   * Throws {@linkcode UnsupportedModelError} for a model that knows English alone, {@linkcode InvalidArgumentError} for a bad option or too little audio,
   * {@linkcode DisposedError} after a dispose, what reading the audio throws, and the signal's reason.
   */
  async detectLanguage(audio: WhisperAudio, options?: AudioOptions): Promise<LanguageProbability[]> {
    const given: AudioOptions = checkOptions("whisper.detectLanguage", options, audioNames);
    const base = checkTranscribe("whisper.detectLanguage", given);
    this.#assertAlive();
    if (!this.info.multilingual) this.#refuseLanguages("tell languages apart");
    const source = gatherAudio(audio, base, languageSeconds);
    const heard = this.#lanes.keep(async () => {
      const samples = await source.read(base.signal);
      const input = { context: this.#loaded.context, samples, threads: base.threads ?? this.#settings.threads };
      return await this.#lanes.on((thread) =>
        thread.run("hearLanguage", input, { signal: base.signal, transfer: [samples.buffer] })
      );
    });
    return await untilAborted(heard, base.signal);
  }

  /** Frees the model. Waits for the work that was asked for; abort it first to be quicker. Later calls throw {@linkcode DisposedError}. */
  dispose(): Promise<void> {
    return this.#disposed ??= this.#free();
  }

  /** {@linkcode Whisper.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #free(): Promise<void> {
    net.unregister(this);
    await this.#lanes.end(async (thread) => {
      for (const ear of this.#ears) await thread.run("closeEar", ear);
      await thread.run("unloadWhisper", this.#loaded.context);
    });
  }

  #assertAlive(): void {
    if (this.#disposed === undefined) {
      if (this.#lanes.lost !== undefined) throw this.#lanes.lost;
      return;
    }
    throw new DisposedError("the Whisper model was disposed; load it again", {
      value: this.info.path,
      expected: "a model that is loaded",
    });
  }

  #assertCan({ decoding, threads }: TranscribeSettings): void {
    const { multilingual, vocabularySize } = this.info;
    if (decoding.translate && !multilingual) this.#refuseLanguages("translate");
    if (decoding.contextTokens > 0 && decoding.audioContext > 1500) throw new TypeError("unreachable");
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
    throw new UnsupportedModelError(`this model knows English alone and can't ${what}; load a multilingual one`, {
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
    return isFile && this.#vad !== undefined ? { model: this.#vad, settings: checkVad("vad", undefined) } : undefined;
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
    { decoding, threads, onProgress }: TranscribeSettings,
    vad: { model: VadModelInput; settings: VadSettings } | undefined,
    signal: AbortSignal,
    onSegments: (segments: Segment[]) => void,
    asked: number,
  ): Promise<Omit<TranscriptionResult, "text" | "segments">> {
    const audioSeconds = samples.length / 16_000;
    const input = {
      context: this.#loaded.context,
      samples,
      decoding,
      vad,
      alignment: this.#settings.alignmentHeads !== 0,
      threads: threads === undefined ? this.#settings.threads : checkThreads(threads),
      progress: onProgress !== undefined,
    };
    const onMessage = (message: TranscribeMessage): void => {
      if ("segments" in message) onSegments(message.segments);
      else if ("progress" in message) onProgress?.(message.progress);
    };
    const output = await this.#lanes.on((thread) =>
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

/** What whisper.cpp listens to, to tell the language. */
const languageSeconds = 30;
