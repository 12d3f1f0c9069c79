// Ends in one way at one moment, its arguments; `rounds.ts` says what must come of it.
import process from "node:process";
import { moments } from "./moments.ts";
import type { WorkerAnswer, WorkerTask } from "./worker.ts";

const [, , way = "", moment = ""] = process.argv;

/** Ends the process, lets it end, or says that it may be ended. */
function leave(): void {
  process.stdout.write("inside\n");
  if (way === "process.exit") process.exit(7);
  if (way === "runtime exit") exit(7);
  if (way === "uncaught") setTimeout(() => throwError());
  if (way === "rejection") void Promise.reject(new Error("not handled"));
  if (way === "closed output") process.stdin.on("end", writeOn).resume();
}

function throwError(): never {
  throw new Error("not caught");
}

/** `Deno.exit` where there is one. */
function exit(code: number): void {
  const { Deno } = globalThis as { Deno?: { exit(code: number): never } };
  if (Deno === undefined) process.exit(code);
  else Deno.exit(code);
}

/** Writes to an output that is closed. */
function writeOn(): void {
  let left = 200;
  setInterval(() => {
    process.stdout.write("more\n");
    if (--left === 0) process.exit(5);
  }, 2);
}

/** Ends a Worker that is at the moment. */
function terminate(): void {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const task: WorkerTask = { moment };
  worker.addEventListener("message", ({ data }: MessageEvent<WorkerAnswer>) => {
    if (data === "ready") return worker.postMessage(task);
    process.stdout.write("inside\n");
    worker.terminate();
  });
}

if (way === "terminate") {
  terminate();
} else {
  let once: (() => void) | undefined = leave;
  const inside = () => {
    once?.();
    once = undefined;
  };
  const work = moments[moment];
  if (work === undefined) throw new RangeError(`there is no moment ${moment}`);
  // A signal may take its time: it must find work under way.
  if (way.startsWith("SIG")) { while (true) await work(inside).then(() => new Promise(setImmediate)); }
  await work(inside);
}
