import { requires, type Rule, trusts } from "./rule.ts";

const SEGMENT = "i_segment >= 0 && i_segment < segments()";

/** What whisper.h and parakeet.h require. */
export const whisperRules: readonly Rule[] = [
  trusts(
    /^(whisper|parakeet)_(vad_)?init(?!_state)\w*$/,
    "a model's file whose counts and lengths fit its size",
    "lib/whisper/model_file/speech_model.ts",
    "tests/whisper/models_test.ts",
  ),
  requires(/^(whisper|parakeet)_(vad_)?init(?!_state)\w*$/, "lib.ggml_backend_reg_count() > 0"),
  requires(/^(whisper|parakeet)_init_from_buffer\w*$/, "buffer_size > 0", "fits(buffer, buffer_size)"),
  requires(
    /^(whisper|parakeet)_(encode|decode|pcm_to_mel|lang_auto_detect)(_with_state)?$/,
    "n_threads >= 1 && n_threads <= 512",
  ),
  requires(/^whisper_bench_\w+$/, "n_threads >= 1 && n_threads <= 512"),
  requires(
    /^(whisper|parakeet)_(pcm_to_mel|full|chunk)(_with_state|_parallel)?$|^whisper_vad_detect_speech(_no_reset)?$|^whisper_vad_segments_from_samples$/,
    "n_samples >= 0",
    "samples == null ? n_samples == 0 : fits(samples, n_samples * 4)",
  ),
  requires(
    /^(whisper|parakeet)_(full|chunk)(_with_state|_parallel)?$/,
    "params.n_threads >= 1 && params.n_threads <= 512",
    "params.strategy >= 0 && params.strategy <= 1",
  ),
  requires(
    /^whisper_full(_with_state|_parallel)?$/,
    "params.offset_ms >= 0 && params.duration_ms >= 0",
    "params.greedy.best_of <= 8 && params.beam_search.beam_size <= 8",
    "params.audio_ctx >= 0 && params.audio_ctx <= lib.whisper_n_audio_ctx(ctx)",
  ),
  requires(/^whisper_full_parallel$/, "n_processors >= 1 && n_processors <= 64"),
  requires(/^(whisper|parakeet)_set_mel(_with_state)?$/, "n_len > 0 && n_mel > 0", "fits(data, n_len * n_mel * 4)"),
  requires(/^(whisper|parakeet)_encode(_with_state)?$/, "offset >= 0"),
  trusts(
    /^(whisper|parakeet)_(encode|decode|lang_auto_detect)(_with_state)?$/,
    "a spectrum (and for decode an encode) before it",
    null,
  ),
  requires(
    /^whisper_decode(_with_state)?$/,
    "n_tokens > 0 && n_past >= 0 && n_tokens + n_past <= lib.whisper_n_text_ctx(ctx)",
    "fits(tokens, n_tokens * 4)",
    "idsInside(tokens, n_tokens, lib.whisper_n_vocab(ctx))",
  ),
  requires(
    /^whisper_lang_auto_detect(_with_state)?$/,
    "offset_ms >= 0",
    "lang_probs == null || fits(lang_probs, (lib.whisper_lang_max_id() + 1) * 4)",
    "lib.whisper_is_multilingual(ctx) != 0",
  ),
  requires(
    /^(whisper|parakeet)_tokenize$/,
    "tokens == null ? n_max_tokens == 0 : fits(tokens, n_max_tokens * 4)",
    "n_max_tokens >= 0",
  ),
  requires(/^whisper_token_to_str$/, "token >= 0 && token < lib.whisper_n_vocab(ctx)"),
  requires(/^parakeet_token_to_str$/, "token >= 0 && token < lib.parakeet_n_vocab(ctx)"),
  requires(/^parakeet_token_to_text$/, "max_len > 0", "fits(output, max_len)"),
  requires(/^whisper_token_lang$/, "lang_id >= 0 && lang_id <= lib.whisper_lang_max_id()"),
  requires(/^whisper_lang_str(_full)?$/, "id >= 0 && id <= lib.whisper_lang_max_id()"),
  requires(/^(whisper|parakeet)_full_(get_segment|n_tokens|get_token)\w*$/, SEGMENT),
  requires(/^(whisper|parakeet)_full_get_token_\w+$/, "i_token >= 0 && i_token < tokensOf(i_segment)"),
  requires(/^whisper_full_get_vad_segment_\w+$/, "i >= 0 && i < vadSegments()"),
  requires(
    /^whisper_vad_segments_get_segment_t[01]$/,
    "i_segment >= 0 && i_segment < lib.whisper_vad_segments_n_segments(segments)",
  ),
  trusts(
    /^whisper_vad_(probs|segments_from_probs)$/,
    "whisper_vad_detect_speech before it",
    "lib/whisper/thread/vad.ts",
    "tests/whisper/vad_segments_test.ts",
  ),
  requires(
    /^whisper_vad_segments_from_(samples|probs)$/,
    "params.threshold >= 0 && params.threshold <= 1",
    "params.min_speech_duration_ms >= 0 && params.min_silence_duration_ms >= 0 && params.speech_pad_ms >= 0",
  ),
  trusts(/^(whisper|parakeet)_ctx_init_\w+$/, "a build with OpenVINO", null),
];
