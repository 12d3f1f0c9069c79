// A model on a thread that can be made to go wrong, and what there is to see afterwards.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { type NativeAbortPolicy, open } from "../../../ffi/mod.ts";
import { NativeThread } from "../../../ffi/thread/native_thread.ts";
import { readGgufHeader } from "../../../lib/ggml/mod.ts";
import { bytesPerToken } from "../../../lib/llama/model/kv_size.ts";
import { createModel, type Model } from "../../../lib/llama/model/model.ts";
import { ModelHandle } from "../../../lib/llama/model/model_handle.ts";
import { defaultModelPath } from "../../../mod.ts";
import type { Fault, tasks } from "./abort_entry.ts";

/** A model, and the way to make its thread go wrong. */
export interface DoomedModel {
  /** The model. */
  model: Model;
  /** Goes wrong; rejects when that is contained. */
  fail(kind: Fault): Promise<void>;
}

/** Loads the default model onto a thread with faults. */
export async function loadDoomed(
  options: { nativeAbort?: NativeAbortPolicy; watchdogMs?: number; threads?: number } = {},
): Promise<DoomedModel> {
  const native = await open();
  const entry = new URL("./abort_entry.ts", import.meta.url);
  const { threads = 1, ...policy } = options;
  const thread = await NativeThread.start<typeof tasks>(native, { entry, ...policy });
  const path = await defaultModelPath();
  const header = await readGgufHeader(path);
  const loaded = await thread.run("load", {
    path,
    vocabOnly: false,
    contextSize: 256,
    bytesPerToken: bytesPerToken(header),
    batchSize: 256,
    threads,
    gpuLayers: undefined,
    mmap: undefined,
    progress: false,
    cancellable: false,
  });
  return {
    model: createModel(new ModelHandle({ native, thread, loaded, header, path, devices: undefined })),
    fail: (kind) => thread.run("fault", { kind, vocab: loaded.vocab }),
  };
}

/** The threads of this process that have the names of native threads, and the clock ticks that each has run. */
function ticks(): Map<string, number> {
  const found = new Map<string, number>();
  for (const tid of readdirSync("/proc/self/task")) {
    try {
      const stat = readFileSync(`/proc/self/task/${tid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (stat.includes("(ggmlffi:")) found.set(tid, Number(fields[11]) + Number(fields[12]));
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}

/**
 * How many native threads are there, and how many of them ran while nothing was to be done: in each of three spans of time, since a runtime may clear up
 * its memory on such a thread once.
 */
export async function spinning(): Promise<{ threads: number; running: number }> {
  let before = ticks();
  const running = new Set(before.keys());
  for (let span = 0; span < 3; span++) {
    await wait(100);
    const after = ticks();
    for (const [tid, time] of after) if (time - (before.get(tid) ?? time) < 2) running.delete(tid);
    before = after;
  }
  return { threads: before.size, running: [...running].filter((tid) => before.has(tid)).length };
}
