// Compiled by tables_types_test.ts, never run: each expected error must be one, and nothing else may be.
import { ggml_type, type Lib, type llama_token, type Pointer, type StructView } from "../../../ffi/mod.ts";
import type {
  llama_batch,
  llama_context_params,
  llama_model_params,
  llama_sampler_chain_params,
} from "../../../ffi/mod.ts";

declare const lib: Lib;
declare const model: Pointer<"llama_model">;
declare const context: Pointer<"llama_context">;
declare const vocab: Pointer<"llama_vocab">;
declare const ggml: Pointer<"ggml_context">;
declare const tensor: Pointer<"ggml_tensor">;
declare const batch: StructView<llama_batch>;
declare const modelParams: StructView<llama_model_params>;
declare const contextParams: StructView<llama_context_params>;
declare const chainParams: StructView<llama_sampler_chain_params>;
declare const tokens: Int32Array;

export function right(): unknown[] {
  const status: number = lib.llama_decode(context, batch);
  const loaded: Pointer<"llama_model"> | null = lib.llama_model_load_from_file("model.gguf", modelParams);
  const size: bigint = lib.llama_model_size(model);
  const sum: Pointer<"ggml_tensor"> = lib.ggml_add(ggml, tensor, tensor);
  const one: Pointer<"ggml_tensor"> = lib.ggml_new_tensor_1d(ggml, ggml_type.GGML_TYPE_F32, 4n);
  const count: number = lib.llama_tokenize(vocab, "text", 4, tokens, tokens.length, true, false);
  const needed: number = lib.llama_tokenize(vocab, new Uint8Array(4), 4, null, 0, true, false);
  const isEnd: boolean = lib.llama_vocab_is_eog(vocab, 2 satisfies llama_token);
  lib.llama_sampler_free(lib.llama_sampler_chain_init(chainParams));
  lib.ggml_flash_attn_ext(ggml, tensor, tensor, tensor, null, 1, 0, 0);
  lib.llama_set_abort_callback(context, null, null);
  return [status, loaded, size, sum, one, count, needed, isEnd];
}

export function wrong(): void {
  // @ts-expect-error another kind of pointer
  lib.llama_decode(model, batch);
  // @ts-expect-error a pointer's kind isn't a number
  lib.llama_decode(1n, batch);
  // @ts-expect-error NULL where the function needs an object
  lib.llama_decode(null, batch);
  // @ts-expect-error another struct
  lib.llama_model_load_from_file("model.gguf", contextParams);
  // @ts-expect-error another struct that has all of this one's fields
  lib.llama_sampler_chain_init(contextParams);
  // @ts-expect-error an object literal is no view
  lib.llama_sampler_chain_init({ no_perf: true });
  // @ts-expect-error a result that may be NULL
  lib.llama_model_free(lib.llama_model_load_from_file("model.gguf", modelParams));
  // @ts-expect-error an array of other elements
  lib.llama_tokenize(vocab, "text", 4, new Float32Array(4), 4, true, false);
  // @ts-expect-error size_t is a bigint
  lib.ggml_new_tensor_1d(ggml, ggml_type.GGML_TYPE_F32, 4);
  // @ts-expect-error int32_t is a number
  lib.llama_get_logits_ith(context, 0n);
  // @ts-expect-error no value of the enum
  lib.ggml_new_tensor_1d(ggml, 4096, 4n);
  // @ts-expect-error no array for what C keeps
  lib.llama_set_abort_callback(context, null, new Uint8Array(1));
  // @ts-expect-error no such function
  lib.llama_decode_all(context);
  // @ts-expect-error an array inside a struct is written in place
  (null as unknown as StructView<import("../../../ffi/mod.ts").ggml_tensor>).ne = new BigInt64Array(4);
}
