import assert from "node:assert/strict";
import test from "node:test";
import { command, run, runtime, slow } from "../../model/support.ts";
import { kinds } from "./controlled.ts";

const child = "tests/unit/streams/rejections_child.ts";

/** How many rejections are left unhandled. */
const expected: Readonly<Record<string, number>> = {
  "neither iterated nor awaited": 1,
  "iterated": 0,
  "iterated, its body slower than the failure": 0,
  "left": 0,
  "awaited": 0,
  "awaited many times": 0,
  "iterated and awaited": 0,
  "awaited without a handler once": 1,
  "raced": 0,
  "ended well, neither iterated nor awaited": 0,
};

test("a stream leaves one rejection unhandled when it is neither iterated nor awaited, else none", slow, async () => {
  const { code, stdout, stderr } = await run(command(runtime, child, ["count"]));
  assert.equal(code, 0, stderr);
  const ofKinds = (count: number) => Object.fromEntries(Object.keys(kinds).map((kind) => [kind, count]));
  assert.deepEqual(
    JSON.parse(stdout),
    Object.fromEntries(Object.entries(expected).map(([use, count]) => [use, ofKinds(count)])),
  );
});

test("a failure that nobody handles ends the program, as that of any promise does", slow, async () => {
  const { code, stderr } = await run(command(runtime, child, ["end"]));
  assert.equal(code, 1);
  assert.match(stderr, /the work failed/);
});
