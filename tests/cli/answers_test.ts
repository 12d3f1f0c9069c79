import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { defaultModelPath } from "../../mod.ts";
import { cli, commandLine, type Ended, runProgram } from "./program.ts";

/** One thread: with more than there are free cores ggml's threads wait for each other for ages. */
const ONE = ["-t", "1"];
const STORY = ["complete", ...ONE, "-p", "Once upon a time", "-n", "24", "--seed", "1", "--temp", "0"];

function fine({ code, out, err }: Ended): string {
  assert.equal(err, "");
  assert.equal(code, 0);
  return out;
}

test("chat answers a question on standard output", async () => {
  const answer = fine(await cli(["chat", ...ONE, "--temp", "0", "-n", "32", "What is the capital of France?"]));
  assert.match(answer, /Paris/);
  assert.ok(answer.endsWith("\n"));
});

test("complete --json writes one object with text, tokens, stopReason, timings", async () => {
  const result = JSON.parse(fine(await cli([...STORY, "--json"])));
  assert.equal(result.tokens.length, 24);
  assert.equal(result.stopReason, "maxTokens");
  assert.equal(result.seed, 1);
  assert.equal(result.timings.promptTokens, 4);
  assert.equal(result.timings.generatedTokens, 24);
  const text = fine(await cli(STORY));
  assert.equal(text, result.text.endsWith("\n") ? result.text : `${result.text}\n`);
});

test("a prompt may come from standard input, and its last line end is not part of it", async () => {
  const flags = [...ONE, "-n", "24", "--seed", "1", "--temp", "0", "--json"];
  const { tokens } = JSON.parse(fine(await cli([...STORY, "--json"])));
  for (const args of [["complete", ...flags], ["complete", ...flags, "-p", "-"]]) {
    assert.deepEqual(JSON.parse(fine(await cli(args, { input: "Once upon a time\n" }))).tokens, tokens);
  }
});

test("a prompt may come from a file, and what is piped in follows the one of a flag", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ggml-ffi-cli-"));
  try {
    const file = join(folder, "prompt.txt");
    writeFileSync(file, "Once upon a time\n");
    const flags = ["complete", ...ONE, "-n", "1", "--temp", "0", "--json"];
    const count = async (...command: string[]) => {
      const { timings } = JSON.parse(fine(await runProgram(["sh", "-c", ...command])));
      return timings.promptTokens as number;
    };
    const from = (args: string[]) => ["sh", file, ...commandLine([...flags, ...args])];
    const piped = 'file="$1"; shift; cat "$file" | "$@"';
    const nothing = 'shift; : | "$@"';
    assert.equal(await count('shift; exec "$@" < /dev/null', ...from(["-f", file])), 4);
    assert.equal(await count(nothing, ...from(["-p", "Once upon a time"])), 4);
    const both = await count(piped, ...from(["-p", "Once upon a time"]));
    assert.equal(both, await count(nothing, ...from(["-p", "Once upon a time\n\nOnce upon a time"])));
    assert.ok(both > 8);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("numbers in --json are rounded", async () => {
  const { timings, logprobs } = JSON.parse(fine(await cli([...STORY, "--json", "--logprobs", "1"])));
  const numbers = [
    ...Object.values(timings),
    ...logprobs.map(({ logprob }: { logprob: number }) => logprob),
  ] as number[];
  assert.ok(numbers.length > 24);
  for (const number of numbers) assert.equal(number, Number(number.toPrecision(6)));
});

test("--stop ends the text before it, and a seed makes a random answer repeatable", async () => {
  const args = ["complete", ...ONE, "-p", "1, 2, 3, 4,", "-n", "32", "--temp", "0", "--stop", "8", "--json"];
  const stopped = JSON.parse(fine(await cli(args)));
  assert.equal(stopped.stopReason, "stop");
  assert.doesNotMatch(stopped.text, /8/);
  const random = ["complete", ...ONE, "-p", "Once upon a time", "-n", "8", "--json"];
  const tokens = async (...more: string[]) => JSON.parse(fine(await cli([...random, ...more]))).tokens;
  const seeded = await tokens("--seed", "42");
  assert.deepEqual(await tokens("--seed", "42"), seeded);
  assert.notDeepEqual(await tokens("--seed", "43"), seeded);
});

test("tokenize writes a line a token, or numbers, or an object", async () => {
  const lines = fine(await cli(["tokenize", "Hello, world"])).trimEnd().split("\n");
  const ids = JSON.parse(fine(await cli(["tokenize", "--ids", "Hello, world"])));
  const { tokens, pieces } = JSON.parse(fine(await cli(["tokenize", "--json", "Hello, world"])));
  assert.deepEqual(ids, tokens);
  assert.equal(pieces.join(""), "Hello, world");
  assert.deepEqual(lines.map((line) => line.trim().split("  ")[0]), tokens.map(String));
  const special = JSON.parse(fine(await cli(["tokenize", "--ids", "--parse-special", "<|im_start|>"])));
  assert.equal(special.length, 1);
});

test("info and devices say what there is", async () => {
  assert.match(fine(await cli(["info"])), /llama\.cpp +\d+\.\d+\.\d+ /);
  const { libraries, model, metadata } = JSON.parse(fine(await cli(["info", "--json"])));
  assert.match(libraries.cpuBackend, /ggml-cpu/);
  assert.equal(model.architecture, "llama");
  assert.equal(metadata["general.architecture"], "llama");
  assert.match(fine(await cli(["devices"])), /^CPU +cpu /);
  assert.ok(JSON.parse(fine(await cli(["devices", "--json"]))).length >= 1);
});

test("-v says on standard error what is used and how long it took, and leaves the result alone", async () => {
  const { code, out, err } = await cli([...STORY, "-v"]);
  assert.equal(code, 0);
  assert.equal(out, fine(await cli(STORY)));
  assert.match(err, /context of \d+ tokens[\s\S]*answer: 24 tokens in /);
  // Elsewhere no log is kept.
  if (process.platform === "linux") assert.equal(err.match(/loaded meta data with/g)?.length, 1);
});

test("a bad model ends with 1 and says what is wrong with it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ggml-ffi-cli-"));
  try {
    const file = (name: string, content: string) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const cut = join(folder, "cut.gguf");
    writeFileSync(cut, await firstBytes(await defaultModelPath(), 5_000_000));
    const bad: readonly (readonly [string, RegExp])[] = [
      [join(folder, "absent.gguf"), /absent\.gguf/],
      [file("empty.gguf", ""), /empty\.gguf/],
      [file("text.gguf", "Once upon a time there was no model."), /not|isn't/],
      [folder, /folder|directory/],
      [cut, /cut\.gguf/],
    ];
    for (const [path, message] of bad) {
      const { code, out, err } = await cli(["complete", "-p", "a", "-m", path]);
      assert.equal(code, 1, err);
      assert.equal(out, "");
      assert.match(err, message);
      assert.doesNotMatch(err, /\n\s+at /, "a stack trace is for -v");
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("no model in the cache, and a prompt beyond the context, end with 1 and say what to do", async () => {
  const empty = mkdtempSync(join(tmpdir(), "ggml-ffi-cli-"));
  const absent = await cli(["complete", "-p", "a"], {
    env: { GGML_FFI_CACHE: empty, HF_ENDPOINT: "http://127.0.0.1:1" },
  });
  rmSync(empty, { recursive: true });
  assert.equal(absent.code, 1);
  assert.match(
    absent.err,
    /the default model isn't in the cache, and .* can't be downloaded: .*give the path of a GGUF file/,
  );
  const long = await cli(["complete", ...ONE, "-c", "64"], { input: "word ".repeat(2000) });
  assert.equal(long.code, 1);
  assert.match(long.err, /tokens, but the context holds/);
});

test("Ctrl-C in one shot ends with 130", async () => {
  let asked = false;
  const { code, out, err } = await cli(["complete", ...ONE, "-p", "Once upon a time", "-n", "4000", "--temp", "0"], {
    input: "",
    onOutput(_, child) {
      // Not child.kill: after that Deno says that the signal ended the child, whatever its exit code.
      if (!asked && child.pid !== undefined) process.kill(child.pid, "SIGINT");
      asked = true;
    },
  });
  assert.ok(asked);
  assert.equal(code, 130);
  assert.equal(err, "");
  // The shell's prompt doesn't follow the text.
  assert.match(out, /[^\n]\n$/);
});

test("a reader that goes away ends the answer quietly", async () => {
  const command = commandLine(["complete", ...ONE, "-p", "Once upon a time", "-n", "4000", "--temp", "0"]);
  const shell = ["sh", "-c", '"$@" | head -c 20', "sh", ...command];
  const { code, out, err } = await runProgram(shell);
  assert.equal(code, 0);
  assert.equal(err, "");
  assert.equal(out.length, 20);
});

/** The start of a file, read: a copy could be a link to the file itself. */
async function firstBytes(path: string, count: number): Promise<Uint8Array> {
  await using file = await open(path);
  const bytes = new Uint8Array(count);
  const { bytesRead } = await file.read(bytes, 0, count, 0);
  return bytes.subarray(0, bytesRead);
}
