import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { Segment, Token, Word } from "../transcribe/segment.ts";
import type { Span, TimeMap } from "../transcribe/times.ts";
import { groupWords } from "../transcribe/words.ts";

/** The parts of a segment that are read. */
export interface SegmentWishes {
  /** Times of tokens, and words. */
  readonly words: boolean;
  /** The times of the attention's alignment. */
  readonly dtw: boolean;
  /** Whether a segment with words starts and ends with them: whisper.cpp's times of segments know nothing of silence that was left out. */
  readonly byWords: boolean;
  /** The way back to the audio's own times. */
  readonly times: TimeMap;
  /** The language where whisper.cpp isn't to be asked. */
  readonly language: string | undefined;
}

/** Reads the segments of a state, each once. Characters that are cut by the end of a segment go to the next one. */
export class SegmentReader {
  readonly #native: Native;
  readonly #context: Pointer<"whisper_context">;
  readonly #state: Pointer<"whisper_state">;
  readonly #wishes: SegmentWishes;
  readonly #end: number;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #next = 0;

  constructor(
    native: Native,
    context: Pointer<"whisper_context">,
    state: Pointer<"whisper_state">,
    wishes: SegmentWishes,
  ) {
    this.#native = native;
    this.#context = context;
    this.#state = state;
    this.#wishes = wishes;
    this.#end = native.lib.whisper_token_eot(context);
  }

  /** The segments that came since the last call. */
  read(): Segment[] {
    const count = this.#native.lib.whisper_full_n_segments_from_state(this.#state);
    const segments: Segment[] = [];
    for (; this.#next < count; this.#next++) segments.push(this.#segment(this.#next));
    return segments;
  }

  #segment(index: number): Segment {
    const { lib } = this.#native;
    const state = this.#state;
    const bytes = this.#native.readCBytes(lib.whisper_full_get_segment_text_from_state(state, index));
    const { times } = this.#wishes;
    const from = Number(lib.whisper_full_get_segment_t0_from_state(state, index));
    const to = Number(lib.whisper_full_get_segment_t1_from_state(state, index));
    const tokens = this.#tokens(index);
    const words = this.#wishes.words ? this.#words(tokens, from, to) : undefined;
    return {
      text: this.#decoder.decode(bytes, { stream: true }),
      ...(this.#wishes.byWords ? hull(words) : undefined) ?? times.segment(from, to),
      tokens: tokens.map((token) => this.#placed(token)),
      ...(words === undefined ? {} : { words }),
      speakerTurn: lib.whisper_full_get_segment_speaker_turn_next_from_state(state, index),
      noSpeechProbability: lib.whisper_full_get_segment_no_speech_prob_from_state(state, index),
      language: this.#language(),
    };
  }

  /** Words are told apart before their times are mapped: one that ends with the next one's start would last as long as the silence between them. */
  #words(tokens: readonly Token[], from: number, to: number): Word[] {
    const words = groupWords(tokens, this.#language(), from, to);
    return words.map((word) => ({ ...word, ...this.#wishes.times.word(word.start, word.end) }));
  }

  #placed({ start, end, ...token }: Token): Token {
    return start === undefined || end === undefined ? token : { ...token, ...this.#wishes.times.word(start, end) };
  }

  #language(): string {
    return this.#wishes.language ?? languageName(this.#native, this.#state);
  }

  #tokens(segment: number): Token[] {
    const count = this.#native.lib.whisper_full_n_tokens_from_state(this.#state, segment);
    return Array.from({ length: count }, (_, index) => this.#token(segment, index));
  }

  #token(segment: number, index: number): Token {
    const { lib } = this.#native;
    const id = lib.whisper_full_get_token_id_from_state(this.#state, segment, index);
    const text = lib.whisper_full_get_token_text_from_state(this.#context, this.#state, segment, index);
    return {
      id,
      ...textOf(this.#native.readCBytes(text)),
      special: id >= this.#end,
      probability: lib.whisper_full_get_token_p_from_state(this.#state, segment, index),
      ...(this.#wishes.words ? this.#tokenTimes(segment, index) : {}),
      ...(this.#wishes.dtw ? this.#alignment(segment, index) : {}),
    };
  }

  /** Whisper.cpp's own times, in hundredths of a second. */
  #tokenTimes(segment: number, index: number): Span {
    const { lib } = this.#native;
    return {
      start: Number(lib.whisper_full_get_token_t0_from_state(this.#state, segment, index)),
      end: Number(lib.whisper_full_get_token_t1_from_state(this.#state, segment, index)),
    };
  }

  #alignment(segment: number, index: number): { dtw?: number } {
    const { t_dtw } = this.#native.lib.whisper_full_get_token_data_from_state(this.#state, segment, index);
    if (t_dtw < 0n) return {};
    return { dtw: this.#wishes.times.point(Number(t_dtw)) };
  }
}

/** From the start of the first word to the end of the last. */
function hull(words: readonly Word[] | undefined): Span | undefined {
  const [first, last] = [words?.[0], words?.at(-1)];
  return first === undefined || last === undefined ? undefined : { start: first.start, end: last.end };
}

/** The language that a state has found. */
export function languageName(native: Native, state: Pointer<"whisper_state">): string {
  return native.readCString(native.lib.whisper_lang_str(native.lib.whisper_full_lang_id_from_state(state)));
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

function textOf(bytes: Uint8Array): { text: string; bytes?: Uint8Array } {
  try {
    return { text: strict.decode(bytes) };
  } catch {
    return { text: lenient.decode(bytes), bytes };
  }
}
