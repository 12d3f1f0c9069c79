/** A model of a few thousand weights with the default model's vocabulary, and adapters for it. */

import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GgufFile, type GgufTypedValue, writeGguf } from "../../lib/ggml/mod.ts";
import { defaultModelPath } from "../../mod.ts";
import { randomNumbers } from "../support/random.ts";

const width = 32;
const hidden = 48;
export const vocabularySize = 49152;

/** Elements in each dimension of the tensors, the fastest first. */
export const shapes: Readonly<Record<string, readonly number[]>> = {
  "token_embd.weight": [width, vocabularySize],
  "output.weight": [width, vocabularySize],
  "output_norm.weight": [width],
  "blk.0.attn_norm.weight": [width],
  "blk.0.attn_q.weight": [width, width],
  "blk.0.attn_k.weight": [width, width],
  "blk.0.attn_v.weight": [width, width],
  "blk.0.attn_output.weight": [width, width],
  "blk.0.ffn_norm.weight": [width],
  "blk.0.ffn_gate.weight": [width, hidden],
  "blk.0.ffn_up.weight": [width, hidden],
  "blk.0.ffn_down.weight": [hidden, width],
};

/** Tensors by name. */
export type Weights = Record<string, Float32Array<ArrayBuffer>>;

/** Numbers around 0. */
function aroundZero(length: number, seed: number, scale: number): Float32Array<ArrayBuffer> {
  const next = randomNumbers(seed);
  return Float32Array.from({ length }, () => (next() - 0.5) * scale);
}

/** The weights of the tiny model. */
export function tinyWeights(): Weights {
  return Object.fromEntries(
    Object.entries(shapes).map(([name, shape], index) => {
      const length = shape.reduce((product, size) => product * size, 1);
      const isNorm = name.includes("norm");
      return [name, isNorm ? new Float32Array(length).fill(1) : aroundZero(length, index + 1, 0.8)];
    }),
  );
}

/** Writes a tiny model. */
export async function writeTinyModel(path: string, weights: Weights): Promise<void> {
  await using source = await GgufFile.open(await defaultModelPath());
  const metadata: [string, GgufTypedValue | string][] = [["general.architecture", "llama"], ["general.name", "tiny"]];
  for (const key of source.metadata.keys()) {
    const value = key.startsWith("tokenizer.") ? await source.value(key) : undefined;
    if (value !== undefined) metadata.push([key, value]);
  }
  const counts = {
    "llama.block_count": 1,
    "llama.context_length": 256,
    "llama.embedding_length": width,
    "llama.feed_forward_length": hidden,
    "llama.attention.head_count": 2,
    "llama.attention.head_count_kv": 2,
    "llama.rope.dimension_count": width / 2,
    "llama.vocab_size": vocabularySize,
  };
  for (const [key, value] of Object.entries(counts)) metadata.push([key, { type: "uint32", value }]);
  metadata.push(["llama.attention.layer_norm_rms_epsilon", { type: "float32", value: 1e-5 }]);
  const tensors = Object.entries(weights).map(([name, data]) => ({
    name,
    type: "f32",
    shape: shapes[name] ?? [],
    data,
  }));
  await writeGguf(path, { metadata, tensors });
}

/** The pair of matrices for one tensor. */
export interface LoraPair {
  readonly a: Float32Array<ArrayBuffer>;
  readonly b: Float32Array<ArrayBuffer>;
}

/** What a LoRA file has in it. */
export interface LoraContent {
  readonly rank: number;
  readonly alpha: number;
  readonly pairs: Readonly<Record<string, LoraPair>>;
}

/** A LoRA of random numbers for some tensors. */
export function randomLora(names: readonly string[], rank: number, alpha: number, seed: number): LoraContent {
  const pairs = names.map((name, index): [string, LoraPair] => {
    const [first, second] = sides(name);
    return [name, {
      a: aroundZero(first * rank, seed + 2 * index, 0.6),
      b: aroundZero(second * rank, seed + 2 * index + 1, 0.6),
    }];
  });
  return { rank, alpha, pairs: Object.fromEntries(pairs) };
}

/** What the two matrices of a tensor have beside the rank. Those of the embedding are the other way round. */
function sides(name: string): [number, number] {
  const [input = 0, output = 0] = shapes[name] ?? [];
  return name === "token_embd.weight" ? [output, input] : [input, output];
}

/** Writes an adapter. */
export async function writeLora(path: string, { rank, alpha, pairs }: LoraContent): Promise<void> {
  await writeGguf(path, {
    metadata: {
      "general.type": "adapter",
      "general.architecture": "llama",
      "adapter.type": "lora",
      "adapter.lora.alpha": { type: "float32", value: alpha },
    },
    tensors: Object.entries(pairs).flatMap(([name, { a, b }]) => {
      const [first, second] = sides(name);
      const shape = name === "token_embd.weight" ? [rank, first] : [first, rank];
      return [
        { name: `${name}.lora_a`, type: "f32", shape, data: a },
        { name: `${name}.lora_b`, type: "f32", shape: [rank, second], data: b },
      ];
    }),
  });
}

/** Weights with an adapter worked into them. */
export function merged(weights: Weights, { rank, alpha, pairs }: LoraContent, scale: number): Weights {
  const result = { ...weights };
  for (const [name, { a, b }] of Object.entries(pairs)) {
    const [input = 0, output = 0] = shapes[name] ?? [];
    const isEmbedding = name === "token_embd.weight";
    const data = Float32Array.from(weights[name] ?? []);
    for (let o = 0; o < output; o++) {
      for (let i = 0; i < input; i++) {
        let sum = 0;
        for (let k = 0; k < rank; k++) {
          const first = isEmbedding ? a[o * rank + k] : a[k * input + i];
          const second = isEmbedding ? b[i * rank + k] : b[o * rank + k];
          sum += (first ?? 0) * (second ?? 0);
        }
        data[o * input + i] = (data[o * input + i] ?? 0) + scale * (alpha / rank) * sum;
      }
    }
    result[name] = data;
  }
  return result;
}

/** A name for a file that is gone afterwards. */
export function temporary(): { path: string } & AsyncDisposable {
  const path = join(tmpdir(), `ggml-ffi-${crypto.randomUUID()}.gguf`);
  return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
}
