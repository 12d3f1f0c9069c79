// The lateness of a 1 ms timer, idle and while an answer is made: event_loop.ts MODEL THREADS TOKENS
import process from "node:process";
import { createInterface } from "node:readline";
import { loadModel } from "../../mod.ts";
import { GREEDY } from "../support/round.ts";

const PERIOD_MS = 1;
const [path = "", threads, tokens] = process.argv.slice(2);
await using model = await loadModel(path, { threads: Number(threads), contextSize: 2048 });
await model.complete("Once upon a time", { ...GREEDY, maxTokens: 8 });
console.log(JSON.stringify({ ready: true }));

for await (const line of createInterface({ input: process.stdin })) {
  const work = line === "idle"
    ? new Promise<void>((resolve) => setTimeout(resolve, 1000))
    : model.complete("Once upon a time", { ...GREEDY, maxTokens: Number(tokens) });
  console.log(JSON.stringify(await lagsDuring(work)));
}

/** The lateness of each tick of the timer until the work is done, in milliseconds. */
async function lagsDuring(work: PromiseLike<unknown>): Promise<number[]> {
  const lags: number[] = [];
  let working = true;
  const done = Promise.resolve(work).then(() => working = false);
  while (working) {
    const due = performance.now() + PERIOD_MS;
    await new Promise((resolve) => setTimeout(resolve, PERIOD_MS));
    lags.push(performance.now() - due);
  }
  await done;
  return lags;
}
