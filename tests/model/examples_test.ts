import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { command, root, run, runtime, slow } from "./support.ts";

/** What each example must print. */
const expected: Readonly<Record<string, RegExp>> = {
  "hello.ts": /^The capital of France is Paris\.\n$/,
  "stream.ts": /^.{20,}\n\((maxTokens|stop|eos), \d+\.\d tokens a second\)\n$/s,
  "cancel.ts": /^stopped: enough\nmessages kept: 1\nThe capital of France is Paris\.\n$/,
};

test("every example runs and prints what it should", slow, async () => {
  assert.deepEqual(readdirSync(join(root, "examples")).sort(), Object.keys(expected).sort());
  for (const [name, output] of Object.entries(expected)) {
    const { code, stdout, stderr } = await run(command(runtime, `examples/${name}`, []));
    assert.equal(code, 0, stderr);
    assert.match(stdout, output, name);
  }
});
