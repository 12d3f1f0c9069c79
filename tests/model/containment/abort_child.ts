// One model goes wrong while another streams: abort_child.ts KIND [TIMES]. Prints one line of JSON.
import process from "node:process";
import { GgmlError } from "../../../mod.ts";
import type { Fault } from "./abort_entry.ts";
import { loadDoomed, spinning } from "./abort_support.ts";
import { testModel } from "../support.ts";

/** What the program prints. */
export interface AbortReport {
  /** Names of the errors, one a time. */
  errors: string[];
  /** Messages of the errors. */
  messages: string[];
  /** How the calls after it ended. */
  later: string[];
  /** Whether the other model's text is what it is without an abort. */
  sameText: boolean;
  /** Threads of native threads that ran on with nothing to do. */
  running: number;
  /** Threads of native threads in all. */
  threads: number;
  /** Megabytes of memory in use after each time. */
  megabytes: number[];
  /** Milliseconds from the fault to the error. */
  ms: number[];
}

const kind = process.argv[2] as Fault;
const times = Number(process.argv[3] ?? 1);
const asked = { maxTokens: 24, temperature: 0 } as const;
const prompt = "Once upon a time";

const nameOf = (error: unknown): string => error instanceof GgmlError ? error.name : `untyped: ${error}`;
const ended = (work: () => unknown): Promise<string> =>
  Promise.resolve().then(work).then(() => "returned", (error: unknown) => nameOf(error));

const report: AbortReport = {
  errors: [],
  messages: [],
  later: [],
  sameText: true,
  running: 0,
  threads: 0,
  megabytes: [],
  ms: [],
};
const other = await testModel();
const expected = (await other.complete(prompt, asked)).text;
for (let time = 0; time < times; time++) {
  const { model, fail } = await loadDoomed(kind === "hang" ? { watchdogMs: 400 } : {});
  await model.complete(prompt, { maxTokens: 2, temperature: 0 });
  const stream = other.complete(prompt, asked);
  const began = performance.now();
  const error = await fail(kind).then(() => new Error("returned"), (error: unknown) => error);
  report.ms.push(Math.round(performance.now() - began));
  report.errors.push(nameOf(error));
  report.messages.push(error instanceof Error ? error.message : String(error));
  let text = "";
  for await (const piece of stream) text += piece;
  if (text !== expected) report.sameText = false;
  report.later.push(
    await ended(() => model.complete(prompt, { maxTokens: 2 })),
    await ended(() => model.tokenize("a")),
    await ended(() => model.tokenizeAsync("a")),
    await ended(() => model.dispose()),
    await ended(() => model.complete(prompt)),
  );
  report.megabytes.push(Math.round(process.memoryUsage().rss / 1e6));
}
const { threads, running } = await spinning();
report.threads = threads;
report.running = running;
await other.dispose();
console.log(JSON.stringify(report));
