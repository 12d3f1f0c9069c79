import assert from "node:assert/strict";
import test from "node:test";
import { GgufFormatError } from "../../../lib/errors.ts";
import { MemorySource } from "../../../lib/gguf/byte_source.ts";
import { parseGgufHeader } from "../../../lib/gguf/header.ts";
import { checkModelHeader } from "../../../lib/llama/model/header.ts";
import { buildGguf, type BuiltValue, f32Value, stringValue, u32Value } from "../gguf/builder.ts";

async function check(values: Readonly<Record<string, BuiltValue>>, tensorCount = 1): Promise<void> {
  const tensors = Array.from({ length: tensorCount }, (_, index) => ({
    name: `t${index}`,
    shape: [1],
    type: 0,
    data: new Uint8Array(4),
  }));
  const bytes = buildGguf({ "general.architecture": stringValue("llama"), ...values }, tensors);
  checkModelHeader(await parseGgufHeader(new MemorySource(bytes, "m.gguf")), "m.gguf");
}

async function refused(values: Readonly<Record<string, BuiltValue>>, key: string): Promise<void> {
  await assert.rejects(
    check(values),
    (error) => error instanceof GgufFormatError && error.message.includes(key) && error.message.includes("m.gguf"),
    key,
  );
}

test("numbers of layers that llama.cpp asserts are refused before", async () => {
  for (const count of [0, 513, 4_294_967_295]) {
    await refused({ "llama.block_count": u32Value(count) }, `llama.block_count is ${count}`);
  }
  for (const key of ["nextn_predict_layers", "posnet.block_count", "convnext.block_count"]) {
    await refused({ "llama.block_count": u32Value(2), [`llama.${key}`]: u32Value(3) }, `llama.${key} is 3`);
  }
  await check({ "llama.block_count": u32Value(512), "llama.nextn_predict_layers": u32Value(512) });
  await check({});
  // Without tensors only the vocabulary is loaded.
  await check({ "llama.block_count": u32Value(0) }, 0);
});

test("numbers of the model that aren't finite are refused", async () => {
  for (const value of [Number.NaN, Infinity, -Infinity]) {
    const key = "llama.attention.layer_norm_rms_epsilon";
    await refused({ [key]: f32Value(value) }, `${key} is ${value}`);
  }
  const key = "llama.attention.group_norm_epsilon";
  await refused({ [key]: f32Value(-0.5) }, `${key} is -0.5, not 0 or more`);
  await check({ "llama.attention.layer_norm_rms_epsilon": f32Value(1e-5), "general.score": f32Value(Number.NaN) });
});
