/** Moments of native work in a program. */

import { readFileSync } from "node:fs";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { GgmlContext, Graph, ops, Registry, RpcServer, writeGguf } from "../../lib/ggml/mod.ts";
import { loadWhisper, speechModelPath } from "../../lib/whisper/mod.ts";
import { defaultModelPath, loadModel } from "../../mod.ts";
import { jfkPath } from "../whisper/files.ts";

/** Work that goes on, and its end. */
export interface Work {
  readonly ended: Promise<unknown>;
}

/** Starts work and returns once it is under way. */
export type Moment = (signal: AbortSignal, folder: string) => Promise<Work>;

/** Microseconds of the processor that only native code uses while the event loop waits. */
const USED_US = 100_000;

/** Waits until native code has used the processor for a while since now, or has ended. */
async function underWay(ended: Promise<unknown>): Promise<Work> {
  const began = process.cpuUsage().user;
  let over = false;
  ended.then(() => over = true, () => over = true);
  while (!over && process.cpuUsage().user - began < USED_US) await setTimeout(5);
  if (over) throw new Error("the work had ended before it was seen to run");
  return { ended };
}

/** Waits for the first call of what `start` is given. */
async function firstCall(start: (called: () => void) => Promise<unknown>): Promise<Work> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const ended = start(resolve);
  await promise;
  return { ended };
}

async function model(contextSize = 512) {
  return await loadModel(await defaultModelPath(), { threads: 1, contextSize });
}

/** Each moment by its name. The work takes the processor for seconds. */
export const moments: Readonly<Record<string, Moment>> = {
  /** The program without the library, which waits until it is ended: what a runtime does by itself. */
  nothing: (signal) => Promise.resolve({ ended: setTimeout(60_000, undefined, { signal }) }),
  load: async (signal) => {
    const path = await defaultModelPath();
    return await firstCall((onProgress) => loadModel(path, { mmap: false, threads: 1, signal, onProgress }));
  },
  prompt: async (signal) => {
    const one = await model(2048);
    return await underWay(
      one.complete("The quick brown fox jumps over the lazy dog. ".repeat(60), { maxTokens: 1, signal }).then(),
    );
  },
  generation: async (signal) => {
    const generation = (await model()).complete("Once upon a time", { maxTokens: 48, signal });
    return await firstCall(async (called) => {
      for await (const _ of generation) called();
    });
  },
  transcription: async (signal) => {
    const whisper = await loadWhisper(await speechModelPath(), { threads: 1 });
    return await underWay(whisper.transcribe(readFileSync(jfkPath), { signal }).then());
  },
  compute: async (signal) => {
    const backend = (await Registry.open()).device("CPU").open({ threads: 1 });
    const context = await GgmlContext.create({ dataBytes: 64 << 20 });
    const a = context.tensor("f32", [768, 768]).write(new Float32Array(768 * 768).fill(1e-3));
    let b = a;
    for (let left = 16; left > 0; left--) b = ops.mulMat(context, a, b);
    return await underWay(backend.compute(new Graph(context).forward(b), { signal }));
  },
  dispose: async () => {
    const one = await model();
    await one.complete("a", { maxTokens: 1 });
    return { ended: one.dispose() };
  },
  "writing a file": async (signal, folder) => {
    const data = new Uint8Array(64 << 20);
    const tensors = [{ name: "a", type: "i8", shape: [data.length], data }];
    return await firstCall((onProgress) => writeGguf(`${folder}/written.gguf`, { tensors }, { signal, onProgress }));
  },
  /** It keeps no program by itself, so this one has a reason of its own to go on. */
  "an RPC server": async (signal) => {
    await RpcServer.start({ threads: 1 });
    return { ended: setTimeout(2_000, undefined, { signal }) };
  },
};
