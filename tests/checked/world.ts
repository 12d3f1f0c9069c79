/** Objects of every kind to call C functions with. */

import { existsSync } from "node:fs";
import { Checker } from "../../ffi/checked/checker.ts";
import {
  ggml_opt_build_type,
  ggml_type,
  gguf_type,
  type Lib,
  llama_load_mode,
  type Native,
  type Pointer,
} from "../../ffi/mod.ts";
import { defaultModelPath } from "../../mod.ts";
import { smallModel } from "../whisper/small_model.ts";

/** A checker, and the objects that its own calls made, by kind. */
export interface World {
  readonly native: Native;
  readonly checker: Checker;
  readonly objects: Readonly<Record<string, readonly bigint[]>>;
  /** A new tensor without memory. */
  tensor(type: ggml_type, sizes: readonly number[]): bigint;
  /** One whose rows aren't contiguous. */
  transposed(type: ggml_type, sizes: readonly number[]): bigint;
}

/** The types of tensors that conditions tell apart. */
export const tensorTypes: readonly ggml_type[] = [
  ggml_type.GGML_TYPE_F32,
  ggml_type.GGML_TYPE_F16,
  ggml_type.GGML_TYPE_I32,
  ggml_type.GGML_TYPE_I64,
  ggml_type.GGML_TYPE_Q4_0,
];

/** Makes the world. The path of a voice detector may be missing: its objects are then, too. */
export async function makeWorld(native: Native, vadPath: string): Promise<World> {
  const checker = new Checker(native, native.lib);
  const { lib } = checker;
  const context = (bytes: bigint, no_alloc: boolean): Pointer<"ggml_context"> =>
    lib.ggml_init(native.assign(native.struct("ggml_init_params"), { mem_size: bytes, no_alloc }));
  const ctx = context(1n << 27n, true);
  const withData = context(1n << 22n, false);
  const full = context(64n, true);
  const fullWithData = context(64n, false);
  const tensor = (type: ggml_type, sizes: readonly number[]): Pointer<"ggml_tensor"> =>
    lib.ggml_new_tensor(ctx, type, sizes.length, BigInt64Array.from(sizes, BigInt));
  return {
    native,
    checker,
    tensor,
    transposed: (type, [first = 1, second = 1, ...more]) =>
      lib.ggml_transpose(ctx, tensor(type, [second, first, ...more])),
    objects: {
      ggml_context: [ctx, withData, full, fullWithData],
      ggml_tensor: tensors(lib, ctx, withData, tensor),
      ...graphs(lib, ctx, withData),
      ...backends(native, lib, ctx),
      ...files(native, lib, ctx),
      ...await models(native, lib),
      ...speech(native, lib, vadPath),
      ...pictures(native, lib),
    },
  };
}

function tensors(
  lib: Lib,
  ctx: Pointer<"ggml_context">,
  withData: Pointer<"ggml_context">,
  tensor: (type: ggml_type, sizes: readonly number[]) => Pointer<"ggml_tensor">,
): bigint[] {
  const { GGML_TYPE_F32: F32, GGML_TYPE_I32: I32 } = ggml_type;
  const plain = tensorTypes.flatMap((type) =>
    [[32], [32, 2], [32, 4, 2], [32, 2, 3, 2], [64, 1, 2]].map((sizes) => tensor(type, sizes))
  );
  const square = tensor(F32, [4, 4]);
  const hidden = tensor(F32, [8, 8, 4]);
  const softMax = lib.ggml_soft_max(ctx, hidden);
  const attention = lib.ggml_flash_attn_ext(ctx, hidden, hidden, hidden, null, 1, 0, 0);
  const sinks = tensor(F32, [4]);
  const withSinks = lib.ggml_soft_max(ctx, hidden);
  lib.ggml_soft_max_add_sinks(withSinks, sinks);
  const attentionWithSinks = lib.ggml_flash_attn_ext(ctx, hidden, hidden, hidden, null, 1, 0, 0);
  lib.ggml_flash_attn_ext_add_sinks(attentionWithSinks, sinks);
  const parameter = tensor(F32, [4, 4]);
  lib.ggml_set_param(parameter);
  const rope = lib.ggml_rope(ctx, hidden, tensor(I32, [4]), 4, 0);
  return [
    ...plain,
    square,
    tensor(F32, [1]),
    tensor(F32, [2]),
    tensor(F32, [7]),
    tensor(F32, [2 ** 31]),
    parameter,
    withSinks,
    attentionWithSinks,
    softMax,
    attention,
    rope,
    lib.ggml_mul_mat(ctx, square, square),
    lib.ggml_relu(ctx, square),
    lib.ggml_geglu(ctx, tensor(F32, [8, 2])),
    lib.ggml_transpose(ctx, square),
    lib.ggml_permute(ctx, hidden, 2, 1, 0, 3),
    lib.ggml_view_2d(ctx, hidden, 2n, 4n, 32n, 0n),
    ...tensorTypes.map((type) => lib.ggml_new_tensor_2d(withData, type, 32n, 2n)),
    lib.ggml_new_tensor_1d(withData, I32, 7n),
    lib.ggml_new_tensor_1d(withData, F32, 4n),
    lib.ggml_new_tensor_1d(withData, F32, 1n),
  ];
}

function graphs(lib: Lib, ctx: Pointer<"ggml_context">, withData: Pointer<"ggml_context">): Record<string, bigint[]> {
  const made = (size: bigint, grads: boolean): Pointer<"ggml_cgraph"> => lib.ggml_new_graph_custom(ctx, size, grads);
  const [empty, small, trained, allocated, leafy] = [
    made(8n, false),
    made(2n, false),
    made(32n, true),
    made(8n, false),
    made(64n, false),
  ] as const;
  const operand = (): Pointer<"ggml_tensor"> => lib.ggml_new_tensor_1d(ctx, ggml_type.GGML_TYPE_F32, 4n);
  const sum = lib.ggml_add(ctx, operand(), operand());
  lib.ggml_build_forward_expand(small, sum);
  lib.ggml_build_forward_expand(leafy, operand());
  for (let count = 0; count < 20; count++) {
    lib.ggml_build_forward_expand(leafy, lib.ggml_add(ctx, operand(), operand()));
  }
  const parameter = operand();
  lib.ggml_set_param(parameter);
  const loss = lib.ggml_sum(ctx, lib.ggml_sqr(ctx, parameter));
  lib.ggml_set_loss(loss);
  lib.ggml_build_forward_expand(trained, loss);
  const a = lib.ggml_new_tensor_1d(withData, ggml_type.GGML_TYPE_F32, 4n);
  lib.ggml_build_forward_expand(allocated, lib.ggml_add(withData, a, a));
  const unused = made(4n, false);
  lib.ggml_build_forward_expand(unused, operand());
  const untrained = made(16n, true);
  lib.ggml_build_forward_expand(untrained, sum);
  const filled = made(1n, false);
  lib.ggml_build_forward_expand(filled, lib.ggml_sqr(ctx, operand()));
  return { ggml_cgraph: [empty, small, trained, allocated, leafy, unused, untrained, filled] };
}

function backends(native: Native, lib: Lib, ctx: Pointer<"ggml_context">): Record<string, bigint[]> {
  const cpu = lib.ggml_backend_dev_init(lib.ggml_backend_dev_get(0n), null) as Pointer<"ggml_backend">;
  const other = lib.ggml_backend_dev_init(lib.ggml_backend_dev_get(0n), null) as Pointer<"ggml_backend">;
  const buft = lib.ggml_backend_get_default_buffer_type(cpu);
  const buffer = lib.ggml_backend_buft_alloc_buffer(buft, 256n) as Pointer<"ggml_backend_buffer">;
  const base = lib.ggml_backend_buffer_get_base(buffer) as Pointer;
  const in_ = lib.ggml_new_tensor_1d(ctx, ggml_type.GGML_TYPE_F32, 4n);
  lib.ggml_backend_tensor_alloc(buffer, in_, base);
  const placed = [in_, lib.ggml_view_1d(ctx, in_, 2n, 0n)];
  const device = lib.ggml_backend_dev_get(0n);
  const sched = lib.ggml_backend_sched_new(BigUint64Array.of(cpu), null, 1, 16n, false, true) as Pointer<
    "ggml_backend_sched"
  >;
  const dataset = lib.ggml_opt_dataset_init(ggml_type.GGML_TYPE_F32, ggml_type.GGML_TYPE_F32, 4n, 1n, 8n, 2n);
  const unlabeled = lib.ggml_opt_dataset_init(ggml_type.GGML_TYPE_F32, ggml_type.GGML_TYPE_F32, 4n, 0n, 8n, 2n);
  return {
    ggml_backend: [cpu, other],
    ggml_backend_buffer: [buffer, lib.ggml_backend_buft_alloc_buffer(buft, 0n) as Pointer<"ggml_backend_buffer">],
    addresses: [base, base + 8n],
    ggml_backend_buffer_type: [buft],
    ggml_backend_device: [device],
    ggml_backend_reg: [lib.ggml_backend_reg_get(0n)],
    ggml_backend_sched: [sched],
    ggml_gallocr: [lib.ggml_gallocr_new(buft) ?? 0n, lib.ggml_gallocr_new_n(BigUint64Array.of(buft), 1) ?? 0n],
    ggml_opt_context: [optimizer(native, lib, sched, ctx, false), optimizer(native, lib, sched, ctx, true)],
    ggml_opt_dataset: [dataset, unlabeled],
    ggml_opt_result: [lib.ggml_opt_result_init()],
    ggml_threadpool: [lib.ggml_threadpool_new(threads(native)) ?? 0n],
    placed,
  };
}

function optimizer(
  native: Native,
  lib: Lib,
  backend_sched: Pointer<"ggml_backend_sched">,
  ctx: Pointer<"ggml_context">,
  isStatic: boolean,
): bigint {
  const params = native.struct("ggml_opt_params");
  const get_opt_pars = native.symbol<"ggml_opt_get_optimizer_params">("ggml_opt_get_default_optimizer_params");
  native.assign(params, { backend_sched, opt_period: 1, get_opt_pars });
  if (isStatic) {
    const withData = lib.ggml_init(native.assign(native.struct("ggml_init_params"), { mem_size: 4096n }));
    const inputs = lib.ggml_new_tensor_2d(withData, ggml_type.GGML_TYPE_F32, 2n, 2n);
    native.assign(params, {
      ctx_compute: ctx,
      inputs,
      outputs: lib.ggml_sqr(ctx, inputs),
      build_type: ggml_opt_build_type.GGML_OPT_BUILD_TYPE_FORWARD,
    });
  }
  return lib.ggml_opt_init(params);
}

function threads(native: Native) {
  const params = native.struct("ggml_threadpool_params");
  params.n_threads = 1;
  return params;
}

function files(native: Native, lib: Lib, ctx: Pointer<"ggml_context">): Record<string, bigint[]> {
  const file = lib.gguf_init_empty();
  lib.gguf_set_val_str(file, "text", "a");
  lib.gguf_set_val_u8(file, "u8", 1);
  lib.gguf_set_val_i8(file, "i8", 1);
  lib.gguf_set_val_u16(file, "u16", 1);
  lib.gguf_set_val_i16(file, "i16", 1);
  lib.gguf_set_val_u32(file, "u32", 1);
  lib.gguf_set_val_i32(file, "i32", 1);
  lib.gguf_set_val_f32(file, "f32", 1);
  lib.gguf_set_val_f64(file, "f64", 1);
  lib.gguf_set_val_u64(file, "u64", 1n);
  lib.gguf_set_val_i64(file, "i64", 1n);
  lib.gguf_set_val_bool(file, "bool", true);
  lib.gguf_set_arr_data(file, "numbers", gguf_type.GGUF_TYPE_INT32, new Int32Array(3), 3n);
  const text = new TextEncoder().encode("a\0");
  lib.gguf_set_arr_str(file, "texts", BigUint64Array.of(native.addressOf(text)), 1n);
  const tensor = lib.ggml_new_tensor_1d(ctx, ggml_type.GGML_TYPE_F32, 33n);
  lib.ggml_set_name(tensor, "a");
  lib.gguf_add_tensor(file, tensor);
  return { gguf_context: [file, lib.gguf_init_empty()], named: [tensor] };
}

async function models(native: Native, lib: Lib): Promise<Record<string, bigint[]>> {
  const params = native.defaults("llama_model_params");
  params.load_mode = llama_load_mode.LLAMA_LOAD_MODE_MMAP;
  const model = lib.llama_model_load_from_file(await defaultModelPath(), params) as Pointer<"llama_model">;
  params.vocab_only = true;
  const words = lib.llama_model_load_from_file(await defaultModelPath(), params) as Pointer<"llama_model">;
  const settings = native.defaults("llama_context_params");
  native.assign(settings, { n_ctx: 64, n_batch: 8, n_ubatch: 8, n_threads: 1, n_threads_batch: 1 });
  const context = lib.llama_init_from_model(model, settings) as Pointer<"llama_context">;
  const chain = lib.llama_sampler_chain_init(native.defaults("llama_sampler_chain_params"));
  lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_top_k(4));
  const inner = lib.llama_sampler_init_temp(1);
  lib.llama_sampler_chain_add(chain, inner);
  const decoded = lib.llama_init_from_model(model, settings) as Pointer<"llama_context">;
  lib.llama_decode(decoded, lib.llama_batch_get_one(native.addressOf(firstToken), 1));
  return {
    llama_model: [model, words],
    llama_context: [context, decoded],
    llama_vocab: [lib.llama_model_get_vocab(model)],
    llama_memory_i: [lib.llama_get_memory(context) ?? 0n],
    llama_sampler: [chain, inner, lib.llama_sampler_init_greedy(), lib.llama_sampler_init_top_k(2)],
  };
}

const firstToken = Int32Array.of(1);

function speech(native: Native, lib: Lib, vadPath: string): Record<string, bigint[]> {
  const { bytes } = smallModel();
  const params = native.defaults("whisper_context_params");
  params.use_gpu = false;
  const context = lib.whisper_init_from_buffer_with_params(bytes, BigInt(bytes.length), params) as Pointer<
    "whisper_context"
  >;
  const state = lib.whisper_init_state(context) as Pointer<"whisper_state">;
  const quiet = new Float32Array(16_000);
  const full = native.defaults("whisper_full_params");
  native.assign(full, { n_threads: 1, max_tokens: 8, print_progress: false, temperature_inc: 0, no_speech_thold: 2 });
  lib.whisper_full(context, full, quiet, quiet.length);
  lib.whisper_full_with_state(context, state, full, quiet, quiet.length);
  const found: Record<string, bigint[]> = { whisper_context: [context], whisper_state: [state] };
  if (!existsSync(vadPath)) return found;
  const vadParams = native.defaults("whisper_vad_context_params");
  vadParams.n_threads = 1;
  const vad = lib.whisper_vad_init_from_file_with_params(vadPath, vadParams) as Pointer<"whisper_vad_context">;
  const segments = lib.whisper_vad_segments_from_samples(
    vad,
    native.defaults("whisper_vad_params"),
    new Float32Array(512),
    512,
  );
  return { ...found, whisper_vad_context: [vad], whisper_vad_segments: [segments ?? 0n] };
}

function pictures(_native: Native, lib: Lib): Record<string, bigint[]> {
  const chunks = lib.mtmd_test_create_input_chunks() as Pointer<"mtmd_input_chunks">;
  const count = lib.mtmd_input_chunks_size(chunks);
  const each = Array.from({ length: Number(count) }, (_, at) => lib.mtmd_input_chunks_get(chunks, BigInt(at)));
  const chunk = each.flatMap((one) => one ?? []);
  const image = chunk.map((one) => lib.mtmd_input_chunk_get_tokens_image(one)).flatMap((one) => one ?? []);
  return { mtmd_input_chunks: [chunks], mtmd_input_chunk: chunk, mtmd_image_tokens: image };
}
