import { requires, type Rule, trusts } from "./rule.ts";

const TOKEN = "token >= 0 && token < lib.llama_vocab_n_tokens(vocab)";
const CONTEXT = [
  "params.n_batch > 0",
  "params.n_seq_max > 0 && params.n_seq_max <= lib.llama_max_parallel_sequences()",
  "params.n_threads <= 512 && params.n_threads_batch <= 512",
  "params.pooling_type >= -1 && params.pooling_type <= 4",
  "params.attention_type >= -1 && params.attention_type <= 1",
  "params.rope_scaling_type >= -1 && params.rope_scaling_type <= 3",
  "params.flash_attn_type >= -1 && params.flash_attn_type <= 1",
  "oneOf(ggml_type, params.type_k) && oneOf(ggml_type, params.type_v)",
];

/** What llama.h requires. */
export const llamaRules: readonly Rule[] = [
  // Models.
  requires(
    /^llama_(model_load_from_\w+|load_model_from_file|model_init_from_user)$/,
    "oneOf(llama_load_mode, params.load_mode)",
    "params.split_mode >= 0 && params.split_mode <= 3",
    "lib.ggml_backend_reg_count() > 0",
  ),
  requires(/^llama_(model_load_from_file|load_model_from_file)$/, "path_model != ''"),
  requires(/^llama_model_load_from_splits$/, "n_paths > 0", "fits(paths, n_paths * 8)"),
  trusts(
    /^llama_(model_load_from_\w+|load_model_from_file)$/,
    "a file whose counts and lengths fit its size",
    "lib/llama/model/header.ts",
    "tests/unit/model/header_test.ts",
  ),
  trusts(/^llama_model_init_from_user$/, "complete metadata", null),
  requires(/^llama_(model_free|free_model)$/, "!hasLiving(model, 'llama_context')"),
  requires(/^llama_model_cls_label$/, "i < lib.llama_model_n_cls_out(model)"),
  requires(
    /^llama_(model|adapter)_meta_(key_by_index|val_str_by_index|val_str)$|^llama_model_desc$/,
    "buf == null ? buf_size == 0 : fits(buf, buf_size)",
  ),
  trusts(/^llama_model_(save_to_file|quantize)$/, "a folder that can be written", null),
  requires(
    /^llama_model_quantize$/,
    "oneOf(llama_ftype, params.ftype)",
    "params.nthread <= 512",
    "fname_inp != fname_out",
  ),
  requires(/^llama_split_(path|prefix)$/, "split_no >= 0 && split_count > 0 && split_no < split_count", "maxlen > 0"),
  requires(/^llama_split_path$/, "fits(split_path, maxlen)"),
  requires(/^llama_split_prefix$/, "fits(split_prefix, maxlen)"),
  trusts(/^llama_(backend_free|numa_init)$/, "no model or context in use", null),

  // Contexts.
  requires(/^llama_(init_from_model|new_context_with_model)$/, ...CONTEXT),
  trusts(
    /^llama_(init_from_model|new_context_with_model)$/,
    "a model that wasn't loaded with vocab_only",
    "lib/llama/thread/load.ts",
    "tests/model/vocabularies_test.ts",
  ),
  requires(
    /^llama_set_n_threads$/,
    "n_threads >= 1 && n_threads <= 512",
    "n_threads_batch >= 1 && n_threads_batch <= 512",
  ),
  trusts(/^llama_attach_threadpool$/, "threadpools that outlive their use", null),
  trusts(/^llama_set_abort_callback$/, "a C function that stays", null),
  requires(
    /^llama_(encode|decode)$/,
    "batch.n_tokens >= 1 && batch.n_tokens <= 2 ** 24",
    "(batch.token == null) != (batch.embd == null)",
  ),
  requires(
    /^llama_decode$/,
    "batch.n_tokens <= lib.llama_n_batch(ctx)",
    "lib.llama_model_has_decoder(lib.llama_get_model(ctx))",
  ),
  requires(
    /^llama_encode$/,
    "batch.n_tokens <= lib.llama_n_ubatch(ctx)",
    "lib.llama_model_has_encoder(lib.llama_get_model(ctx))",
  ),
  requires(
    /^llama_(encode|decode)$/,
    "everySequence(batch)",
    "tokensInside(batch, lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(lib.llama_get_model(ctx))))",
  ),
  trusts(
    /^llama_decode$/,
    "at most n_ubatch tokens where attention isn't causal",
    "lib/llama/thread/decode.ts",
    "tests/model/limits_test.ts",
  ),
  requires(/^llama_batch_init$/, "n_tokens > 0 && embd >= 0 && n_seq_max > 0"),
  requires(/^llama_batch_get_one$/, "n_tokens > 0"),
  trusts(
    /^llama_batch_(get_one|free)$/,
    "tokens that stay until the batch is decoded; only a batch of llama_batch_init is freed, once",
    null,
  ),
  requires(/^llama_memory_seq_div$/, "d > 0"),
  requires(/^llama_memory_seq_(cp|keep|add|div|pos_min|pos_max|rm)$/, "sequenceInside(mem)"),
  requires(/^llama_(memory_seq_(cp|add|div|rm))$/, "p0 < 0 || p1 < 0 || p0 <= p1"),
  requires(
    /^llama_set_adapters_lora$/,
    "n_adapters == 0 || adapters != null && scales != null",
    "n_adapters == 0 || fits(adapters, n_adapters * 8) && fits(scales, n_adapters * 4)",
  ),
  requires(
    /^llama_set_adapter_cvec$/,
    "data == null || n_embd == lib.llama_model_n_embd(lib.llama_get_model(ctx))",
    "data == null || fits(data, len * 4)",
  ),
  trusts(
    /^llama_adapter_lora_init\w*$/,
    "an adapter whose tensors fit the model",
    "lib/llama/adapters/lora.ts",
    "tests/model/lora_test.ts",
  ),
  requires(/^llama_adapter_meta_(key|val_str)_by_index$/, "i >= 0"),
  requires(/^llama_set_sampler$/, "seq_id >= 0 && seq_id < lib.llama_n_seq_max(ctx)"),
  requires(/^llama_get_embeddings_seq$/, "seq_id >= 0"),

  // State.
  requires(/^llama_state_(get_data|seq_get_data(_ext)?)$/, "fits(dst, size)"),
  requires(/^llama_state_(set_data|seq_set_data(_ext)?)$/, "fits(src, size)"),
  requires(
    /^llama_state_seq_(get|set)_(size|data)(_ext)?$|^llama_state_seq_(save|load)_file$/,
    "stateSequenceInside(ctx)",
  ),
  requires(/^llama_(copy_state_data)$/, "fits(dst, Number(lib.llama_state_get_size(ctx)))"),
  trusts(
    /^llama_(state_(seq_)?(set_data(_ext)?|load_file)|set_state_data|load_session_file)$/,
    "bytes that this model and these parameters made, unchanged",
    null,
  ),
  requires(
    /^llama_(state_load_file|load_session_file|state_seq_load_file)$/,
    "fits(tokens_out, n_token_capacity * 4)",
    "fits(n_token_count_out, 8)",
  ),
  requires(
    /^llama_(state_save_file|save_session_file|state_seq_save_file)$/,
    "n_token_count == 0 || tokens != null",
    "fits(tokens, n_token_count * 4)",
  ),

  // Text.
  requires(
    /^llama_(vocab_(get_text|get_score|get_attr|is_eog|is_control)|token_(get_\w+|is_\w+)|token_to_piece)$/,
    TOKEN,
  ),
  requires(/^llama_token_to_piece$/, "length >= 0", "buf == null ? length == 0 : fits(buf, length)"),
  requires(
    /^llama_tokenize$/,
    "text_len >= 0",
    "n_tokens_max >= 0",
    "fitsText(text, text_len)",
    "tokens == null ? n_tokens_max == 0 : fits(tokens, n_tokens_max * 4)",
  ),
  requires(
    /^llama_detokenize$/,
    "n_tokens >= 0",
    "text_len_max >= 0",
    "fits(tokens, n_tokens * 4)",
    "text == null ? text_len_max == 0 : fits(text, text_len_max)",
    "idsInside(tokens, n_tokens, lib.llama_vocab_n_tokens(vocab))",
  ),
  requires(/^llama_chat_apply_template$/, "length >= 0", "buf == null ? length == 0 : fits(buf, length)"),
  requires(/^llama_chat_builtin_templates$/, "output == null ? len == 0 : fits(output, len * 8)"),
  requires(/^llama_vocab_get_suppress_tokens$/, "fits(n_suppress_tokens, 4)"),

  // Samplers.
  requires(/^llama_sampler_chain_(add|get|n|remove)$|^llama_perf_sampler\w*$/, "isChain(chain)"),
  requires(/^llama_sampler_chain_add$/, "chain != smpl", "owner(smpl) == null"),
  requires(/^llama_sampler_chain_get$/, "i >= -1 && i < lib.llama_sampler_chain_n(chain)"),
  requires(/^llama_sampler_chain_remove$/, "i >= 0 && i < lib.llama_sampler_chain_n(chain)"),
  requires(/^llama_sampler_free$/, "owner(smpl) == null"),
  requires(/^llama_sampler_copy$/, "text(lib.llama_sampler_name(src)) == text(lib.llama_sampler_name(dst))"),
  requires(/^llama_sampler_sample$/, "lib.llama_get_logits_ith(ctx, idx) != null", "selects(smpl)"),
  requires(/^llama_sampler_apply$/, "cur_p.size > 0n && cur_p.data != null"),
  requires(/^llama_sampler_accept$/, "token >= 0"),
  trusts(
    /^llama_sampler_(accept|apply|sample)$/,
    "a token that the chain's grammar accepts",
    "lib/llama/thread/sampling/grammar.ts",
    "tests/model/sampling/grammar_test.ts",
  ),
  trusts(/^llama_sampler_init$/, "an interface that stays", null),
  trusts(/^llama_sampler_init_grammar_lazy\w*$/, "patterns that are regular expressions", null),
  requires(
    /^llama_sampler_init_grammar_lazy$/,
    "num_trigger_words == 0 || trigger_words != null",
    "num_trigger_words == 0 || fits(trigger_words, num_trigger_words * 8)",
  ),
  requires(
    /^llama_sampler_init_grammar_lazy_patterns$/,
    "num_trigger_patterns == 0 || trigger_patterns != null",
    "num_trigger_patterns == 0 || fits(trigger_patterns, num_trigger_patterns * 8)",
  ),
  requires(
    /^llama_sampler_init_grammar_lazy\w*$/,
    "num_trigger_tokens == 0 || trigger_tokens != null",
    "num_trigger_tokens == 0 || fits(trigger_tokens, num_trigger_tokens * 4)",
  ),
  requires(
    /^llama_sampler_init_dry$/,
    "num_breakers == 0 || seq_breakers != null",
    "num_breakers == 0 || fits(seq_breakers, num_breakers * 8)",
  ),
  requires(
    /^llama_sampler_init_logit_bias$/,
    "n_vocab >= 0 && n_logit_bias >= 0",
    "n_logit_bias == 0 || logit_bias != null",
    "n_logit_bias == 0 || fits(logit_bias, n_logit_bias * 8)",
  ),
  requires(/^llama_sampler_init_(mirostat|penalties)$/, "n_vocab > 0"),
  requires(/^llama_sampler_init_mirostat$/, "m > 0"),

  // Training.
  requires(
    /^llama_opt_init$/,
    "lopt_params.param_filter != null && lopt_params.get_opt_pars != null",
    "lopt_params.optimizer_type >= 0 && lopt_params.optimizer_type <= 1",
  ),
  requires(/^llama_opt_epoch$/, "idata_split >= 0 && idata_split <= lib.ggml_opt_dataset_ndata(dataset)"),
];
