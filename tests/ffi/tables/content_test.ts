import assert from "node:assert/strict";
import test from "node:test";
import { type FieldType, sizeOf } from "../../../ffi/types/signature.ts";
import { callbackSignature, functionEntry, functionNames, structLayout, structNames } from "../../../ffi/tables.ts";
import { callbackSignatures } from "../../../ffi/tables/callback_signatures.ts";
import { GGML_MAX_NAME, GGUF_MAGIC, LLAMA_DEFAULT_SEED, LLAMA_TOKEN_NULL } from "../../../ffi/tables/constants.ts";
import { structDefaults } from "../../../ffi/tables/defaults.ts";
import { ggml_type, llama_token_attr } from "../../../ffi/tables/enums.ts";
import { ggmlBaseSignatures } from "../../../ffi/tables/ggml_base.ts";
import { llamaSignatures } from "../../../ffi/tables/llama.ts";

const codes = /^(v|b|[iu](8|16|32|64)|f(32|64)|p|d|s|c|\{\w+\})$/;

test("signatures are what the C prototypes say", () => {
  assert.equal(llamaSignatures["llama_decode"], "i32 p {llama_batch}");
  assert.equal(llamaSignatures["llama_tokenize"], "i32 p s i32 d i32 b b");
  assert.equal(llamaSignatures["llama_sampler_init_top_p"], "p f32 u64");
  assert.equal(llamaSignatures["llama_batch_init"], "{llama_batch} i32 i32 i32");
  assert.equal(llamaSignatures["llama_log_set"], "v c p");
  assert.equal(ggmlBaseSignatures["ggml_new_tensor_4d"], "p p i32 i64 i64 i64 i64");
  assert.equal(ggmlBaseSignatures["gguf_get_val_f64"], "f64 p i64");
  assert.equal(callbackSignatures["llama_progress_callback"], "b f32 p");
  assert.equal(callbackSignatures["ggml_backend_i.graph_compute"], "i32 p p");
});

test("each entry has codes that are known and structs that have a layout", () => {
  const structs = new Set(structNames());
  const tables = [ggmlBaseSignatures, llamaSignatures, callbackSignatures];
  for (const [name, text] of tables.flatMap((table) => Object.entries(table))) {
    for (const code of text.split(" ")) {
      assert.match(code, codes, name);
      if (code.startsWith("{")) assert.ok(structs.has(code.slice(1, -1)), `${name}: ${code}`);
    }
  }
});

test("a function is in one table only", () => {
  const names = functionNames();
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.length > 1000, String(names.length));
  assert.equal(functionEntry("ggml_backend_load")?.library, "ggml");
  assert.equal(functionEntry("ggml_backend_buft_name")?.library, "ggml-base");
  assert.equal(functionEntry("ggml_graph_compute")?.library, "ggml-cpu");
  assert.equal(functionEntry("ggml_abort"), undefined);
  assert.equal(functionEntry("toString"), undefined);
});

test("fields lie inside their struct, in order, without overlap but in a union", () => {
  for (const name of structNames()) {
    const layout = structLayout(name);
    let end = 0;
    for (const field of layout.fields) {
      const isMember = name === "llama_model_kv_override" && field.name.startsWith("val_");
      const start = isMember ? 136 : end;
      assert.ok(
        field.offset >= start && field.offset - start < layout.align,
        `${name}.${field.name} at ${field.offset}, behind ${start}`,
      );
      end = Math.max(end, field.offset + sizeOf(field.type, structLayout));
    }
    assert.ok(
      end <= layout.size && layout.size - end < layout.align,
      `${name} has ${layout.size} bytes and ends at ${end}`,
    );
  }
});

test("function-pointer fields have a callback type of their own", () => {
  assert.deepEqual(callbackSignature("llama_sampler_i.apply"), { result: "void", parameters: ["pointer", "pointer"] });
  assert.equal(callbackSignature("llama_sampler_i.nothing"), undefined);
});

test("default parameters fit their structs, and their marks name fields", () => {
  for (const [name, { bytes, pointers, arguments: args, machine }] of Object.entries(structDefaults)) {
    const layout = structLayout(name);
    assert.match(bytes, /^([0-9a-f]{2})+$/);
    assert.ok(bytes.length / 2 <= layout.size, name);
    const fields = new Map<string, FieldType>(layout.fields.map((field) => [field.name, field.type]));
    for (const field of [...(args ?? []), ...Object.keys(machine ?? {})]) {
      assert.ok(fields.has(field), `${name}.${field}`);
    }
    for (const field of Object.keys(pointers ?? {})) assert.equal(fields.get(field), "pointer", `${name}.${field}`);
  }
});

test("constants and enums have their values", () => {
  assert.equal(GGUF_MAGIC, "GGUF");
  assert.equal(LLAMA_TOKEN_NULL, -1);
  assert.equal(LLAMA_DEFAULT_SEED, 0xffffffff);
  assert.equal(GGML_MAX_NAME, 64);
  assert.equal(ggml_type.GGML_TYPE_Q8_0, 8);
  assert.equal(llama_token_attr.LLAMA_TOKEN_ATTR_CONTROL, 8);
});
