import type { FunctionDecl } from "./model.ts";

/** The duration of a call: `short`; `size`, as long as its data is large; `long`, so it belongs on a native thread; `forever`. */
export type Time = "short" | "size" | "long" | "forever";

/**
 * The threads that may call at once: `any`; `object`, one at a time on the objects that it gets; `process`, only while nothing else runs, because it
 * changes what the whole process sees.
 */
export type Threads = "any" | "object" | "process";

/** The knowledge about a function that the headers lack. */
export interface Annotation {
  /** The functions: a pattern of the name, or also of the declaration. */
  readonly match: RegExp | ((fn: FunctionDecl) => boolean);
  readonly time: Time;
  readonly threads: Threads;
  /** The precondition without which the call aborts, crashes or hangs; `""` when nothing but live pointers is needed. */
  readonly needs: string;
}

const row = (match: Annotation["match"], time: Time, threads: Threads, needs = ""): Annotation => ({
  match,
  time,
  threads,
  needs,
});

/** A function of ggml.h that adds a node to a graph: it takes a context first and returns a tensor. */
export function isGraphOperation(fn: FunctionDecl): boolean {
  const first = fn.params[0]?.type;
  return fn.header === "ggml.h" && fn.result.kind === "pointer" && fn.result.to.kind === "tagged" &&
    fn.result.to.name === "ggml_tensor" &&
    first?.kind === "pointer" && first.to.kind === "tagged" && first.to.name === "ggml_context";
}

const ROOM = "room in the context";
const INDEX = "an index in range";
const TOKEN_ID = "a token id of the vocabulary";
const ENUM_VALUE = "a value of the enum";

/** The first that matches a function counts; a function that none matches fails the check, and so does a line that matches none. */
export const annotations: readonly Annotation[] = [
  // ggml.h
  row(/^ggml_(version|commit|cycles|cycles_per_ms|tensor_overhead|graph_overhead\w*)$/, "short", "any"),
  row(/^ggml_time_(ms|us)$/, "short", "any", "ggml_time_init before, on Windows"),
  row(/^ggml_time_init$/, "short", "process"),
  row(/^ggml_(log_get|log_set|set_abort_callback)$/, "short", "process"),
  row(/^ggml_fopen$/, "short", "any"),
  row(/^ggml_guid_matches$/, "short", "any", "16 bytes each"),
  row(
    /^ggml_(blck_size|type_size|type_sizef|type_name|is_quantized|row_size|get_type_traits|ftype_to_ggml_type)$/,
    "short",
    "any",
    ENUM_VALUE,
  ),
  row(
    /^ggml_(op_name|op_symbol|unary_op_name|glu_op_name|status_to_string|op_alloc_size_may_expand)$/,
    "short",
    "any",
    ENUM_VALUE,
  ),
  row(/^ggml_(op_desc|get_unary_op|get_glu_op|flash_attn_ext_get_prec)$/, "short", "any", "a tensor of that operation"),
  row(
    /^ggml_(is_\w+|are_same_\w+|can_repeat|n_dims|nbytes|nbytes_pad|nelements|nrows|element_size|get_name|get_data)$/,
    "short",
    "any",
  ),
  row(/^ggml_get_data_f32$/, "short", "any", "a tensor of type F32"),
  row(/^ggml_unravel_index$/, "short", "any", INDEX),
  row(/^ggml_(get_first_tensor|get_next_tensor|get_tensor)$/, "short", "object"),
  row(/^ggml_init$/, "short", "any"),
  row(
    /^ggml_(free|reset|used_mem|get_no_alloc|set_no_alloc|get_mem_buffer|get_mem_size|get_max_tensor_size)$/,
    "short",
    "object",
  ),
  row(/^ggml_(print_object|print_objects|graph_print)$/, "short", "object"),
  row(/^ggml_new_(tensor\w*|[fi]32)$/, "short", "object", `${ROOM}, sizes above 0`),
  row(/^ggml_(new_buffer|new_graph\w*|graph_dup)$/, "short", "object", ROOM),
  row(/^ggml_(map_custom|custom_)\w+$/, "short", "object", `${ROOM}, a C function that stays: compute threads call it`),
  row(isGraphOperation, "short", "object", `${ROOM}, shapes and types that the operation takes`),
  row(/^ggml_(set_input|set_output|set_param|set_loss|set_name)$/, "short", "object"),
  row(/^ggml_set_zero$/, "size", "object", "a tensor with data"),
  row(
    /^ggml_(mul_mat_set_\w+|prec_set_\w+|flash_attn_ext_\w+|soft_max_add_sinks|rope_set_offset)$/,
    "short",
    "object",
    "a tensor of that operation",
  ),
  row(/^ggml_rope_yarn_corr_dims$/, "short", "any", "room for 2 floats"),
  row(/^ggml_build_\w+$/, "short", "object", "room in the graph"),
  row(/^ggml_graph_node$/, "short", "object", INDEX),
  row(/^ggml_graph_(get_tensor|get_grad|get_grad_acc|n_nodes|nodes|size|clear)$/, "short", "object"),
  row(/^ggml_graph_(cpy|add_node)$/, "short", "object", "room in the graph"),
  row(/^ggml_graph_reset$/, "size", "object", "a graph with gradients"),
  row(/^ggml_graph_dump_dot$/, "size", "object", "a file that can be written"),
  row(/^ggml_(bf16_to_fp32|fp16_to_fp32|fp32_to_bf16|fp32_to_fp16)$/, "short", "any"),
  row(/^ggml_\w+_row(_ref)?$/, "size", "any", "buffers of that length"),
  row(/^ggml_quantize_(init|free)$/, "long", "process"),
  row(/^ggml_quantize_requires_imatrix$/, "short", "any", ENUM_VALUE),
  row(/^ggml_quantize_chunk$/, "size", "any", "whole rows of whole blocks, imatrix where the type requires it"),
  row(/^ggml_validate_row_data$/, "size", "any", ENUM_VALUE),
  row(/^ggml_threadpool_params_\w+$/, "short", "any", "1 to GGML_MAX_N_THREADS threads"),

  // ggml-alloc.h
  row(/^ggml_tallocr_(new|alloc)$/, "short", "object", "room in the buffer"),
  row(/^ggml_gallocr_(new|new_n|free|get_buffer_size)$/, "short", "object", INDEX),
  row(/^ggml_gallocr_(reserve\w*|alloc_graph)$/, "long", "object", "a buffer for each node"),
  row(/^ggml_backend_(meta_)?alloc_ctx_tensors\w*$/, "long", "object", "a context made with no_alloc"),

  // ggml-backend.h and ggml-backend-impl.h
  row(
    /^ggml_backend_(buft|buffer|dev|event|reg|meta)_(name|is_\w+|get_(?!proc|props|alloc_size)\w+|dev_count|description|type|backend_reg)$/,
    "short",
    "any",
  ),
  row(/^ggml_backend_(buft|buffer)_get_alloc_size$/, "short", "any"),
  row(/^ggml_backend_(name|guid|get_\w+|is_\w+|supports_\w+|offload_op)$/, "short", "any"),
  row(/^ggml_backend_dev_(supports_\w+|offload_op|buffer_type|host_buffer_type|get_props|memory)$/, "short", "any"),
  row(/^ggml_backend_reg_(get_proc_address)$/, "short", "any"),
  row(/^ggml_backend_reg_dev_get$/, "short", "any", INDEX),
  row(
    /^ggml_backend_meta_(n_backends|simple_backend|device|split_axis_name|buffer_set_usage)$/,
    "short",
    "object",
    INDEX,
  ),
  row(
    /^ggml_backend_(alloc_buffer|buft_alloc_buffer|multi_buffer_alloc_buffer|dev_buffer_from_host_ptr)$/,
    "long",
    "object",
  ),
  row(
    /^ggml_backend_cpu_buffer_(from_ptr|type)$/,
    "short",
    "any",
    "memory aligned to 64 bytes that outlives the buffer",
  ),
  row(
    /^ggml_backend_(buffer_init|buffer_init_tensor|buffer_reset|buffer_set_usage|multi_buffer_set_usage)$/,
    "short",
    "object",
  ),
  row(/^ggml_backend_(buffer_free|free)$/, "short", "object", "no use after it"),
  row(/^ggml_backend_buffer_clear$/, "size", "object"),
  row(
    /^ggml_backend_(view_init|tensor_alloc)$/,
    "short",
    "object",
    "an unallocated tensor, an address inside the buffer",
  ),
  row(
    /^ggml_backend_tensor_copy\w*$|^ggml_backend_buffer_copy_tensor$/,
    "size",
    "object",
    "tensors of the same layout",
  ),
  row(
    /^ggml_backend_tensor_\w+_async$/,
    "size",
    "object",
    "a tensor with data, a range inside it, memory that stays until synchronize",
  ),
  row(/^ggml_backend_tensor_(set|get|memset)\w*$/, "size", "object", "a tensor with data, a range inside it"),
  row(/^ggml_backend_event_\w+$/, "long", "object"),
  row(/^ggml_backend_(dev_init)$/, "long", "any"),
  row(
    /^ggml_backend_(synchronize|graph_plan_compute|graph_compute\w*|compare_graph_backend)$/,
    "long",
    "object",
    "an allocated graph that the backend supports",
  ),
  row(/^ggml_backend_graph_(plan_create|plan_free|copy|copy_free)$/, "long", "object", "an allocated graph"),
  row(/^ggml_backend_sched_new$/, "short", "object", "at least one backend, the last one a CPU"),
  row(
    /^ggml_backend_sched_(get_backend|get_buffer_\w+|set_tensor_backend)$/,
    "short",
    "object",
    "a backend of the scheduler",
  ),
  row(/^ggml_backend_sched_(free|get_n_\w+|get_tensor_backend|reset|set_eval_callback)$/, "short", "object"),
  row(
    /^ggml_backend_sched_(reserve\w*|alloc_graph|split_graph)$/,
    "long",
    "object",
    "a graph no larger than graph_size",
  ),
  row(/^ggml_backend_sched_(graph_compute\w*|synchronize)$/, "long", "object", "a graph no larger than graph_size"),
  row(/^ggml_backend_(register|device_register|unload)$/, "short", "process"),
  row(/^ggml_backend_(load|load_all|load_all_from_path)$/, "long", "process", "a backend of this API version"),
  row(/^ggml_backend_(reg_count|dev_count|reg_by_name|dev_by_name|dev_by_type)$/, "short", "any"),
  row(/^ggml_backend_(reg_get|dev_get)$/, "short", "any", INDEX),
  row(/^ggml_backend_init_(by_name|by_type|best)$/, "long", "any"),

  // ggml-cpu.h
  row(/^ggml_cpu_(has_\w+|get_\w+)$|^ggml_get_type_traits_cpu$/, "short", "any"),
  row(/^ggml_(numa_init|cpu_init)$/, "short", "process"),
  row(/^ggml_cpu_\w+_to_\w+$/, "size", "any", "buffers of that length"),
  row(/^ggml_(get|set)_[fi]32_(1d|nd)$/, "short", "object", INDEX),
  row(/^ggml_set_[fi]32$/, "size", "object", "a tensor with data"),
  row(/^ggml_threadpool_new$/, "short", "any", "1 to GGML_MAX_N_THREADS threads, no more than cores"),
  row(/^ggml_threadpool_(free|pause|resume)$/, "short", "object"),
  row(/^ggml_graph_plan$/, "short", "object", "no more threads than cores"),
  row(/^ggml_graph_compute\w*$/, "long", "object", "a plan with its work memory, no more threads than cores"),
  row(/^ggml_backend_cpu_(init|reg)$/, "short", "any"),
  row(/^ggml_backend_cpu_set_\w+$/, "short", "object", "a CPU backend"),

  // ggml-opt.h
  row(/^ggml_opt_dataset_init$/, "size", "any", "sizes above 0, ndata a multiple of ndata_shard"),
  row(/^ggml_opt_dataset_(free|ndata|labels|data)$/, "short", "object"),
  row(/^ggml_opt_dataset_(shuffle|get_batch\w*)$/, "size", "object", "a batch inside the dataset"),
  row(/^ggml_opt_(default_params|get_default_optimizer_params|optimizer_name)$/, "short", "any"),
  row(/^ggml_opt_get_constant_optimizer_params$/, "short", "any", "a pointer to ggml_opt_optimizer_params"),
  row(/^ggml_opt_init$/, "long", "object", "a scheduler, and all of inputs, outputs and ctx_compute or none"),
  row(
    /^ggml_opt_(free|static_graphs|inputs|outputs|labels|loss|pred|ncorrect|grad_acc|context_optimizer_type)$/,
    "short",
    "object",
  ),
  row(/^ggml_opt_result_\w+$/, "short", "object"),
  row(/^ggml_opt_(reset|prepare_alloc|alloc)$/, "long", "object"),
  row(/^ggml_opt_(eval|epoch|fit)$/, "long", "object", "an allocated graph, shapes that fit the dataset"),
  row(/^ggml_opt_epoch_callback_progress_bar$/, "short", "any"),

  // ggml-rpc.h
  row(/^ggml_backend_is_rpc$|^ggml_backend_rpc_reg$/, "short", "any"),
  row(/^ggml_backend_rpc_start_server$/, "forever", "process"),
  row(/^ggml_backend_rpc_\w+$/, "long", "any", "a server of this version that answers"),

  // gguf.h
  row(/^gguf_init_empty$|^gguf_type_name$/, "short", "any"),
  row(/^gguf_init_from_\w+$/, "long", "any", "a file whose counts and lengths fit its size"),
  row(
    /^gguf_(free|get_version|get_alignment|get_data_offset|get_n_kv|get_n_tensors|get_meta_size|find_key|find_tensor|remove_key)$/,
    "short",
    "object",
  ),
  row(/^gguf_get_meta_data$/, "size", "object", "room for gguf_get_meta_size bytes"),
  row(/^gguf_get_(key|kv_type|arr_type)$/, "short", "object", "a key id in range"),
  row(/^gguf_get_(arr_n|arr_data|arr_str|val_\w+)$/, "short", "object", "a key id in range whose type is this one"),
  row(/^gguf_get_tensor_\w+$/, "short", "object", "a tensor id in range"),
  row(/^gguf_set_(val_\w+|arr_\w+|kv)$/, "size", "object", "a valid type, no reserved key"),
  row(/^gguf_(add_tensor|set_tensor_\w+)$/, "short", "object", "a name that is there (or for add_tensor is not)"),
  row(/^gguf_write_to_file\w*$/, "long", "object", "tensors with data unless only_meta"),

  // llama.h
  row(
    /^llama_(\w+_default_params|version|\w+_name|load_mode_from_str|max_\w+|supports_\w+|time_us|print_system_info)$/,
    "short",
    "any",
  ),
  row(/^llama_(backend_init|backend_free|numa_init|log_get|log_set)$/, "short", "process"),
  row(
    /^llama_(model_load_from_\w+|load_model_from_file)$/,
    "long",
    "any",
    "a path, a known load mode, a GGUF whose counts fit its size, a backend",
  ),
  row(/^llama_model_init_from_user$/, "long", "any", "complete metadata"),
  row(/^llama_(model_free|free_model)$/, "long", "object", "its contexts freed before"),
  row(
    /^llama_(init_from_model|new_context_with_model)$/,
    "long",
    "any",
    "n_batch above 0, known enum values, no more threads than cores, a model that isn't vocab_only",
  ),
  row(/^llama_free$/, "long", "object"),
  row(/^llama_model_(save_to_file|quantize)$/, "long", "object", "a folder that can be written"),
  row(/^llama_model_cls_label$/, "short", "any", INDEX),
  row(/^llama_model_\w+$|^llama_n_(ctx_train|embd|layer|head|vocab)$/, "short", "any"),
  row(/^llama_(n_\w+|get_model|get_memory|pooling_type)$/, "short", "any"),
  row(/^llama_(attach|detach)_threadpool$/, "short", "object", "a threadpool that outlives its use"),
  row(/^llama_adapter_lora_init\w*$/, "long", "object", "an adapter of this model"),
  row(/^llama_adapter_\w+$/, "short", "object"),
  row(/^llama_set_adapters_lora$/, "short", "object", "lists of that length"),
  row(/^llama_set_adapter_cvec$/, "size", "object", "len, n_embd and layers of this model"),
  row(/^llama_memory_seq_div$/, "size", "object", "d above 0"),
  row(/^llama_memory_\w+$/, "size", "object", "a sequence below n_seq_max"),
  row(
    /^llama_state_seq_set_data\w*$|^llama_state_set_data$|^llama_set_state_data$/,
    "size",
    "object",
    "bytes that this model and these parameters made, unchanged",
  ),
  row(
    /^llama_(state_\w*load_file|load_session_file)$/,
    "long",
    "object",
    "a file that this model and these parameters made, unchanged",
  ),
  row(/^llama_(state_\w*save_file|save_session_file)$/, "long", "object", "a file that can be written"),
  row(/^llama_(state_\w+|copy_state_data|get_state_size)$/, "size", "object", "room for the whole state"),
  row(/^llama_batch_(init|free|get_one)$/, "short", "object", "counts above 0"),
  row(/^llama_encode$/, "long", "object", "an encoder, token or embd set, 1 to n_ubatch tokens, each with a sequence"),
  row(
    /^llama_decode$/,
    "long",
    "object",
    "a decoder, token or embd set, 1 to n_batch tokens (n_ubatch if not causal), each with a sequence",
  ),
  row(/^llama_set_n_threads$/, "short", "object", "1 thread or more, no more than cores"),
  row(/^llama_set_(embeddings|causal_attn|warmup|abort_callback|sampler)$/, "short", "object"),
  row(/^llama_synchronize$/, "long", "object"),
  row(/^llama_get_(logits|embeddings|sampled)\w*$/, "long", "object", "a decode before it"),
  row(/^llama_(vocab_get_(text|score|attr)|vocab_is_\w+|token_get_\w+|token_is_\w+)$/, "short", "any", TOKEN_ID),
  row(/^llama_vocab_\w+$|^llama_token_(?!to_piece)\w+$|^llama_add_[be]os_token$/, "short", "any"),
  row(/^llama_tokenize$/, "size", "any", "the text's length, 0 or more"),
  row(/^llama_(token_to_piece|detokenize)$/, "size", "any", TOKEN_ID),
  row(/^llama_chat_(apply_template|builtin_templates)$/, "short", "any"),
  row(/^llama_sampler_chain_(init|add|get|n|remove)$/, "short", "object", "a chain, samplers that aren't NULL"),
  row(/^llama_sampler_init$/, "short", "any", "an interface that stays"),
  row(/^llama_sampler_init_grammar_lazy\w*$/, "long", "any", "patterns that are regular expressions"),
  row(/^llama_sampler_init_(grammar|infill|dry)$/, "long", "any"),
  row(/^llama_sampler_init_\w+$/, "short", "any"),
  row(/^llama_sampler_accept$/, "short", "object", `${TOKEN_ID} that a grammar of the chain accepts`),
  row(/^llama_sampler_apply$/, "size", "object", "at least one candidate"),
  row(/^llama_sampler_sample$/, "size", "object", "a decode before it, an index with logits, a chain that selects"),
  row(/^llama_sampler_free$/, "short", "object", "a sampler that no chain owns"),
  row(/^llama_sampler_(name|reset|clone|copy|get_seed)$/, "short", "object"),
  row(/^llama_split_(path|prefix)$/, "short", "any", "room for the path"),
  row(/^llama_perf_sampler\w*$/, "short", "object", "a chain"),
  row(/^llama_perf_context\w*$/, "short", "object"),
  row(/^llama_opt_param_filter_all$/, "short", "any"),
  row(/^llama_opt_(init|epoch)$/, "long", "object", "parameters with get_opt_pars and param_filter set"),

  // mtmd.h and mtmd-helper.h
  row(
    /^mtmd_(context_params_default|default_marker|helper_init_opt_default|helper_video_init_params_default)$/,
    "short",
    "any",
  ),
  row(/^mtmd_(helper_)?log_set$/, "short", "process"),
  row(/^mtmd_(init_from_file|get_cap_from_file)$/, "long", "any", "a projector of this model"),
  row(/^mtmd_free$/, "long", "object"),
  row(
    /^mtmd_(decode_use_\w+|support_\w+|get_audio_sample_rate|get_marker|gen_inp_default|gen_audio_get_info)$/,
    "short",
    "object",
  ),
  row(/^mtmd_bitmap_init(_from_audio)?$/, "size", "any", "pixels or samples of that number"),
  row(/^mtmd_bitmap_\w+$/, "short", "object"),
  row(/^mtmd_input_chunks?_\w+$|^mtmd_image_tokens_\w+$|^mtmd_helper_get_n_\w+$/, "short", "object"),
  row(/^mtmd_tokenize\w*$/, "long", "object", "a marker for each bitmap"),
  row(/^mtmd_(encode\w*|get_output_embd|batch_encode)$/, "long", "object", "chunks of media"),
  row(/^mtmd_batch_\w+$/, "short", "object"),
  row(/^mtmd_gen_audio_process$/, "long", "object", "a model that makes audio"),
  row(/^mtmd_test_create_input_chunks$/, "short", "any"),
  row(/^mtmd_helper_(eval_chunks|eval_chunk_single|decode_image_chunk)$/, "long", "object", "n_batch above 0"),
  row(/^mtmd_helper_bitmap_init_from_\w+$/, "long", "any"),
  row(/^mtmd_helper_(support_video|model_can_chat|image_get_decoder_pos|video_get_info)$/, "short", "any"),
  row(/^mtmd_helper_video_\w+$/, "long", "object", "ffmpeg"),
  row(/^mtmd_helper_gen_audio_(step_\w+|set_input|init|get_output)$/, "long", "object", "a model that makes audio"),
  row(/^mtmd_helper_gen_audio_(free|reset)$/, "short", "object"),

  // whisper.h and parakeet.h
  row(/^(whisper|parakeet)_(version|print_system_info|\w+_default_params|\w+_default_params_by_ref)$/, "short", "any"),
  row(/^(whisper|parakeet)_log_set$/, "short", "process"),
  row(/^(whisper|parakeet)_init_from_(file|buffer)\w*$/, "long", "any", "a backend, a whole file of the right format"),
  row(
    /^(whisper|parakeet)_init(_with_params)?(_no_state)?$/,
    "long",
    "any",
    "a backend, a loader whose functions are called on this thread, a whole file of the right format",
  ),
  row(/^(whisper|parakeet)_init_state$/, "long", "any", "a context with weights"),
  row(/^whisper_ctx_init_openvino_encoder\w*$/, "short", "any"),
  row(/^(whisper|parakeet)_free$/, "long", "object", "its states freed before"),
  row(/^(whisper|parakeet)_free_state$/, "long", "object"),
  row(/^(whisper|parakeet)_free_(context_)?params$/, "short", "object", "what a default_params_by_ref gave"),
  row(
    /^(whisper|parakeet)_(full|full_with_state|full_parallel|chunk)$/,
    "long",
    "object",
    "finite samples, a known language, 1 to 8 decoders, no more threads than cores, a context with a state unless one is given",
  ),
  row(/^(whisper|parakeet)_pcm_to_mel\w*$/, "long", "object", "finite samples, 1 thread or more"),
  row(/^(whisper|parakeet)_set_mel\w*$/, "size", "object", "n_len times n_mel floats"),
  row(
    /^(whisper|parakeet)_(encode|decode|lang_auto_detect)(_with_state)?$/,
    "long",
    "object",
    "a mel spectrogram, tokens of the vocabulary",
  ),
  row(/^(whisper|parakeet)_tokenize$/, "size", "any", "room for n_max_tokens"),
  row(/^whisper_lang_(max_id|id|str|str_full)$/, "short", "any"),
  row(
    /^(whisper|parakeet)_(n_len_from_state|n_vocab|n_text_ctx|n_audio_ctx|is_multilingual|model_\w+)$/,
    "short",
    "any",
  ),
  row(/^(whisper|parakeet)_n_len$/, "short", "any", "a context with a state"),
  row(/^(whisper|parakeet)_get_logits\w*$/, "short", "object", "a decode before it"),
  row(/^(whisper|parakeet)_token_to_str$/, "short", "any", TOKEN_ID),
  row(/^parakeet_token_to_text$/, "short", "any", "room for max_len"),
  row(/^(whisper|parakeet)_token_\w+$/, "short", "any"),
  row(/^(whisper|parakeet)_(get|print|reset)_timings$/, "short", "object", "a context with a state"),
  row(/^(whisper|parakeet)_full_(n_segments|lang_id|n_vad_segments)\w*$/, "short", "object"),
  row(/^(whisper|parakeet)_full_(get|n_tokens)\w*$/, "short", "object", INDEX),
  row(/^whisper_vad_default_\w+$/, "short", "any"),
  row(/^whisper_vad_init_\w+$/, "long", "any", "a backend, a whole file of the right format"),
  row(/^whisper_vad_(detect_speech\w*|segments_from_samples)$/, "long", "object", "finite samples"),
  row(/^whisper_vad_segments_from_probs$/, "size", "object", "a detection before it"),
  row(/^whisper_vad_segments_get_\w+$/, "short", "object", INDEX),
  row(/^whisper_vad_(reset_state|n_probs|probs|segments_n_segments|free\w*)$/, "short", "object"),
  row(/^whisper_bench_\w+$/, "long", "process", "no more threads than cores"),
];
