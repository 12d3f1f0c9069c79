import { type CoreMemory, makeCores, MAX_THREADS } from "./core_budget.ts";
import { NativeThreadError } from "../../base/errors.ts";
import { callThreadEntry } from "./entry_url.ts";
import type { Native } from "../native.ts";
import { type StartedWorker, startWorker, ThreadWorker } from "./worker_client.ts";

/** The number of threads without an owner that are kept. */
const KEPT = 1;

const resting: ThreadWorker[] = [];
const slots = new Set<number>();
let cores: CoreMemory | undefined;

/** A thread that rests, or a new one. Throws NativeThreadError when it doesn't come up. */
export async function takeWorker(native: Native | Promise<Native>, entry: URL | undefined): Promise<ThreadWorker> {
  const source = entry ?? await callThreadEntry();
  const rested = takeRested(source.href);
  if (rested === undefined) return await newWorker(native, source);
  try {
    await native;
    return rested;
  } catch (error) {
    await giveBack(rested);
    throw error;
  }
}

function takeRested(entry: string): ThreadWorker | undefined {
  for (let at = resting.length - 1; at >= 0; at--) {
    const worker = resting[at];
    if (worker?.entry !== entry) continue;
    resting.splice(at, 1);
    if (worker.lost === undefined) return worker;
    slots.delete(worker.slot);
  }
  return undefined;
}

async function newWorker(native: Native | Promise<Native>, source: URL): Promise<ThreadWorker> {
  const slot = freeSlot(slots);
  slots.add(slot);
  let started: StartedWorker;
  try {
    started = startWorker(source, slot, cores ??= makeCores());
  } catch (cause) {
    slots.delete(slot);
    throw new NativeThreadError(`the native thread can't be started from ${source}`, { value: source.href, cause });
  }
  try {
    const worker = new ThreadWorker(await native, started);
    await worker.ready;
    worker.rest();
    return worker;
  } catch (error) {
    slots.delete(slot);
    await started.worker.terminate();
    throw error;
  }
}

/** Takes a thread back from its owner: it rests for the next one, or ends. */
export async function giveBack(worker: ThreadWorker): Promise<void> {
  if (worker.lost !== undefined) {
    slots.delete(worker.slot);
    return;
  }
  if (resting.length < KEPT) {
    resting.push(worker);
    return;
  }
  slots.delete(worker.slot);
  await worker.end();
}

/** The lowest number that isn't taken. Throws NativeThreadError when all are. */
export function freeSlot(taken: ReadonlySet<number>): number {
  let slot = 0;
  while (taken.has(slot)) slot++;
  if (slot >= MAX_THREADS) {
    throw new NativeThreadError(
      `there are ${MAX_THREADS} native threads already, the most that a process can have; dispose models or threads first`,
      { value: slot + 1, expected: `at most ${MAX_THREADS}` },
    );
  }
  return slot;
}
