/** Functions that a header declares and no library exports, with the reason. */
export const absent: Readonly<Record<string, string>> = {
  parakeet_token_count: "declared in parakeet.h without being exported",
  whisper_token_count: "declared in whisper.h without being exported",
  ggml_threadpool_get_n_threads: "declared in ggml-cpu.h, defined nowhere",
};
