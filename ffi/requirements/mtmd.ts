import { requires, type Rule, trusts } from "./rule.ts";

/** What mtmd.h and mtmd-helper.h require. */
export const mtmdRules: readonly Rule[] = [
  trusts(/^mtmd_(init_from_file|get_cap_from_file)$/, "a projector's file whose counts and lengths fit its size", null),
  requires(/^mtmd_init_from_file$/, "ctx_params.n_threads >= 1 && ctx_params.n_threads <= 512"),
  requires(/^mtmd_bitmap_init$/, "nx > 0 && ny > 0 && nx * ny <= 2 ** 28", "data == null || fits(data, nx * ny * 3)"),
  requires(/^mtmd_bitmap_init_from_audio$/, "n_samples > 0", "data == null || fits(data, n_samples * 4)"),
  requires(/^mtmd_input_chunks_get$/, "idx < lib.mtmd_input_chunks_size(chunks)"),
  requires(/^mtmd_image_tokens_get_decoder_pos$/, "i < lib.mtmd_image_tokens_get_n_tokens(image_tokens)"),
  requires(
    /^mtmd_tokenize$/,
    "text.text != null",
    "n_bitmaps == 0 || bitmaps != null",
    "n_bitmaps == 0 || fits(bitmaps, n_bitmaps * 8)",
  ),
  requires(/^mtmd_tokenize_from_parts$/, "n_parts > 0", "fits(parts, n_parts * 8)"),
  requires(
    /^mtmd_helper_(decode_image_chunk|eval_chunk_single|eval_chunks)$/,
    "n_batch > 0 && n_past >= 0",
    "fits(new_n_past, 4)",
    "seq_id >= 0 && seq_id < lib.llama_n_seq_max(lctx)",
  ),
  trusts(
    /^mtmd_helper_(decode_image_chunk|eval_chunk_single|eval_chunks)$|^mtmd_(encode|encode_chunk|batch_encode|batch_add_chunk)$/,
    "chunks of this context's own tokenizer and kind",
    null,
  ),
  trusts(/^mtmd_(batch_)?get_output_embd$/, "an encode before it", null),
  requires(/^mtmd_helper_bitmap_init_from_buf$|^mtmd_helper_video_init_from_buf$/, "len > 0", "fits(buf, len)"),
  requires(/^mtmd_input_chunk_load$/, "len > 0", "fitsText(buf, len)"),
  requires(
    /^mtmd_input_chunk_save$/,
    "out_buf == null ? out_len == 0 : fits(out_buf, out_len)",
    "fits(expected_out_len, 8)",
  ),
  requires(/^mtmd_input_chunk_get_tokens_text$/, "fits(n_tokens_output, 8)"),
  requires(/^mtmd_helper_gen_audio_step_prompt$/, "n_batch > 0"),
  trusts(/^mtmd_(helper_)?gen_audio_(?!free|reset)\w+$/, "a model that generates audio, steps in their order", null),
];
