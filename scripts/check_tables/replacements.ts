/** What to use where Bun can't call a function. */
export const replacements: Readonly<Record<string, string>> = {
  ggml_backend_graph_copy: "ggml_graph_dup, ggml_backend_alloc_ctx_tensors and ggml_backend_tensor_copy of each tensor",
  ggml_graph_plan: "ggml_graph_compute_with_ctx, or ggml_backend_graph_compute of a CPU backend",
  ggml_opt_default_params: 'native.defaults("ggml_opt_params"), its backend_sched and loss_type set',
  ggml_opt_get_constant_optimizer_params:
    'native.structAt("ggml_opt_optimizer_params", pointer): it returns what its argument points to',
  ggml_opt_get_default_optimizer_params: 'native.defaults("ggml_opt_optimizer_params")',
  ggml_tallocr_new:
    'native.struct("ggml_tallocr"): buffer, and base and alignment by ggml_backend_buffer_get_base and _get_alignment',
  ggml_threadpool_params_default: "ggml_threadpool_params_init, which fills a struct by pointer",
  llama_batch_get_one: 'native.struct("llama_batch") with n_tokens and token set',
  llama_batch_init: 'native.struct("llama_batch") over typed arrays',
  llama_context_default_params: 'native.defaults("llama_context_params")',
  llama_model_default_params: 'native.defaults("llama_model_params")',
  llama_model_quantize_default_params: 'native.defaults("llama_model_quantize_params")',
  llama_perf_context: "the timings that a generation returns; llama_perf_context_print",
  llama_perf_sampler: "the timings that a generation returns; llama_perf_sampler_print",
  mtmd_context_params_default: 'native.defaults("mtmd_context_params")',
  mtmd_gen_audio_get_info: "mtmd_helper_gen_audio_get_output, which gives the sample rate",
  mtmd_gen_inp_default: 'native.struct("mtmd_gen_inp") with all fields set',
  mtmd_helper_bitmap_init_from_buf: "mtmd_bitmap_init or mtmd_bitmap_init_from_audio over decoded pixels or samples",
  mtmd_helper_bitmap_init_from_file: "mtmd_bitmap_init or mtmd_bitmap_init_from_audio over decoded pixels or samples",
  mtmd_helper_init_opt_default: 'native.defaults("mtmd_helper_init_opt")',
  mtmd_helper_video_get_info: "mtmd_helper_video_read_next; each bitmap knows its size",
  mtmd_helper_video_init_params_default: 'native.defaults("mtmd_helper_video_init_params")',
  mtmd_image_tokens_get_decoder_pos: "mtmd_helper_image_get_decoder_pos, which fills an array",
};
