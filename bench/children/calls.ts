// Nanoseconds a call, by kind of signature; each line of input asks for one measure of all.
import process from "node:process";
import { createInterface } from "node:readline";
import { open } from "../../ffi/mod.ts";

const CALLS = 200_000;
const native = await open();
const { lib } = native;
const floats = new Float32Array(1);
const halves = new Uint16Array(1);
const batch = native.struct("llama_batch");

const kinds: Record<string, () => unknown> = {
  "empty loop": () => undefined,
  "scalar": () => lib.ggml_is_quantized(2),
  "buffers": () => lib.ggml_fp32_to_fp16_row(floats, halves, 1n),
  "struct by value": () => lib.llama_batch_free(batch),
};

for (const call of Object.values(kinds)) time(call);
console.log(JSON.stringify({ ready: true }));
for await (const _ of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(Object.fromEntries(Object.entries(kinds).map(([kind, call]) => [kind, time(call)]))));
}

function time(call: () => unknown): number {
  const start = performance.now();
  for (let at = 0; at < CALLS; at++) call();
  return (performance.now() - start) * 1e6 / CALLS;
}
