import assert from "node:assert/strict";
import test from "node:test";
import { StopMatcher } from "../../../lib/llama/generation/stop_matcher.ts";
import { randomBelow } from "../../support/random.ts";

/** Pushes a text in pieces; what came out, and the stop string. */
function run(
  stops: readonly string[],
  pieces: readonly string[],
): { pieces: string[]; text: string; stop: string | undefined } {
  const matcher = new StopMatcher(stops);
  const out: string[] = [];
  for (const piece of pieces) {
    const { text, stop } = matcher.push(piece);
    out.push(text);
    if (stop !== undefined) return { pieces: out, text: out.join(""), stop };
  }
  out.push(matcher.flush());
  return { pieces: out, text: out.join(""), stop: undefined };
}

test("without stop strings everything passes at once", () => {
  assert.deepEqual(run([], ["a", "b"]).pieces, ["a", "b", ""]);
});

test("a stop string is found at every way to cut the text", () => {
  const text = "one two STOP three";
  for (let first = 0; first <= text.length; first++) {
    for (let second = first; second <= text.length; second++) {
      const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)];
      const found = run(["STOP"], pieces);
      assert.equal(found.text, "one two ", JSON.stringify(pieces));
      assert.equal(found.stop, "STOP");
    }
  }
});

test("only what may begin a stop string is held back", () => {
  assert.deepEqual(run(["abc"], ["xa", "b", "x", "ab"]).pieces, ["x", "", "abx", "", "ab"]);
  assert.deepEqual(run(["aab"], ["a", "a", "a", "b"]), { pieces: ["", "", "a", ""], text: "a", stop: "aab" });
});

test("the stop string that begins first counts, of two at one place the longer", () => {
  assert.deepEqual(run(["cd", "bcde"], ["abcdef"]), { pieces: ["a"], text: "a", stop: "bcde" });
  assert.deepEqual(run(["ab", "abc"], ["xabcd"]), { pieces: ["x"], text: "x", stop: "abc" });
  assert.deepEqual(run(["one", "two"], ["two one"]), { pieces: [""], text: "", stop: "two" });
});

test("what is held back is whole characters", () => {
  const found = run(["🌍🌍"], ["a🌍", "b🌍", "🌍c"]);
  assert.deepEqual(found, { pieces: ["a", "🌍b", ""], text: "a🌍b", stop: "🌍🌍" });
});

test("random texts: the same as looking at the whole text", () => {
  const random = randomBelow(1);
  const word = (length: number) => Array.from({ length }, () => "ab"[random(2)]).join("");
  for (let round = 0; round < 2000; round++) {
    const stops = Array.from({ length: 1 + random(3) }, () => word(4 + random(3)));
    const text = word(random(40));
    const pieces: string[] = [];
    for (let at = 0; at < text.length;) {
      const length = 1 + random(5);
      pieces.push(text.slice(at, at + length));
      at += length;
    }
    const { text: given, stop } = run(stops, pieces);
    // The stop string that is complete first in the stream; pieces may complete several, of which the one that begins first counts.
    const firstEnd = Math.min(
      ...stops.map((one) => text.indexOf(one)).map((at, index) => at < 0 ? Infinity : at + (stops[index]?.length ?? 0)),
    );
    if (firstEnd === Infinity) {
      assert.equal(stop, undefined);
      assert.equal(given, text);
    } else {
      assert.ok(stop !== undefined && stops.includes(stop));
      assert.ok(text.startsWith(given + stop));
      assert.ok(given.length + 1 <= firstEnd);
    }
  }
});
