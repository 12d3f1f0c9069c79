// Counts the unhandled rejections of each use of each kind of stream: rejections_child.ts [count | end]. With "end" nobody counts them.

import process from "node:process";
import { setImmediate } from "node:timers/promises";
import { type Controlled, kinds } from "./controlled.ts";

let count = 0;
const failure = new Error("the work failed");

async function iterate({ items }: Controlled): Promise<unknown> {
  try {
    for await (const _ of items);
  } catch (error) {
    return error;
  }
}

async function leave({ items, piece }: Controlled): Promise<void> {
  piece("a");
  for await (const _ of items) break;
}

/** What is done with a stream, and how often it leaves a rejection unhandled. */
const uses: Readonly<Record<string, (stream: Controlled) => unknown>> = {
  "neither iterated nor awaited": ({ fail }) => fail(failure),
  "iterated": async (stream) => {
    const error = iterate(stream);
    stream.fail(failure);
    if (await error !== failure) throw new Error("the loop didn't get the error");
  },
  "iterated, its body slower than the failure": async ({ items, piece, fail }) => {
    piece("a");
    try {
      for await (const _ of items) {
        fail(failure);
        await rounds();
      }
    } catch (error) {
      if (error === failure) return;
    }
    throw new Error("the loop didn't get the error");
  },
  "left": leave,
  "awaited": async ({ promise, fail }) => {
    fail(failure);
    await promise.catch(() => {});
  },
  "awaited many times": async ({ promise, fail }) => {
    const all = [promise.then(() => {}), promise.then(() => {}), promise.finally(() => {})];
    fail(failure);
    await Promise.allSettled(all);
  },
  "iterated and awaited": async (stream) => {
    const both = Promise.allSettled([stream.promise, iterate(stream)]);
    stream.fail(failure);
    await both;
  },
  "awaited without a handler once": ({ promise, fail }) => {
    promise.catch(() => {});
    promise.then(() => {});
    fail(failure);
  },
  "raced": async ({ promise, fail }) => {
    fail(failure);
    await Promise.race([promise]).catch(() => {});
  },
  "ended well, neither iterated nor awaited": ({ end }) => end(),
};

/** Lets everything that is due happen, the report of a rejection too. */
async function rounds(): Promise<void> {
  for (let round = 0; round < 20; round++) await setImmediate();
}

if (process.argv[2] === "end") {
  (kinds["generation"] as () => Controlled)().fail(failure);
} else {
  process.on("unhandledRejection", () => count++);
  const counts: Record<string, Record<string, number>> = {};
  for (const [use, run] of Object.entries(uses)) {
    counts[use] = {};
    for (const [kind, start] of Object.entries(kinds)) {
      count = 0;
      await run(start());
      await rounds();
      counts[use][kind] = count;
    }
  }
  console.log(JSON.stringify(counts));
}
