import process from "node:process";
import { parentPort, workerData } from "node:worker_threads";
import { CoreBudget, type CoreMemory } from "../../../ffi/thread/core_budget.ts";

const { memory, slot, used } = workerData as { memory: CoreMemory; slot: number; used: SharedArrayBuffer };
const cores = new CoreBudget(memory, slot);
/** How many cores all threads think they have: counted while they are held, so it can't be more than there are. */
const inUse = new Int32Array(used);
parentPort!.on("message", (message: { acquire: number; cancel?: SharedArrayBuffer } | "release" | "end") => {
  if (message === "end") process.exit(0);
  if (message === "release") {
    Atomics.sub(inUse, 0, cores.held);
    return cores.release();
  }
  const flag = message.cancel === undefined ? undefined : new Int32Array(message.cancel);
  const granted = cores.acquire(message.acquire, () => flag !== undefined && Atomics.load(flag, 0) !== 0);
  const together = Atomics.add(inUse, 0, granted) + granted;
  parentPort!.postMessage(together > cores.total ? `${together} cores in use` : granted);
});
