/**
 * What a transcription consists of: segments, words and tokens, as plain data.
 *
 * @module
 */

/** One token of a segment. */
export interface Token {
  /** The number in the model's vocabulary, `whisper_token_data.id`. */
  readonly id: number;
  /** Its text as UTF-8 decodes it; U+FFFD where the token holds only a part of a character (see `bytes`). */
  readonly text: string;
  /** The token's bytes, present only where they aren't whole characters. */
  readonly bytes?: Uint8Array;
  /** Whether it is no text but a sign of the model's own: a timestamp, the end (`id >= whisper_token_eot`). */
  readonly special: boolean;
  /** Its probability from 0 to 1, `whisper_token_data.p`. */
  readonly probability: number;
  /** Where it starts, in seconds from the start of the audio; present only where times of tokens were asked for (`t0`). */
  readonly start?: number;
  /** Where it ends, in seconds from the start of the audio; present only where times of tokens were asked for (`t1`). */
  readonly end?: number;
  /** When it is said by the attention's alignment, in seconds; present only where that was asked for (`t_dtw`). */
  readonly dtw?: number;
}

/** One word of a segment. */
export interface Word {
  /** The word as it stands in the text, with the space before it where there is one. */
  readonly text: string;
  /** Where it starts, in seconds from the start of the audio. */
  readonly start: number;
  /** Where it ends, in seconds from the start of the audio. */
  readonly end: number;
  /** The mean of its tokens' probabilities, from 0 to 1. */
  readonly probability: number;
}

/** A stretch of speech with its text. */
export interface Segment {
  /** What is said, as whisper.cpp gives it: mostly with a space before it. */
  readonly text: string;
  /** Where it starts, in seconds from the start of the audio. */
  readonly start: number;
  /** Where it ends, in seconds from the start of the audio. */
  readonly end: number;
  /** Its tokens, those of the model's own too. */
  readonly tokens: readonly Token[];
  /** Its words; present only where words were asked for. */
  readonly words?: readonly Word[];
  /** Whether another speaker follows, `whisper_full_get_segment_speaker_turn_next`; only models made for it (tdrz) say `true`. */
  readonly speakerTurn: boolean;
  /** How probable it is that nothing is said here, from 0 to 1, `whisper_full_get_segment_no_speech_prob`. */
  readonly noSpeechProbability: number;
  /** The language of the text as a short code such as `"en"`. */
  readonly language: string;
}
