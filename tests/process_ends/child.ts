// Ends in one way at one moment: child.ts MOMENT WAY FOLDER. Prints a line when the work is under way.
import process from "node:process";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { moments } from "./moments.ts";
import { ways } from "./ways.ts";

const [moment = "", way = "", folder = ""] = isMainThread ? process.argv.slice(2) : workerData as string[];
const controller = new AbortController();

/** Terminates a Worker in the midst of its work. */
function endWorker(): void {
  const worker = new Worker(new URL(import.meta.url), { workerData: [moment, way, folder] });
  worker.once("message", async () => {
    process.stdout.write("ready\n");
    await worker.terminate();
  });
}

async function endInWork(): Promise<void> {
  const work = await moments[moment]?.(controller.signal, folder);
  if (parentPort === null) {
    process.stdout.write("ready\n");
    if (way === "a closed stdout") process.stdin.once("data", writeToClosed);
    ways[way]?.leave?.();
  } else parentPort.postMessage("ready");
  if (moment === "nothing" && ways[way]?.waits) controller.abort();
  await work?.ended.catch((error: unknown) => {
    if (!controller.signal.aborted) throw error;
  });
  if (ways[way]?.waits) process.stdout.write("ended\n");
}

/** Writes as programs do that don't know that nobody reads, and gives the work up. */
function writeToClosed(): void {
  console.log("nobody reads this");
  process.stdout.write("nor this\n");
  controller.abort(new Error("nobody reads"));
}

// Not awaited here: an uncaught error ends a program in Bun only when its main module has been evaluated.
if (isMainThread && ways[way]?.worker) endWorker();
else void endInWork();
