// SmolLM2's forward pass with its layers shared out by the scheduler between the reference backend and the CPU, against the CPU alone. As a program it
// prints the differences; SPLIT_F32=1 also makes the model anew with 32-bit weights, whose products the CPU doesn't round to 8 bits.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Native, Pointer } from "../../../ffi/mod.ts";
import { defaultModelPath } from "../../../lib/models/default_model.ts";
import { openReference } from "../reference.ts";

/** "The capital of France is", in SmolLM2's tokens. */
const tokens = Int32Array.of(504, 3575, 282, 4649, 314);
/** " Paris". */
export const PARIS = 7042;

/** One forward pass. */
export interface Pass {
  /** The logits after the last token. */
  readonly logits: Float32Array;
  /** How many tensors of the model lie in the device's memory. */
  readonly bytesOnDevice: number;
}

/** Computes the logits with the last `layers` layers on these devices (31: all, with the output). */
export function forward(
  native: Native,
  path: string,
  devices: readonly Pointer<"ggml_backend_device">[],
  layers: number,
  bytes: () => number,
): Pass {
  const { lib } = native;
  const params = native.defaults("llama_model_params");
  native.assign(params, { devices: BigUint64Array.of(...devices, 0n) });
  params.n_gpu_layers = layers;
  const before = bytes();
  const model = lib.llama_model_load_from_file(path, params);
  if (model === null) throw new Error(`no model from ${path}`);
  try {
    const bytesOnDevice = bytes() - before;
    const options = native.defaults("llama_context_params");
    Object.assign(options, { n_ctx: 256, n_batch: 64, n_threads: 1, n_threads_batch: 1 });
    const context = lib.llama_init_from_model(model, options);
    if (context === null) throw new Error("no context");
    try {
      const batch = native.assign(native.struct("llama_batch"), { n_tokens: tokens.length, token: tokens });
      const code = lib.llama_decode(context, batch);
      if (code !== 0) throw new Error(`decode gave ${code}`);
      const logits = lib.llama_get_logits_ith(context, -1);
      if (logits === null) throw new Error("no logits");
      const count = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model)!);
      return { logits: native.viewFloat32(logits, count).slice(), bytesOnDevice };
    } finally {
      lib.llama_free(context);
    }
  } finally {
    lib.llama_model_free(model);
  }
}

/** How far logits are from others: the largest difference, and the root of the mean square of the differences over that of the logits. */
export function distance(found: Float32Array, wanted: Float32Array): { largest: number; relative: number } {
  let [largest, squares, all] = [0, 0, 0];
  for (const [index, value] of wanted.entries()) {
    const difference = Math.abs(value - found[index]!);
    largest = Math.max(largest, difference);
    squares += difference ** 2;
    all += value ** 2;
  }
  return { largest, relative: Math.sqrt(squares / all) };
}

/** The place of the largest. */
export function best(logits: Float32Array): number {
  return logits.reduce((at, value, index) => value > logits[at]! ? index : at, 0);
}

/** The model with 32-bit weights. */
function withFloats(native: Native, path: string, to: string): void {
  const params = native.defaults("llama_model_quantize_params");
  Object.assign(params, { ftype: 0, allow_requantize: true, nthread: 1 });
  if (native.lib.llama_model_quantize(path, to, params) !== 0) throw new Error("no model with floats");
}

if (import.meta.main) {
  const { registry, device, live } = await openReference();
  const { native } = registry;
  const bytes = (): number => live().bytes;
  const path = await defaultModelPath();
  const folder = mkdtempSync(join(tmpdir(), "ggml-ffi-split-"));
  try {
    const models: [string, string][] = [["Q4_1", path]];
    if (process.env["SPLIT_F32"] === "1") {
      models.push(["F32", join(folder, "f32.gguf")]);
      withFloats(native, path, models[1]![1]);
    }
    for (const [name, file] of models) {
      const alone = forward(native, file, [], 0, bytes);
      for (const layers of [1, 15, 31]) {
        const { logits, bytesOnDevice } = forward(native, file, [device.unsafePointer], layers, bytes);
        const { largest, relative } = distance(logits, alone.logits);
        console.log(
          `${name}, ${layers} of 31 on ${device.name} (${
            (bytesOnDevice / 2 ** 20).toFixed(1)
          } MiB): largest difference ${largest.toFixed(4)}, ` +
            `relative ${(relative * 100).toFixed(3)} %, best token ${best(logits)} (alone ${best(alone.logits)})`,
        );
      }
    }
    console.log(`left behind: ${JSON.stringify(live())}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
