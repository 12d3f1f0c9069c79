import type { FunctionShape } from "../requirements/parameters.ts";

/** The kinds of objects whose lives are followed, each with the kinds that it ends with. */
export const owners: Readonly<Record<string, readonly string[]>> = {
  ggml_context: [],
  ggml_tensor: ["ggml_context"],
  ggml_cgraph: ["ggml_context"],
  ggml_backend: [],
  ggml_backend_buffer: [],
  ggml_backend_buffer_type: [],
  ggml_backend_device: [],
  ggml_backend_reg: [],
  ggml_backend_event: [],
  ggml_backend_sched: [],
  ggml_gallocr: [],
  ggml_threadpool: [],
  ggml_opt_context: [],
  ggml_opt_dataset: [],
  ggml_opt_result: [],
  gguf_context: [],
  llama_model: [],
  llama_context: ["llama_model"],
  llama_vocab: ["llama_model"],
  llama_memory_i: ["llama_context"],
  llama_adapter_lora: ["llama_model"],
  llama_sampler: [],
  mtmd_context: [],
  mtmd_bitmap: [],
  mtmd_batch: [],
  mtmd_input_chunks: [],
  mtmd_input_chunk: ["mtmd_input_chunks"],
  mtmd_image_tokens: ["mtmd_input_chunk"],
  mtmd_helper_video: [],
  mtmd_helper_gen_audio: [],
  whisper_context: [],
  whisper_state: ["whisper_context"],
  whisper_vad_context: [],
  whisper_vad_segments: [],
  parakeet_context: [],
  parakeet_state: ["parakeet_context"],
};

const frees =
  /^(ggml_free|gguf_free|ggml_gallocr_free|ggml_threadpool_free|ggml_opt_(dataset_|result_)?free|ggml_backend_((buffer|event|sched)_)?free|llama_(free|model_free|free_model|sampler_free|adapter_lora_free)|mtmd_(free|bitmap_free|batch_free|input_chunks?_free|helper_(video|gen_audio)_free)|(whisper|parakeet)_free(_state)?|whisper_vad_free(_segments)?)$/;

/** What a function frees: its first argument with all that belongs to it, or only what belongs to it. */
export function isFreed(name: string): "itself" | "contents" | undefined {
  if (name === "ggml_reset") return "contents";
  return frees.test(name) ? "itself" : undefined;
}

/** The object that changes hands, and who has it then. */
export function takesOver(
  { name }: FunctionShape,
  [first, second]: readonly unknown[],
  result: unknown,
): readonly [object: unknown, owner: unknown] {
  if (name === "llama_sampler_chain_add") return [second, first];
  return name === "llama_sampler_chain_remove" ? [result, undefined] : [undefined, undefined];
}

const makesBuffers = /alloc|reserve|sched|compute|copy|opt_|init|load/;
const makesTensors = /graph_copy|compare_graph|compute|opt_|sched|init_from|^(llama|mtmd|whisper|parakeet)_/;

/** Whether a call may make objects of a kind inside of C: the address of a freed one may then be another's. */
export function makesInside(name: string, kind: string): boolean {
  if (kind === "ggml_backend_buffer") return makesBuffers.test(name);
  return (kind === "ggml_tensor" || kind === "ggml_cgraph") && makesTensors.test(name);
}
