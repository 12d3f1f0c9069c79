import assert from "node:assert/strict";
import test from "node:test";
import { type Generation, type GenerationResult, startGeneration } from "../../../lib/llama/generation/generation.ts";
import { generationResult } from "../streams/controlled.ts";

/** A generation whose work goes on when it is told to. */
function controlled() {
  const done = Promise.withResolvers<GenerationResult>();
  let piece: (text: string) => void = () => {};
  let wanted: Int32Array = new Int32Array();
  const generation = startGeneration((_, sink) => {
    piece = (text) => sink.push(text);
    wanted = sink.wanted;
    return done.promise;
  }, undefined);
  return {
    generation,
    piece: (text: string) => piece(text),
    end: () => done.resolve(generationResult),
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
  assert.deepEqual(await generation, generationResult);
  assert.deepEqual(await generation, generationResult);
});

test("looped over, it gives every piece, and the result after", async () => {
  const { generation, piece, end } = controlled();
  piece("a");
  const pieces = collect(generation);
  piece("b");
  await Promise.resolve();
  piece("c");
  end();
  assert.deepEqual(await pieces, ["a", "b", "c"]);
  assert.deepEqual(await generation, generationResult);
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

test("partial has the text so far, and all of it in the end", async () => {
  const { generation, piece, end } = controlled();
  assert.equal(generation.partial, "");
  piece("a");
  assert.equal(generation.partial, "a");
  end();
  await generation;
  assert.equal(generation.partial, "abc");
});
