import type { Native } from "../../../ffi/native.ts";
import type { StructView } from "../../../ffi/types/struct_view.ts";
import type { whisper_full_params } from "../../../ffi/tables/structs.ts";
import type { SpeechGrammar } from "../transcribe/grammar.ts";
import type { DecodingSettings } from "../transcribe/options.ts";

/** `WHISPER_SAMPLING_GREEDY` and `_BEAM_SEARCH`. */
const GREEDY = 0, BEAM_SEARCH = 1;
/** Upstream's number of candidates. */
const DEFAULT_BEST_OF = 5;

/** The parameters of `whisper_full` for these settings; callbacks and the language are set by the caller. */
export function fullParams(
  native: Native,
  settings: DecodingSettings,
  threads: number,
  oneCandidate: boolean,
): StructView<whisper_full_params> {
  const params = native.defaults("whisper_full_params");
  params.strategy = settings.beamSize > 1 ? BEAM_SEARCH : GREEDY;
  params.n_threads = threads;
  params.n_max_text_ctx = settings.contextTokens;
  params.translate = settings.translate;
  params.no_timestamps = !settings.timestamps;
  params.single_segment = settings.singleSegment;
  params.print_progress = false;
  params.print_timestamps = false;
  // Upstream wraps segments by the times of their tokens alone.
  params.token_timestamps = settings.wordTimestamps || settings.maxLength > 0;
  params.max_len = settings.maxLength;
  params.split_on_word = settings.splitOnWord;
  params.max_tokens = settings.maxTokens;
  params.audio_ctx = settings.audioContext;
  params.tdrz_enable = settings.speakerTurns;
  if (settings.prompt !== undefined) native.assign(params, { initial_prompt: cText(settings.prompt) });
  params.carry_initial_prompt = settings.carryPrompt;
  params.suppress_blank = settings.suppressBlank;
  params.suppress_nst = settings.suppressNonSpeech;
  params.temperature = settings.temperature;
  params.max_initial_ts = settings.maxInitialTimestamp;
  params.length_penalty = settings.lengthPenalty;
  params.temperature_inc = settings.temperatureIncrement;
  params.entropy_thold = settings.entropyThreshold;
  params.logprob_thold = settings.logprobThreshold;
  params.no_speech_thold = settings.noSpeechThreshold;
  if (settings.grammar !== undefined) setGrammar(native, params, settings.grammar, settings.grammarPenalty);
  params.greedy.best_of = oneCandidate ? 1 : settings.bestOf ?? DEFAULT_BEST_OF;
  params.beam_search.beam_size = settings.beamSize > 1 ? settings.beamSize : -1;
  return params;
}

/** Points at each rule of a grammar. */
function setGrammar(
  native: Native,
  params: StructView<whisper_full_params>,
  { elements, starts, root }: SpeechGrammar,
  penalty: number,
): void {
  const address = native.addressOf(elements);
  const rules = BigUint64Array.from(starts, (start) => address + BigInt(start * 4));
  native.assign(params, { grammar_rules: rules });
  // The rules point into it.
  held.set(params, elements);
  params.n_grammar_rules = BigInt(starts.length);
  params.i_start_rule = BigInt(root);
  params.grammar_penalty = penalty;
}

const held = new WeakMap<object, Uint32Array>();

/** A string for C that lives as long as the struct that it is assigned to. */
export function cText(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}
