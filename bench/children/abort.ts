// Time from an abort to the rejection, for "decode" and "load": abort.ts MODEL THREADS
import process from "node:process";
import { createInterface } from "node:readline";
import { loadModel } from "../../mod.ts";

const [path = "", threads] = process.argv.slice(2);
const model = await loadModel(path, { threads: Number(threads), contextSize: 4096 });
await model.complete("Once upon a time", { maxTokens: 4, temperature: 0 });
const longPrompt = "The old river ran past the stone house. ".repeat(250);
console.log(JSON.stringify({ ready: true }));

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify({ ms: line === "load" ? await abortLoad() : await abortDecode() }));
}
await model[Symbol.asyncDispose]();

async function abortDecode(): Promise<number | null> {
  const controller = new AbortController();
  const work = model.complete(longPrompt, { maxTokens: 1, temperature: 0, signal: controller.signal });
  const rejected = rejection(Promise.resolve(work), controller.signal);
  await new Promise((resolve) => setTimeout(resolve, 150));
  const start = performance.now();
  controller.abort();
  return await rejected ? performance.now() - start : null;
}

async function abortLoad(): Promise<number | null> {
  const controller = new AbortController();
  let start = NaN;
  const work = loadModel(path, {
    signal: controller.signal,
    onProgress: () => {
      if (controller.signal.aborted) return;
      start = performance.now();
      controller.abort();
    },
  });
  return await rejection(work, controller.signal) ? performance.now() - start : null;
}

/** Whether the work was rejected with the signal's reason; false when it was done before the signal came. */
async function rejection(work: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  try {
    const result = await work;
    if (typeof result === "object" && result !== null && Symbol.asyncDispose in result) {
      await (result as AsyncDisposable)[Symbol.asyncDispose]();
    }
    return false;
  } catch (error) {
    if (error !== signal.reason) throw error;
    return true;
  }
}
