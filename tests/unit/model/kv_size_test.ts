import assert from "node:assert/strict";
import test from "node:test";
import { MemorySource } from "../../../lib/gguf/byte_source.ts";
import { parseGgufHeader } from "../../../lib/gguf/header.ts";
import { bytesPerToken } from "../../../lib/llama/model/kv_size.ts";
import { buildGguf, type BuiltValue, stringValue, u32sValue, u32Value } from "../gguf/builder.ts";

async function estimate(metadata: Readonly<Record<string, BuiltValue>>): Promise<number> {
  const header = buildGguf({ "general.architecture": stringValue("llama"), ...metadata }, []);
  return bytesPerToken(await parseGgufHeader(new MemorySource(header)));
}

const plain = {
  "llama.block_count": u32Value(30),
  "llama.embedding_length": u32Value(576),
  "llama.attention.head_count": u32Value(9),
  "llama.attention.head_count_kv": u32Value(3),
};

test("models that keep all keys and values: exact", async () => {
  // 30 layers of 3 heads of 64 numbers, keys and values, 2 bytes each.
  assert.equal(await estimate(plain), 48 + 30 * 3 * 128 * 2);
  assert.equal(await estimate({ ...plain, "llama.attention.key_length": u32Value(32) }), 48 + 30 * 3 * 96 * 2);
  const { "llama.attention.head_count_kv": _, ...rest } = plain;
  assert.equal(await estimate(rest), 48 + 30 * 9 * 128 * 2);
});

test("others, and headers that don't say: what is certain", async () => {
  assert.equal(await estimate({}), 48);
  assert.equal(await estimate({ ...plain, "llama.attention.sliding_window": u32Value(512) }), 48);
  assert.equal(
    await estimate({
      ...plain,
      "llama.attention.head_count": u32sValue([1, 2]),
      "llama.attention.head_count_kv": u32sValue([1, 2]),
    }),
    48,
  );
});
