/** Parameters that may be NULL: a pattern for the function and one for the parameter. */
export const nullableParams: readonly (readonly [RegExp, RegExp])[] = [
  [/./, /(^|_)(user_?data|callback_data|callback|cb|ud|userdata|pw)$/],
];

/** Results that are never NULL. */
export const nonNullResults: readonly RegExp[] = [];

/** Parameters whose memory C keeps after the call: they take a pointer, no array. */
export const retainedParams: readonly (readonly [RegExp, RegExp])[] = [
  [/./, /(^|_)(user_?data|callback_data|ud|userdata)$/],
];

/** Structs that live in native memory only, so a parameter that points to one takes no view. */
export const nativeOnlyStructs: RegExp =
  /^(ggml_tensor|ggml_object|ggml_backend|ggml_backend_.*(?<!_props|_params)|llama_sampler|llama_sampler_i)$/;

/** Enums whose values are combined. */
export const flagEnums: readonly string[] = ["llama_token_attr", "ggml_tensor_flag", "ggml_cgraph_eval_flag"];

/** Functions that a header declares and no library exports, with the reason. */
export const absent: Readonly<Record<string, string>> = {
  ggml_threadpool_get_n_threads: "declared in ggml-cpu.h, defined nowhere",
};
