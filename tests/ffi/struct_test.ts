import assert from "node:assert/strict";
import test from "node:test";
import { Lifetime, open } from "../../ffi/mod.ts";
import type { Pointer, StructView } from "../../ffi/mod.ts";

const native = await open();
const { lib } = native;

test("scalar fields of every kind", () => {
  const params = native.struct("llama_context_params");
  params.n_ctx = 0xffffffff;
  params.n_threads = -1;
  params.rope_freq_base = 0.5;
  params.embeddings = true;
  params.n_samplers = 2n ** 63n;
  assert.deepEqual([params.n_ctx, params.n_threads, params.rope_freq_base], [0xffffffff, -1, 0.5]);
  assert.deepEqual([params.embeddings, params.no_perf, params.n_samplers], [true, false, 2n ** 63n]);
  const bytes = new DataView(native.bytesOf(params).buffer);
  assert.equal(native.bytesOf(params).length, 160);
  assert.deepEqual([bytes.getUint32(0, true), bytes.getInt32(28, true), bytes.getUint8(128)], [0xffffffff, -1, 1]);
});

test("a value that a field can't hold is refused, and leaves it as it was", () => {
  const params = native.struct("llama_context_params");
  const view = params as unknown as Record<string, unknown>;
  const bad: [string, unknown[]][] = [
    ["n_ctx", [-1, 2 ** 32, 1.5, NaN, "5", 5n, undefined, null, {}]],
    ["n_threads", [2 ** 31, -(2 ** 31) - 1, true]],
    ["n_samplers", [-1n, 2n ** 64n, 5, "5"]],
    ["rope_freq_base", ["1", 1n, undefined]],
    ["embeddings", [1, 0, "true", undefined]],
    ["cb_eval_user_data", [5, "text", {}]],
  ];
  const before = JSON.stringify(params);
  for (const [field, values] of bad) {
    for (const value of values) {
      assert.throws(() => view[field] = value, { code: "INVALID_ARGUMENT" }, `${field} = ${String(value)}`);
    }
  }
  assert.throws(() => view["n_cxt"] = 5, TypeError);
  assert.equal(JSON.stringify(params), before);
});

test("pointer fields take pointers, null and memory, which lives on with the view", () => {
  const batch = native.struct("llama_batch");
  assert.equal(batch.token, null);
  const tokens = Int32Array.of(1, 2, 3);
  native.assign(batch, { n_tokens: 3, token: tokens });
  assert.equal(batch.token, native.addressOf(tokens));
  assert.deepEqual([...native.viewInt32(batch.token!, 3)], [1, 2, 3]);
  batch.token = null;
  assert.equal(batch.token, null);
  assert.throws(() => native.assign(batch, { token: "text" as never }), { code: "INVALID_ARGUMENT" });
});

test("nested structs and arrays are views of the same memory", () => {
  const tensor = native.struct("ggml_tensor");
  tensor.ne.set([4n, 3n, 2n, 1n]);
  assert.deepEqual([...tensor.ne], [4n, 3n, 2n, 1n]);
  assert.equal(tensor.ne, tensor.ne);
  assert.equal(tensor.name.length, 64);
  const backend = native.struct("ggml_backend");
  backend.iface.get_name = 4096n as Pointer<"ggml_backend_i.get_name">;
  assert.equal(new DataView(native.bytesOf(backend).buffer).getBigUint64(8, true), 4096n);
});

test("the fields of a union share their bytes", () => {
  const override = native.struct("llama_model_kv_override");
  override.val_f64 = 1;
  assert.equal(override.val_i64, 0x3ff0000000000000n);
  assert.equal(native.bytesOf(override).length, 264);
});

test("an array of structs lies in a row", () => {
  const biases = native.structArray("llama_logit_bias", 3);
  for (const [index, one] of biases.entries()) Object.assign(one, { token: index + 1, bias: index / 2 });
  const first = native.viewInt32(native.addressOf(biases[0]!), 6);
  assert.deepEqual([first[0], first[2], first[4]], [1, 2, 3]);
  assert.deepEqual(native.structArray("llama_logit_bias", 0), []);
});

test("a view of native memory sees what C writes, and the other way round", () => {
  const context = makeContext();
  const pointer = lib.ggml_new_tensor_2d(context, 0, 3n, 2n)!;
  const tensor = native.structAt("ggml_tensor", pointer);
  assert.deepEqual([...tensor.ne], [3n, 2n, 1n, 1n]);
  assert.equal(tensor.type, 0);
  lib.ggml_set_name(pointer, "a name");
  assert.equal(new TextDecoder().decode(tensor.name as unknown as Uint8Array).split("\0")[0], "a name");
  tensor.flags = 5;
  assert.equal(native.structAt("ggml_tensor", pointer).flags, 5);
  lib.ggml_free(context);
});

function makeContext(): Pointer<"ggml_context"> {
  const params = native.struct("ggml_init_params");
  params.mem_size = 65536n;
  return lib.ggml_init(params)!;
}

test("a view of memory that is gone throws", () => {
  const lifetime = new Lifetime();
  const memory = new Uint8Array(336);
  const tensor = native.structAt("ggml_tensor", native.addressOf<"ggml_tensor">(memory), lifetime);
  tensor.flags = 1;
  assert.equal(tensor.flags, 1);
  lifetime.end("the model");
  const gone = { code: "DISPOSED", value: "the model" };
  assert.throws(() => tensor.flags, gone);
  assert.throws(() => tensor.flags = 2, gone);
  assert.throws(() => tensor.ne, gone);
  assert.throws(() => native.bytesOf(tensor as unknown as StructView<object>), gone);
});

test("an object that is no view, or a view of another struct, is refused", () => {
  const context = makeContext();
  assert.throws(() => lib.llama_decode(context as never, { n_tokens: 1 } as never), { code: "INVALID_ARGUMENT" });
  assert.throws(() => lib.llama_batch_free(native.struct("llama_logit_bias") as never), {
    code: "INVALID_ARGUMENT",
    value: "llama_logit_bias",
    expected: "llama_batch",
  });
  lib.ggml_free(context);
});

test("a struct from bytes, and its count checked", () => {
  const bias = native.structFrom("llama_logit_bias", Uint8Array.of(7, 0, 0, 0, 0, 0, 0x80, 0x3f));
  assert.deepEqual([bias.token, bias.bias], [7, 1]);
  assert.throws(() => native.structFrom("llama_logit_bias", new Uint8Array(7)), { code: "INVALID_ARGUMENT", value: 7 });
});

test("a view turns into plain data", () => {
  const bias = native.struct("llama_logit_bias");
  bias.token = 3;
  assert.equal(JSON.stringify(bias), '{"token":3,"bias":0}');
  const params = native.struct("ggml_init_params");
  params.mem_size = 2n ** 60n;
  assert.equal(JSON.stringify(params), '{"mem_size":"1152921504606846976","mem_buffer":null,"no_alloc":false}');
});

test("by-value results and arguments of the real library", () => {
  const batch = lib.llama_batch_init(8, 0, 1);
  assert.notEqual(batch.token, null);
  assert.equal(batch.n_tokens, 0);
  lib.llama_batch_free(batch);
  const sampler = lib.llama_sampler_chain_init(native.defaults("llama_sampler_chain_params"))!;
  lib.llama_sampler_chain_add(sampler, lib.llama_sampler_init_greedy()!);
  assert.equal(lib.llama_sampler_chain_n(sampler), 1);
  const timings = lib.llama_perf_sampler(sampler);
  assert.equal(timings.n_sample, 0);
  lib.llama_sampler_free(sampler);
  assert.equal(lib.ggml_bf16_to_fp32(lib.ggml_fp32_to_bf16(1.5)), 1.5);
});
