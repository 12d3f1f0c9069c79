import { encodeGguf, GgufFile, type GgufTypedValue } from "../../lib/ggml/mod.ts";
import { defaultModelPath } from "../../mod.ts";
import { shapes, tinyWeights, vocabularySize } from "../model/tiny_model.ts";

/** Special tokens and bytes, and the first that are merged. */
const TOKENS = 400;
/** Special tokens and bytes of the default model: what comes behind them is merged. */
const UNMERGED = 273;
const LISTS: Readonly<Record<string, number>> = {
  "tokenizer.ggml.tokens": TOKENS,
  "tokenizer.ggml.token_type": TOKENS,
  "tokenizer.ggml.merges": TOKENS - UNMERGED,
};

/** A model of one layer with the first tokens of the default model: small, so that a part of what is damaged in it is its head. */
export async function smallLlama(): Promise<Uint8Array<ArrayBuffer>> {
  await using source = await GgufFile.open(await defaultModelPath());
  const metadata: [string, GgufTypedValue | string][] = [["general.architecture", "llama"]];
  for (const key of source.metadata.keys()) {
    if (key.startsWith("tokenizer.")) metadata.push([key, shortened(key, await source.value(key))]);
  }
  const counts = {
    block_count: 1,
    context_length: 256,
    embedding_length: 32,
    feed_forward_length: 48,
    "attention.head_count": 2,
    "attention.head_count_kv": 2,
    "rope.dimension_count": 16,
    vocab_size: TOKENS,
  };
  for (const [key, value] of Object.entries(counts)) metadata.push([`llama.${key}`, { type: "uint32", value }]);
  metadata.push(["llama.attention.layer_norm_rms_epsilon", { type: "float32", value: 1e-5 }]);
  metadata.push(["llama.rope.freq_base", { type: "float32", value: 1e4 }]);
  const tensors = Object.entries(tinyWeights()).map(([name, data]) => {
    const shape = (shapes[name] ?? []).map((size) => size === vocabularySize ? TOKENS : size);
    const length = shape.reduce((product, size) => product * size, 1);
    return { name, type: "f32", shape, data: data.slice(0, length) };
  });
  return encodeGguf({ metadata, tensors });
}

function shortened(key: string, value: GgufTypedValue | undefined): GgufTypedValue {
  if (value === undefined) throw new RangeError(`there is no ${key}`);
  const length = LISTS[key];
  if (length === undefined || value.type !== "array") return value;
  return { ...value, value: (value.value as unknown[]).slice(0, length) } as GgufTypedValue;
}
