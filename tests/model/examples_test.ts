import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { command, root, run, runtime, slow } from "./support.ts";

/** What each example must print. */
const expected: Readonly<Record<string, RegExp>> = {
  "hello.ts": /^The capital of France is Paris\.\n$/,
  "stream.ts": /^.{20,}\n\((maxTokens|stop|eos), \d+\.\d tokens a second\)\n$/s,
  "transcribe.ts":
    /^0\.\d\d to \d.* s: And so my fellow Americans[^]*\n\n1\n00:00:00,\d+ --> [^]*for your country\.\n$/,
  "summarize_speech.ts":
    /^Said: And so my fellow Americans ask not what your country can do for you.*\nIn one sentence: [^\n]*country[^\n]*\.\n$/,
  "grammar.ts":
    /^(red|orange|yellow|green|blue|violet)(, (red|orange|yellow|green|blue|violet)){2}\. eos\nsurest token: [01]\.\d\d\n$/,
  "choose.ts": /^positive \(\d\d %\): Wonderful.*\nnegative \(\d\d %\): Boring.*\n$/,
  "custom_sampler.ts": /^no e in:[^eE]+\n$/,
  "backend_in_typescript.ts":
    /^difference: CPU\nsquares: TypeScript\n[^]*TypeScript computes SQR \(squares\)\n3 parts, distances 5 and 12\n$/,
  "watch_nodes.ts": /^(device .*\n)+scores = 2\.000, 1\.000, 3\.000\nchances = 0\.245, 0\.090, 0\.665\n$/,
  "tensors.ts":
    /^q = MUL_MAT f32 \[32, 4\]\n[^]*result: 0\.637 -0\.601 0\.552 …\nrefused: mulMat: dimension 0 of b [^]*\nloss 5\.25, gradient 1 -2 4\n$/,
  "structured.ts": /^\{"name":"Anna","age":31,"city":"Vienna"\}\n$/,
  "tools.ts": /^calls get_weather\(\{"city":"Rome"\}\)\ngives \{"city":"Rome","degrees":21,"sky":"clear"\}\n/,
  "reasoning.ts": /^thought: The capital of France is Paris\.\nsaid: Paris [^\n]*\.\n$/,
  "lora.ts": /^rank 4, 1 tensor\nanother text and back\n$/,
  "cancel.ts": /^stopped: enough\nmessages kept: 1\nThe capital of France is Paris\.\n$/,
  "train_classifier.ts":
    /^(epoch \d+: loss [\d.]+, right [\d.]+ %\n){4}trained for 40 epochs\nof 480 new points [\d.]+ % are right, at least 95\.0 % were wanted\nthe loaded classifier says the same for 480 of them\n$/,
};

test("every example is run here", () => {
  assert.deepEqual(readdirSync(join(root, "examples")).sort(), Object.keys(expected).sort());
});

for (const [name, output] of Object.entries(expected)) {
  test(`${name} prints what it should`, slow, async () => {
    const { code, stdout, stderr } = await run(command(runtime, `examples/${name}`, []));
    assert.equal(code, 0, stderr);
    assert.match(stdout, output, name);
  });
}
