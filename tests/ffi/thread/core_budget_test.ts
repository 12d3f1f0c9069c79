import assert from "node:assert/strict";
import test from "node:test";
import { Worker } from "node:worker_threads";
import { CoreBudget, type CoreMemory, makeCores } from "../../../ffi/thread/core_budget.ts";

/** A Worker that takes cores when told to, and says what it got. */
class Taker implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #heard: unknown[] = [];
  #wake: (() => void) | undefined;

  constructor(memory: CoreMemory, slot: number, used = new SharedArrayBuffer(4)) {
    this.#worker = new Worker(new URL("./core_budget_worker.ts", import.meta.url), {
      workerData: { memory, slot, used },
    });
    this.#worker.on("message", (message) => {
      this.#heard.push(message);
      this.#wake?.();
    });
  }

  tell(message: { acquire: number; cancel?: SharedArrayBuffer } | "release"): void {
    this.#worker.postMessage(message);
  }

  async hear(): Promise<unknown> {
    while (this.#heard.length === 0) await new Promise<void>((resolve) => this.#wake = resolve);
    return this.#heard.shift();
  }

  get silent(): boolean {
    return this.#heard.length === 0;
  }

  /** Lets it end by itself, with what it holds: one that is terminated could have the lock. */
  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#worker.once("exit", resolve));
    this.#worker.postMessage("end");
    await ended;
  }
}

/** Waits until a word of the shared memory has a value: how far a blocked thread has come shows nowhere else. */
async function until(memory: CoreMemory, word: number, value: number): Promise<void> {
  const words = new Int32Array(memory);
  while (Atomics.load(words, word) !== value) await new Promise((resolve) => setImmediate(resolve));
}
const NEXT_TICKET = 3;

test("cores are handed out, at most those that are free, and given back", () => {
  const memory = makeCores(4);
  const [one, other] = [new CoreBudget(memory, 0), new CoreBudget(memory, 1)];
  assert.equal(one.acquire(3), 3);
  assert.equal(other.acquire(3), 1);
  assert.deepEqual([one.held, other.held, one.total], [3, 1, 4]);
  one.release();
  one.release();
  assert.equal(one.acquire(8), 2);
  one.release();
  other.release();
  assert.equal(one.acquire(8), 4);
});

test("those at work get equal parts, also between two pieces of work; who wants less leaves the rest", () => {
  const memory = makeCores(4);
  const [one, other, third] = [new CoreBudget(memory, 0), new CoreBudget(memory, 1), new CoreBudget(memory, 2)];
  assert.equal(one.acquire(4), 4);
  one.pause();
  assert.equal(other.acquire(4), 2);
  assert.equal(one.acquire(4), 2);
  other.release();
  assert.equal(one.acquire(4), 4);
  one.pause();
  assert.equal(third.acquire(1), 1);
  assert.equal(one.acquire(4), 3);
  third.release();
  assert.equal(one.acquire(2), 2);
  assert.equal(other.acquire(3, undefined, 2), 2);
  one.release();
  other.release();
  assert.equal(third.acquire(4), 4);
});

test("asking again gives back first; asking for none gives one", () => {
  const cores = new CoreBudget(makeCores(2), 0);
  assert.equal(cores.acquire(2), 2);
  assert.equal(cores.acquire(2), 2);
  assert.equal(cores.acquire(0), 1);
});

test("a wait that is cancelled takes nothing and holds up nobody", () => {
  const memory = makeCores(1);
  const [one, other, third] = [new CoreBudget(memory, 0), new CoreBudget(memory, 1), new CoreBudget(memory, 2)];
  assert.equal(one.acquire(1), 1);
  assert.equal(other.acquire(1, () => true), 0);
  assert.equal(third.acquire(1, () => true), 0);
  one.release();
  assert.equal(third.acquire(1), 1);
});

test("who asked first gets cores first", async () => {
  const memory = makeCores(1);
  const main = new CoreBudget(memory, 0);
  main.acquire(1);
  await using first = new Taker(memory, 1);
  await using second = new Taker(memory, 2);
  first.tell({ acquire: 1 });
  await until(memory, NEXT_TICKET, 2);
  second.tell({ acquire: 1 });
  await until(memory, NEXT_TICKET, 3);
  main.release();
  assert.equal(await first.hear(), 1);
  assert.equal(second.silent, true);
  first.tell("release");
  assert.equal(await second.hear(), 1);
});

test("one who leaves the queue is passed over", async () => {
  const memory = makeCores(1);
  const main = new CoreBudget(memory, 0);
  main.acquire(1);
  await using first = new Taker(memory, 1);
  await using second = new Taker(memory, 2);
  const cancel = new SharedArrayBuffer(4);
  first.tell({ acquire: 1, cancel });
  await until(memory, NEXT_TICKET, 2);
  second.tell({ acquire: 1 });
  await until(memory, NEXT_TICKET, 3);
  Atomics.store(new Int32Array(cancel), 0, 1);
  assert.equal(await first.hear(), 0);
  main.release();
  assert.equal(await second.hear(), 1);
});

test("what a lost thread had can be taken back", async () => {
  const memory = makeCores(2);
  const lost = new Taker(memory, 1);
  lost.tell({ acquire: 2 });
  assert.equal(await lost.hear(), 2);
  await lost[Symbol.asyncDispose]();
  const here = new CoreBudget(memory, 0);
  assert.equal(here.acquire(2, () => true), 0);
  new CoreBudget(memory, 1).release();
  assert.equal(here.acquire(2), 2);
});

test("a lost thread that waited holds up nobody", async () => {
  const memory = makeCores(1);
  const main = new CoreBudget(memory, 0);
  main.acquire(1);
  await using waiting = new Taker(memory, 1);
  const cancel = new SharedArrayBuffer(4);
  waiting.tell({ acquire: 1, cancel });
  await until(memory, NEXT_TICKET, 2);
  new CoreBudget(memory, 1).release();
  main.release();
  let looks = 0;
  assert.equal(new CoreBudget(memory, 2).acquire(1, () => ++looks > 20), 1);
  Atomics.store(new Int32Array(cancel), 0, 1);
  assert.equal(await waiting.hear(), 0);
});

test("many who leave the queue behind one who waits are all passed over", async () => {
  const memory = makeCores(1);
  const main = new CoreBudget(memory, 0);
  main.acquire(1);
  await using first = new Taker(memory, 1);
  first.tell({ acquire: 1 });
  await until(memory, NEXT_TICKET, 2);
  const other = new CoreBudget(memory, 2);
  for (let time = 0; time < 300; time++) assert.equal(other.acquire(1, () => true), 0);
  main.release();
  assert.equal(await first.hear(), 1);
  first.tell("release");
  let looks = 0;
  assert.equal(other.acquire(1, () => ++looks > 20), 1);
});

test("never more than there are, whatever the threads do", { timeout: 60_000 }, async () => {
  const memory = makeCores(3);
  const used = new SharedArrayBuffer(4);
  const takers = Array.from({ length: 4 }, (_, index) => new Taker(memory, index + 1, used));
  await Promise.all(takers.map(async (taker, index) => {
    for (let round = 0; round < 200; round++) {
      taker.tell({ acquire: 1 + (round + index) % 3 });
      const got = await taker.hear();
      assert.ok(got === 1 || got === 2 || got === 3, String(got));
      taker.tell("release");
    }
  }));
  for (const taker of takers) await taker[Symbol.asyncDispose]();
  for (let slot = 1; slot <= takers.length; slot++) new CoreBudget(memory, slot).release();
  assert.equal(new CoreBudget(memory, 0).acquire(3), 3);
});

test("wrong numbers are refused", () => {
  for (const total of [0, -1, 1.5, NaN]) assert.throws(() => makeCores(total), { code: "INVALID_ARGUMENT" });
  for (const slot of [-1, 256, 0.5]) {
    assert.throws(() => new CoreBudget(makeCores(1), slot), { code: "INVALID_ARGUMENT", value: slot });
  }
});
