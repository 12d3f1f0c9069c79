import assert from "node:assert/strict";
import test from "node:test";
import { ReadableStream } from "node:stream/web";
import { types } from "node:util";
import { GenerationCancelledError, InvalidArgumentError } from "../../../lib/errors.ts";
import { TranscriptionCancelledError } from "../../../lib/whisper/errors.ts";
import { type Controlled, kinds } from "./controlled.ts";

/** A test of every kind of stream. */
function everyKind(name: string, body: (start: (signal?: AbortSignal) => Controlled, kind: string) => Promise<void>) {
  for (const [kind, start] of Object.entries(kinds)) test(`${kind}: ${name}`, () => body(start, kind));
}

function textOf(item: unknown): string {
  return typeof item === "string" ? item : (item as { text: string }).text;
}

async function collect({ items }: Controlled): Promise<string[]> {
  const texts: string[] = [];
  for await (const item of items) texts.push(textOf(item));
  return texts;
}

everyKind("is a promise to everything that takes one", async (start) => {
  const stream = start();
  assert.ok(stream.promise instanceof Promise);
  assert.ok(types.isPromise(stream.promise));
  assert.equal(stream.promise[Symbol.toStringTag], "Promise");
  stream.end();
  const result = await stream.promise;
  assert.equal(await Promise.race([stream.promise, new Promise(() => {})]), result);
  assert.deepEqual(await Promise.all([stream.promise, 1]), [result, 1]);
  assert.deepEqual(await Promise.allSettled([stream.promise]), [{ status: "fulfilled", value: result }]);
  assert.equal(await Promise.any([stream.promise]), result);
  await assert.doesNotReject(stream.promise);
  const failed = start();
  const failure = new Error("failed");
  failed.fail(failure);
  await assert.rejects(failed.promise, failure);
});

everyKind("then, catch and finally give plain promises and may be called many times", async (start) => {
  const stream = start();
  const derived = [stream.promise.then((result) => result), stream.promise.then(), stream.promise.catch(() => {})];
  let ended = 0;
  const finals = [stream.promise.finally(() => ended++), stream.promise.finally(() => ended++)];
  for (const one of [...derived, ...finals]) assert.equal(one.constructor, Promise);
  stream.end();
  const result = await stream.promise;
  for (const one of [...derived, ...finals]) assert.equal(await one, result);
  assert.equal(ended, 2);
  const failed = start();
  const failure = new Error("failed");
  failed.fail(failure);
  assert.equal(await failed.promise.catch((error: unknown) => error), failure);
  assert.equal(await failed.promise.then(() => {}, (error: unknown) => error), failure);
  await assert.rejects(failed.promise.finally(() => {}), failure);
});

everyKind("the loop gives all items in order, those of before too, and then the error", async (start) => {
  const stream = start();
  stream.piece("a");
  const texts = collect(stream);
  stream.piece("b");
  await Promise.resolve();
  stream.piece("c");
  stream.end();
  assert.deepEqual(await texts, ["a", "b", "c"]);
  const failed = start();
  const failure = new Error("failed");
  failed.piece("a");
  failed.fail(failure);
  const seen: string[] = [];
  await assert.rejects(async () => {
    for await (const item of failed.items) seen.push(textOf(item));
  }, failure);
  assert.deepEqual(seen, ["a"]);
});

everyKind("a second iteration is refused", async (start) => {
  const stream = start();
  stream.end();
  await collect(stream);
  assert.throws(() => stream.items[Symbol.asyncIterator](), InvalidArgumentError);
});

everyKind("leaving the loop cancels the work, waits for its end and keeps what was made", async (start, kind) => {
  const stream = start();
  stream.piece("a");
  stream.piece("b");
  for await (const item of stream.items) {
    assert.equal(textOf(item), "a");
    stream.signal()?.addEventListener("abort", () => kind === "transcription" || stream.piece("c"));
    break;
  }
  assert.equal(stream.signal()?.aborted, true);
  const made = kind === "transcription" ? "ab" : "abc";
  const error = await stream.promise.catch((error: unknown) => error);
  if (kind === "transcription") {
    assert.ok(error instanceof TranscriptionCancelledError);
    assert.deepEqual(error.partial.map(({ text }) => text), ["a", "b"]);
  } else {
    assert.ok(error instanceof GenerationCancelledError);
    assert.equal(error.partial, made);
  }
  assert.equal(stream.partial(), made);
});

everyKind("an iterator that is left before its first step, or while it waits for an item, cancels", async (start) => {
  for (const steps of [0, 1]) {
    const stream = start();
    const items = stream.items[Symbol.asyncIterator]();
    const pending = steps === 0 ? undefined : items.next();
    await items.return?.();
    assert.equal(stream.signal()?.aborted, true);
    if (pending !== undefined) assert.equal((await pending).done, true);
    assert.equal((await items.next()).done, true);
    await assert.rejects(stream.promise, { name: /CancelledError$/ });
  }
});

everyKind("an error in the loop's body cancels the work and is kept", async (start) => {
  const stream = start();
  stream.piece("a");
  const thrown = new Error("mine");
  await assert.rejects(async () => {
    for await (const _ of stream.items) throw thrown;
  }, thrown);
  assert.equal(stream.signal()?.aborted, true);
});

everyKind("an abort rejects loop and promise with the signal's own reason, and keeps what was made", async (start) => {
  const reason = { my: "reason" };
  const controller = new AbortController();
  const stream = start(controller.signal);
  stream.piece("a");
  const loop = collect(stream);
  controller.abort(reason);
  assert.equal(await loop.then(() => undefined, (error: unknown) => error), reason);
  assert.equal(await stream.promise.then(() => undefined, (error: unknown) => error), reason);
  assert.equal(stream.partial(), "a");
});

everyKind("a signal that is aborted already", async (start) => {
  const reason = new Error("before");
  await assert.rejects(start(AbortSignal.abort(reason)).promise, reason);
});

everyKind("ReadableStream.from reads it, and canceling the web stream cancels the work", async (start) => {
  const stream = start();
  stream.piece("a");
  stream.piece("b");
  stream.piece("c");
  stream.end();
  const texts: string[] = [];
  for await (const item of ReadableStream.from(stream.items)) texts.push(textOf(item));
  assert.deepEqual(texts, ["a", "b", "c"]);
  const canceled = start();
  canceled.piece("a");
  const reader = ReadableStream.from(canceled.items).getReader();
  assert.equal(textOf((await reader.read()).value), "a");
  await reader.cancel();
  assert.equal(canceled.signal()?.aborted, true);
  await assert.rejects(canceled.promise, { name: /CancelledError$/ });
});

everyKind("an async function that returns it gives the finished result", async (start) => {
  const stream = start();
  // deno-lint-ignore require-await -- what it returns is what matters.
  const pending = (async () => stream.promise)();
  stream.end();
  assert.equal(await pending, await stream.promise);
  assert.equal("partial" in (await pending as object), false);
});
