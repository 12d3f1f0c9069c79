/** A pattern for functions and one for their parameters; whoever matches both may be NULL. */
export type ParamRule = readonly [fn: RegExp, param: RegExp];

/** Parameters that may be NULL. All others may not. */
export const nullableParams: readonly ParamRule[] = [
  [/./, /(^|_)(user_?data|callback_data|ud)$/],
  [/^(ggml|llama|mtmd|mtmd_helper|whisper|parakeet)_log_set$/, /^log_callback$/],
  [/^ggml_set_abort_callback$/, /^callback$/],
  [/_set_abort_callback$/, /^abort_callback$/],
  [/^ggml_backend_sched_set_eval_callback$/, /^callback$/],
  [/^ggml_backend_compare_graph_backend$/, /^test_nodes$/],
  [/^ggml_backend_sched_new$/, /^bufts$/],
  [/^ggml_backend_(dev_init|init_by_name|init_by_type)$/, /^params$/],
  [/^ggml_backend_load_all_from_path$/, /^dir_path$/],
  [/^ggml_backend_cpu_set_threadpool$|^ggml_graph_plan$/, /^threadpool$/],
  [/^ggml_backend_buffer_init$/, /^context$/],
  [/^ggml_backend_rpc_start_server$/, /^cache_dir$/],
  [/^ggml_(flash_attn_ext|soft_max_ext|soft_max_ext_inplace)$/, /^mask$/],
  [/^ggml_(flash_attn_ext_add_sinks|soft_max_add_sinks)$/, /^sinks$/],
  [/^ggml_rope_(ext|multi)(_back|_inplace)?$/, /^c$/],
  [/^ggml_dsv4_hc_post$/, /^comb$/],
  [/^ggml_build_backward_expand$/, /^grad_accs$/],
  [/^ggml_graph_dump_dot$/, /^cgraph$/],
  [/^ggml_unravel_index$/, /^i[0-3]$/],
  [/^ggml_quantize_chunk$/, /^imatrix$/],
  [/^ggml_opt_default_params$/, /^backend_sched$/],
  [/^ggml_opt_get_\w+_optimizer_params$/, /^userdata$/],
  [/^ggml_opt_dataset_get_batch(_host)?$/, /^labels_batch$/],
  [/^ggml_opt_eval$/, /^result$/],
  [/_opt_epoch$/, /^(result|callback)_(train|eval)$/],
  [/^ggml_opt_result_(loss|accuracy)$/, /^unc$/],
  [/^llama_(tokenize)$/, /^tokens$/],
  [/^llama_(detokenize)$/, /^text$/],
  [/^llama_(token_to_piece|chat_apply_template|model_desc|(model|adapter)_meta_\w+)$/, /^buf$/],
  [/^llama_chat_apply_template$/, /^tmpl$/],
  [/^llama_chat_builtin_templates$/, /^output$/],
  [/^llama_model_chat_template$/, /^name$/],
  [/^llama_attach_threadpool$/, /^threadpool_batch$/],
  [/^llama_set_adapters_lora$/, /^(adapters|scales)$/],
  [/^llama_set_adapter_cvec$/, /^data$/],
  [/^llama_set_sampler$/, /^smpl$/],
  [/^llama_sampler_init$/, /^ctx$/],
  [
    /^llama_sampler_init_(dry|grammar_lazy|grammar_lazy_patterns|logit_bias)$/,
    /^(seq_breakers|trigger_\w+|logit_bias)$/,
  ],
  [/^llama_state_seq_load_file$/, /^tokens_out$/],
  [/^llama_(state_save_file|state_seq_save_file|save_session_file)$/, /^tokens$/],
  [/^mtmd_decode_use_non_causal$/, /^chunk$/],
  [/^mtmd_bitmap_init(_from_audio)?$/, /^data$/],
  [/^mtmd_bitmap_(set_id|init_lazy)$/, /^id$/],
  [/^mtmd_bitmap_init_lazy$/, /^ctx$/],
  [/^mtmd_input_chunk_save$/, /^out_buf$/],
  [/^mtmd_tokenize$/, /^bitmaps$/],
  [/^mtmd_helper_decode_image_chunk$/, /^callback$/],
  [/^mtmd_helper_gen_audio_step_gen$/, /^out_stop$/],
  [/^mtmd_helper_gen_audio_get_output$/, /^out_n_samples$/],
  [/^(whisper|parakeet)_tokenize$/, /^tokens$/],
  [/^whisper_lang_auto_detect(_with_state)?$/, /^lang_probs$/],
  [/^whisper_ctx_init_openvino_encoder/, /^(model_path|device|cache_dir)$/],
  [/^(whisper|parakeet)_free(_state|_params|_context_params)?$/, /^(ctx|state|params)$/],
  [/^(whisper|parakeet)_(full\w*|pcm_to_mel\w*)$/, /^samples$/],
];

/** Functions whose pointer result may be NULL. */
export const nullableResults: readonly RegExp[] = [
  /^ggml_(get_first_tensor|get_next_tensor|get_tensor|graph_get_\w+|get_data|get_data_f32|fopen|type_name|threadpool_new|new_buffer)$/,
  /^ggml_(set_abort_callback)$/,
  /^ggml_backend_(alloc_buffer|(meta_)?alloc_ctx_tensors\w*|buft_alloc_buffer|buffer_get_base|buffer_get_type|buft_get_device|get_device|guid)$/,
  /^ggml_backend_(multi_buffer_alloc_buffer|buffer_init|cpu_buffer_from_ptr|dev_buffer_from_host_ptr|dev_host_buffer_type|dev_init|event_new)$/,
  /^ggml_backend_(graph_plan_create|sched_get_tensor_backend|sched_new|meta_device|meta_simple_backend|reg_get_proc_address|dev_backend_reg)$/,
  /^ggml_backend_(dev|reg)_by_\w+$/,
  /^ggml_backend_(init_\w+|load|cpu_init)$/,
  /^ggml_backend_rpc_(add_server|init|buffer_type)$/,
  /^ggml_gallocr_new(_n)?$/,
  /^ggml_opt_(dataset_labels|inputs|outputs|labels|loss|pred|ncorrect|grad_acc)$/,
  /^gguf_(init_from_\w+|type_name)$/,
  /^llama_(model_load_from_\w+|load_model_from_file|model_init_from_user|init_from_model|new_context_with_model)$/,
  /^llama_(model_cls_label|model_meta_key_str|model_chat_template|adapter_lora_init\w*|adapter_get_alora_invocation_tokens)$/,
  /^llama_(get_memory|get_logits\w*|get_embeddings\w*|get_sampled_\w+|vocab_get_suppress_tokens)$/,
  /^llama_sampler_(chain_get|chain_remove|clone|init_grammar\w*)$/,
  /^mtmd_(init_from_file|get_output_embd|batch_get_output_embd|bitmap_get_\w+|image_tokens_get_id|test_create_input_chunks)$/,
  /^mtmd_input_chunk_(get_\w+|load)$|^mtmd_input_chunks_get$/,
  /^mtmd_helper_(video_init\w*|gen_audio_init)$/,
  /^(whisper|parakeet)_init(?!_state)\w*$|^(whisper|parakeet)_init_state$/,
  /^whisper_lang_str(_full)?$/,
  /^(whisper|parakeet)_(get_timings|get_logits\w*)$/,
  /^whisper_vad_(init_\w+|segments_from_\w+|probs)$/,
];

/** Functions whose pointer result is never NULL. */
export const nonNullResults: readonly RegExp[] = [
  /^ggml_(version|commit|init|get_name|get_type_traits|get_type_traits_cpu|get_mem_buffer|rope_set_offset|status_to_string|op_\w+|\w+_op_name)$/,
  /^ggml_(new_tensor\w*|new_[fi]32|new_graph\w*|graph_dup|graph_node|graph_nodes|build_forward_select)$/,
  /^ggml_set_(name|zero|[fi]32)$/,
  /^ggml_backend_(name|get_default_buffer_type|cpu_buffer_type|buffer_name|buft_name|meta_split_axis_name|sched_get_backend|sched_get_buffer_type)$/,
  /^ggml_backend_(dev|reg)_(name|description|buffer_type|get|dev_get)$/,
  /^ggml_backend_(cpu|rpc)_reg$/,
  /^ggml_opt_(init|result_init|dataset_init|dataset_data|optimizer_name)$/,
  /^gguf_(init_empty|get_(key|tensor_\w+|val_str|val_data|arr_str|arr_data))$/,
  /^llama_(version|get_model|model_get_vocab|print_system_info|\w+_name|vocab_get_text|token_get_text)$/,
  /^llama_sampler_(chain_init|init(?!_grammar)\w*|name)$/,
  /^mtmd_(default_marker|get_marker|batch_init|bitmap_init\w*|input_chunks_init|input_chunk_copy)$/,
  /^(whisper|parakeet)_(version|print_system_info|\w+_default_params_by_ref|token_to_str|full_get_\w+_text\w*)$/,
  /^whisper_(model_type_readable|bench_\w+_str)$/,
];

/** Parameters whose memory C keeps after the call: they take a pointer and no array. */
export const retainedParams: readonly ParamRule[] = [
  [/./, /(^|_)(user_?data|callback_data|ud)$/],
  [/^ggml_backend_buffer_init$/, /^context$/],
  [/^ggml_backend_(cpu_buffer_from_ptr|dev_buffer_from_host_ptr)$/, /^ptr$/],
  [/^ggml_backend_tensor_alloc$/, /^addr$/],
  [/^ggml_backend_tensor_\w+_async$/, /^data$/],
  [/^gguf_set_tensor_data$/, /^data$/],
  [/^llama_batch_get_one$/, /^tokens$/],
];

/** Structs that live in native memory only, so a parameter that points to one takes no view. */
export const nativeOnlyStructs: RegExp =
  /^(ggml_tensor|ggml_object|ggml_backend|ggml_backend_(buffer|device|reg|event|buffer_type)|llama_sampler|llama_sampler_i)$/;

/** Enums whose values are combined. */
export const flagEnums: readonly string[] = ["ggml_scale_flag", "ggml_tensor_flag", "llama_token_attr"];
