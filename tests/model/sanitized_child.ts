// Run by `deno test`: what a model leaves behind after its dispose, by Deno's own sanitizers.

import { defaultModelPath, loadModel } from "../../mod.ts";

/** Deno's own test function: that of node:test has no sanitizers. */
const { Deno: { test } } = globalThis as unknown as {
  readonly Deno: {
    test(definition: { name: string; sanitizeOps: boolean; sanitizeResources: boolean; fn: () => Promise<void> }): void;
  };
};

async function useModel(): Promise<void> {
  const model = await loadModel(await defaultModelPath(), { threads: 1, contextSize: 256, onLog: () => {} });
  await model.complete("Once upon a time", { maxTokens: 4 });
  const chat = model.chat();
  for await (const _ of chat.send("Hello", { maxTokens: 2 }));
  for await (const _ of model.complete("Once upon a time")) break;
  await model.complete("Once", { signal: AbortSignal.abort() }).catch(() => {});
  await model.dispose();
}

// The libraries, and a thread that rests for the next model, stay with the process: they are opened here.
test({
  name: "the first model leaves no operation or timer behind",
  sanitizeOps: true,
  sanitizeResources: false,
  fn: useModel,
});

test({
  name: "a later model leaves no operation, timer or resource behind",
  sanitizeOps: true,
  sanitizeResources: true,
  fn: useModel,
});
