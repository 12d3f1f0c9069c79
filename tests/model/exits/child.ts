// Ends in one way at one moment; exits.ts says what must come of it.
import process from "node:process";
import type { Model } from "../../../mod.ts";
import { longPrompt, testModel } from "../support.ts";

const [, , way = "", moment = ""] = process.argv;

/** Ends the process, or lets it end. */
function leave(): void {
  if (way === "process.exit") process.exit(7);
  if (way === "runtime exit") exit(7);
  if (way === "uncaught") throw new Error("not caught");
  if (way === "rejection") void Promise.reject(new Error("not handled"));
}

/** `Deno.exit` where there is one. */
function exit(code: number): void {
  const { Deno } = globalThis as { Deno?: { exit(code: number): never } };
  if (Deno === undefined) process.exit(code);
  else Deno.exit(code);
}

async function generate(model: Model): Promise<void> {
  for await (const _ of model.complete("Once upon a time", { maxTokens: 24 })) {
    leave();
    if (way === "falling off") return;
  }
}

switch (moment) {
  case "load":
    void testModel({ onProgress: () => setTimeout(leave) });
    break;
  case "prompt": {
    const model = await testModel({ contextSize: 2048 });
    void model.complete(longPrompt(model, 1000), { maxTokens: 1 });
    setTimeout(leave, 20);
    break;
  }
  case "generation":
    void generate(await testModel());
    break;
  case "idle":
    await testModel();
    leave();
    break;
}
