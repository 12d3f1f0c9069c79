// A LoRA adapter, used in some requests and not in others. This one is made here, of numbers that mean nothing; yours comes from a file.
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeGguf } from "../lib/ggml/mod.ts";
import { defaultModelPath, loadModel } from "../mod.ts";

const path = join(tmpdir(), `example-${crypto.randomUUID()}.gguf`);
const numbers = (count: number) => new Float32Array(count).map((_, index) => Math.sin(index * 12.9898) / 4);
await using model = await loadModel(await defaultModelPath(), { threads: 1 });
const width = model.info.embeddingSize;
await writeGguf(path, {
  metadata: {
    "general.type": "adapter",
    "general.architecture": "llama",
    "adapter.type": "lora",
    "adapter.lora.alpha": { type: "float32", value: 8 },
  },
  tensors: [
    { name: "blk.0.attn_q.weight.lora_a", type: "f32", shape: [width, 4], data: numbers(4 * width) },
    { name: "blk.0.attn_q.weight.lora_b", type: "f32", shape: [4, width], data: numbers(4 * width) },
  ],
});
const lora = await model.loadLora(path);
await rm(path);
console.log(`rank ${lora.info.rank}, ${lora.info.tensorCount} tensor`);
const settings = { temperature: 0, maxTokens: 12 } as const;
const plain = await model.complete("The sea is", settings);
const adapted = await model.complete("The sea is", { ...settings, lora: { adapter: lora, scale: 2 } });
const again = await model.complete("The sea is", settings);
console.log(
  adapted.text === plain.text ? "the same" : "another text",
  again.text === plain.text ? "and back" : "and not back",
);
