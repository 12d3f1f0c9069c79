/**
 * Segments, words and tokens of a transcription, as plain data.
 *
 * @module
 */

/** One token of a segment. */
export interface Token {
  /** Id in the model's vocabulary. C: `whisper_token_data.id`. */
  readonly id: number;
  /** Its text as UTF-8 decodes it; U+FFFD where the token holds only a part of a character (see `bytes`). */
  readonly text: string;
  /** The token's bytes, present only where they aren't whole characters. */
  readonly bytes?: Uint8Array;
  /** Whether it is a special token: a timestamp, the end. C: `id >= whisper_token_eot`. */
  readonly special: boolean;
  /** Probability, 0 to 1. C: `whisper_token_data.p`. */
  readonly probability: number;
  /** Start in seconds from the start of the audio; present only with `wordTimestamps`. C: `t0`. */
  readonly start?: number;
  /** End in seconds from the start of the audio; present only with `wordTimestamps`. C: `t1`. */
  readonly end?: number;
  /** Time by the alignment of attention heads, in seconds; present only with `alignment`. C: `t_dtw`. */
  readonly dtw?: number;
}

/** One word of a segment. */
export interface Word {
  /** The word as it stands in the text, with the space before it where there is one. */
  readonly text: string;
  /** Start in seconds from the start of the audio. */
  readonly start: number;
  /** End in seconds from the start of the audio. */
  readonly end: number;
  /** Mean probability of its tokens, 0 to 1. */
  readonly probability: number;
}

/** A segment of speech with its text. */
export interface Segment {
  /** Text as whisper.cpp returns it: mostly with a leading space. */
  readonly text: string;
  /** Start in seconds from the start of the audio. */
  readonly start: number;
  /** End in seconds from the start of the audio. */
  readonly end: number;
  /** Its tokens, special ones too. */
  readonly tokens: readonly Token[];
  /** Its words; present only where words were asked for. */
  readonly words?: readonly Word[];
  /** Whether another speaker follows; only models trained for it (tdrz) say `true`. C: `whisper_full_get_segment_speaker_turn_next`. */
  readonly speakerTurn: boolean;
  /** Probability that nothing is said, 0 to 1. C: `whisper_full_get_segment_no_speech_prob`. */
  readonly noSpeechProbability: number;
  /** The language of the text as a short code such as `"en"`. */
  readonly language: string;
}
