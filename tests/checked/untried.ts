/** A function and a condition that no call here can break or keep, each with the reason. */
export type Untried = readonly [functions: RegExp, condition: RegExp, reason: string];

const META = "a device made of several needs two of them";
const ONE_KIND = "only the CPU's backend is here";
const HOST = "only memory of this process is here";

/** Conditions that no call here breaks. */
export const untried: readonly Untried[] = [
  [/./, /ggml_backend_reg_count\(\) > 0/, "opening the libraries loads the CPU's module"],
  [/^ggml_backend_meta_/, /./, META],
  [/^ggml_backend_cpu_set_/, /is_cpu/, ONE_KIND],
  [/^ggml_(get|set)_/, /^inMemory/, HOST],
  [/^ggml_backend_graph_plan_create$/, /^hasPlans/, ONE_KIND],
  [/^llama_(de|en)code$/, /has_decoder|everySequence|tokensInside/, "the default model has a decoder and no encoder"],
];

/** Functions none of whose calls here keeps all conditions. */
export const unkept: readonly (readonly [functions: RegExp, reason: string])[] = [
  [/^ggml_flash_attn_back$/, "ggml aborts whatever it is given"],
  [/^ggml_backend_meta_/, META],
  [/^ggml_backend_multi_buffer_set_usage$/, "only several devices have buffers of several parts"],
  [/^llama_encode$/, "the default model has no encoder"],
  [/^whisper_lang_auto_detect/, "the small model knows English only"],
  [/^whisper_(full_get_vad_segment|vad_segments_get)_/, "silence has no segments of speech"],
];

/** Functions that take an object of which there is none. */
export const missing: readonly (readonly [functions: RegExp, reason: string])[] = [
  [/^ggml_backend_event_/, "the CPU's backend has no events"],
  [/^llama_adapter_meta_/, "the default model has no adapters"],
  [/^mtmd_(helper_|tokenize)/, "no projector is small enough"],
  [/^parakeet_/, "no model of this kind is small enough"],
];
