import assert from "node:assert/strict";
import test from "node:test";
import { DisposedError, InvalidArgumentError, open, type Pointer } from "../../ffi/mod.ts";

test("checked calls are those of an object of their own, beside plain ones of the same libraries", async () => {
  const native = await open();
  const checked = await open({ checked: true });
  assert.equal(native.isChecked, false);
  assert.equal(checked.isChecked, true);
  assert.equal(await open({ checked: false }), native);
  assert.equal(await open({ checked: true }), checked);
  await assert.rejects(open({ checked: "yes" as never }), InvalidArgumentError);
});

test("a checked call names the function, the argument and what would be right; a freed object is known", async () => {
  const { lib, struct, assign } = await open({ checked: true }).then((native) => ({
    lib: native.lib,
    struct: native.struct.bind(native),
    assign: native.assign.bind(native),
  }));
  assert.throws(() => lib.ggml_type_name(99 as never), /ggml_type_name: type is 99; expected a value of ggml_type/);
  assert.throws(() => lib.ggml_backend_dev_get(99n), /ggml_backend_dev_get requires index < .*; index is 99/);
  assert.throws(() => lib.llama_vocab_n_tokens(null as never), /vocab is null; expected a live llama_vocab/);
  const context = lib.ggml_init(assign(struct("ggml_init_params"), { mem_size: 4096n, no_alloc: true }));
  assert.throws(
    () => lib.llama_n_ctx(context as never),
    /ctx is a ggml_context \(of ggml_init\); expected a live llama_context/,
  );
  const tensor = lib.ggml_new_tensor_1d(context, 0, 4n);
  lib.ggml_free(context);
  assert.throws(() => lib.ggml_free(context), DisposedError);
  assert.throws(() => lib.ggml_nelements(tensor), /tensor is a ggml_tensor that ggml_free freed/);
  const chain = lib.llama_sampler_chain_init(struct("llama_sampler_chain_params"));
  const greedy = lib.llama_sampler_init_greedy() as Pointer<"llama_sampler">;
  lib.llama_sampler_chain_add(chain, greedy);
  assert.throws(() => lib.llama_sampler_free(greedy), /requires owner\(smpl\) == null/);
  lib.llama_sampler_free(chain);
  assert.throws(() => lib.llama_sampler_reset(greedy), DisposedError);
});
