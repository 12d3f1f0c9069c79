// What a program is at when it ends. Each work calls back once native code is under way.
import process from "node:process";
import { GgmlContext, Graph, ops, Registry } from "../../../lib/ggml/mod.ts";
import { loadWhisper, speechModelPath } from "../../../lib/whisper/mod.ts";
import { longPrompt, testModel } from "../support.ts";

/** Starts work, calls back from within it, and resolves when it is done. */
type Moment = (inside: () => void) => Promise<void>;

/** Calls back when native threads have worked for a while, which is seen by this process's CPU time. */
function whenBusy(inside: () => void): void {
  const before = process.cpuUsage().user;
  const timer = setInterval(() => {
    if (process.cpuUsage().user - before < 50_000) return;
    clearInterval(timer);
    inside();
  }, 2);
}

/** The works by name. */
export const moments: Readonly<Record<string, Moment>> = {
  async nothing(inside) {
    inside();
    await Promise.resolve();
  },
  async load(inside) {
    await testModel({ mmap: false, onProgress: () => setTimeout(inside) });
  },
  async prompt(inside) {
    const model = await testModel({ contextSize: 1024 });
    const generation = model.complete(longPrompt(model, 400), { maxTokens: 1 });
    whenBusy(inside);
    await generation;
  },
  async generation(inside) {
    const model = await testModel();
    for await (const _ of model.complete("Once upon a time", { maxTokens: 24 })) inside();
  },
  async "abandoned generation"(inside) {
    const model = await testModel();
    for await (const _ of model.complete("Once upon a time", { maxTokens: 24 })) {
      inside();
      return;
    }
  },
  async transcription(inside) {
    const whisper = await loadWhisper(await speechModelPath(), { threads: 1 });
    const transcription = whisper.transcribe(new Float32Array(32_000).fill(0.1), {
      vad: false,
      temperatureIncrement: 0,
    });
    whenBusy(inside);
    await transcription;
  },
  async compute(inside) {
    const backend = (await Registry.open()).device("CPU").open({ threads: 1 });
    const context = await GgmlContext.create({ dataBytes: 64 << 20 });
    const a = context.tensor("f32", [1024, 1024]).write(new Float32Array(1 << 20).fill(1));
    let product = a;
    for (let count = 0; count < 4; count++) product = ops.mulMat(context, a, product);
    const computed = backend.compute(new Graph(context).forward(product));
    whenBusy(inside);
    await computed;
  },
  async dispose(inside) {
    const model = await testModel();
    const generation = model.complete("Once upon a time", { maxTokens: 24 });
    await generation[Symbol.asyncIterator]().next();
    const disposed = model.dispose();
    inside();
    await disposed;
  },
  async idle(inside) {
    await testModel();
    inside();
  },
};
