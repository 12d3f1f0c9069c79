import assert from "node:assert/strict";
import test from "node:test";
import { GenerationCancelledError, InvalidArgumentError } from "../../../lib/errors.ts";
import { Generation, type GenerationResult } from "../../../lib/llama/generation/generation.ts";

const result: GenerationResult = {
  text: "abc",
  tokens: [1, 2, 3],
  stopReason: "eos",
  seed: 1,
  timings: {
    waitMs: 0,
    firstPieceMs: 1,
    promptMs: 1,
    generationMs: 1,
    promptTokens: 1,
    reusedTokens: 0,
    generatedTokens: 3,
    promptTokensPerSecond: 1,
    generatedTokensPerSecond: 1,
  },
};

/** A generation whose work goes on when it is told to, and that ends when it is cancelled. */
function controlled(outer?: AbortSignal) {
  const done = Promise.withResolvers<GenerationResult>();
  let piece: (text: string) => void = () => {};
  let inner: AbortSignal | undefined;
  let wanted: Int32Array = new Int32Array();
  const generation = new Generation((signal, sink) => {
    piece = (text) => sink.push(text);
    wanted = sink.wanted;
    inner = signal;
    if (signal.aborted) done.reject(signal.reason);
    else signal.addEventListener("abort", () => done.reject(signal.reason), { once: true });
    return done.promise;
  }, outer);
  return {
    generation,
    piece: (text: string) => piece(text),
    end: () => done.resolve(result),
    fail: (error: Error) => done.reject(error),
    signal: () => inner,
    wanted: () => wanted[0],
  };
}

async function collect(generation: Generation): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of generation) pieces.push(piece);
  return pieces;
}

test("awaited, it gives the result, also more than once", async () => {
  const { generation, end } = controlled();
  end();
  assert.deepEqual(await generation, result);
  assert.deepEqual(await generation, result);
});

test("looped over, it gives every piece, those that came before the loop too", async () => {
  const { generation, piece, end } = controlled();
  piece("a");
  const pieces = collect(generation);
  piece("b");
  await Promise.resolve();
  piece("c");
  end();
  assert.deepEqual(await pieces, ["a", "b", "c"]);
  assert.deepEqual(await generation, result);
});

test("pieces are asked for when somebody loops over them, and not before", async () => {
  const { generation, end, wanted } = controlled();
  assert.equal(wanted(), 0);
  const pieces = collect(generation);
  assert.equal(wanted(), 1);
  end();
  await pieces;
});

test("what was never given as a piece comes at the end", async () => {
  const { generation, piece, end } = controlled();
  const pieces = collect(generation);
  piece("ab");
  end();
  assert.deepEqual(await pieces, ["ab", "c"]);
  const late = controlled();
  late.end();
  await late.generation;
  assert.deepEqual(await collect(late.generation), ["abc"]);
});

test("a second loop is refused", async () => {
  const { generation, end } = controlled();
  end();
  await collect(generation);
  assert.throws(() => generation[Symbol.asyncIterator](), InvalidArgumentError);
});

test("leaving the loop cancels the work and waits for its end", async () => {
  const { generation, piece, signal } = controlled();
  piece("a");
  piece("b");
  for await (const one of generation) {
    assert.equal(one, "a");
    break;
  }
  assert.equal(signal()?.aborted, true);
  await assert.rejects(generation.then(), GenerationCancelledError);
});

test("leaving the loop by an error cancels the work and keeps the error", async () => {
  const { generation, piece, signal } = controlled();
  piece("a");
  const thrown = new Error("mine");
  await assert.rejects(async () => {
    for await (const _ of generation) throw thrown;
  }, thrown);
  assert.equal(signal()?.aborted, true);
});

test("an abort rejects loop and promise with the signal's own reason", async () => {
  const reason = { my: "reason" };
  const controller = new AbortController();
  const { generation, piece } = controlled(controller.signal);
  piece("a");
  const pieces: string[] = [];
  const loop = (async () => {
    for await (const one of generation) pieces.push(one);
  })();
  controller.abort(reason);
  assert.equal(await loop.then(() => undefined, (error: unknown) => error), reason);
  assert.equal(await generation.then(() => undefined, (error: unknown) => error), reason);
  assert.deepEqual(pieces, ["a"]);
});

test("a signal that is aborted already", async () => {
  const reason = new Error("before");
  const { generation } = controlled(AbortSignal.abort(reason));
  await assert.rejects(generation.then(), reason);
});

test("a failure that nobody awaits ends no process; who awaits later gets it", async () => {
  const { generation, fail } = controlled();
  const failure = new Error("failed");
  fail(failure);
  await new Promise((resolve) => setTimeout(resolve));
  await assert.rejects(generation.then(), failure);
});

test("an iterator that is left before its first step cancels too", async () => {
  const { generation, signal } = controlled();
  await generation[Symbol.asyncIterator]().return(undefined);
  assert.ok(signal()?.aborted);
  await assert.rejects(generation.then(), GenerationCancelledError);
});
