import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import process from "node:process";
import test from "node:test";
import { countOwn } from "../../../scripts/test/counts.ts";
import { runSteps, summarize } from "../../../scripts/test/runner.ts";
import { type Step, steps } from "../../../scripts/test/steps.ts";
import { moduleCommand, runProgram } from "../../support/program.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

/** A step that prints a text and ends with a code. */
function step(title: string, text: string, code = 0, more: Partial<Step> = {}): Step {
  const program = `process.stdout.write(${JSON.stringify(text)}); process.exitCode = ${code};`;
  return { part: title, title, command: ["node", "-e", program], ...more };
}

/** Runs `work` and returns what it printed. */
async function printed<T>(work: () => Promise<T> | T): Promise<[result: T, lines: string[]]> {
  const log = console.log;
  const lines: string[] = [];
  console.log = (line: string) => void lines.push(...line.split("\n"));
  try {
    return [await work(), lines];
  } finally {
    console.log = log;
  }
}

test("a run's counts are added up; a failed one prints all of its output, a good one its last lines", async () => {
  const long = Array.from({ length: 50 }, (_, at) => `line ${at}`).join("\n");
  const [results, lines] = await printed(() =>
    runSteps([
      step("check", long),
      step("tests", `${long}\n3 passed, 0 failed, 1 skipped\n`, 0, { counter: countOwn, runtime: "deno" }),
      step("bad", `${long}\n2 passed, 1 failed, 0 skipped\n`, 1, { counter: countOwn, runtime: "bun" }),
      step("broken", long, 3, { counter: countOwn }),
    ], 2)
  );
  assert.deepEqual(
    results.map(({ step: { title }, succeeded, counts }) => [title, succeeded, counts]).sort(),
    [
      ["bad", false, { passed: 2, failed: 1, skipped: 0 }],
      ["broken", false, { passed: 0, failed: 1, skipped: 0 }],
      ["check", true, { passed: 1, failed: 0, skipped: 0 }],
      ["tests", true, { passed: 3, failed: 0, skipped: 1 }],
    ],
  );
  assert.equal(lines.filter((line) => line === "line 0").length, 2);
  assert.equal(lines.filter((line) => line === "line 49").length, 4);
  const [code, last] = await printed(() => summarize(results, 61_000));
  assert.equal(code, 1);
  assert.equal(last.at(-1), "6 passed, 2 failed, 1 skipped");
  assert.ok(last.includes("FAILED: bad") && last.includes("FAILED: broken") && !last.includes("FAILED: tests"));
  assert.match(last.join("\n"), /^tests +\d+\.\d s {2}3 tests$/m);
});

test("a runtime whose runs ran no test has failed", async () => {
  const [results] = await printed(() =>
    runSteps([step("none", "0 passed, 0 failed, 0 skipped\n", 0, { counter: countOwn, runtime: "bun" })])
  );
  const [code, lines] = await printed(() => summarize(results, 1));
  assert.equal(code, 1);
  assert.ok(lines.includes("FAILED: bun ran no test"));
  assert.equal(lines.at(-1), "0 passed, 1 failed, 0 skipped");
});

test("two steps run at once, and each is run", async () => {
  using folder = new TemporaryFolder();
  const shared = folder.path;
  // Each waits for the other one's file: alone, neither would end.
  const wait = (own: string, other: string): Step => ({
    part: own,
    title: own,
    command: [
      "node",
      "-e",
      `const fs = require("fs"), dir = ${JSON.stringify(shared)};
       fs.writeFileSync(dir + "/${own}", "");
       const timer = setInterval(() => { if (fs.existsSync(dir + "/${other}")) clearInterval(timer); }, 5);`,
    ],
  });
  const [results] = await printed(() => runSteps([wait("a", "b"), wait("b", "a")], 2));
  assert.deepEqual(results.map(({ succeeded }) => succeeded), [true, true]);
});

test("every folder of tests is a part, in both runtimes; benchmarks in one", () => {
  const all = steps();
  for (const folder of ["model", "whisper", "cli", "ggml", "unit", "ffi", "consumer"]) {
    assert.deepEqual(all.filter(({ part }) => part === folder).map(({ runtime }) => runtime), ["deno", "bun"], folder);
  }
  assert.deepEqual(all.filter(({ part }) => part === "bench").map(({ runtime }) => runtime), ["deno"]);
  assert.equal(new Set(all.map(({ title }) => title)).size, all.length);
});

test("a signal that ends npm test ends the programs that it runs", { skip: process.platform === "win32" }, async () => {
  // The program leaves its process id, and goes on for a minute unless it is ended.
  using folder = new TemporaryFolder();
  const pidFile = folder.file("pid");
  const program = `const fs = require("fs"), file = ${JSON.stringify(pidFile)};
    fs.writeFileSync(file + ".new", String(process.pid)); fs.renameSync(file + ".new", file); setTimeout(() => {}, 60_000);`;
  const outer = moduleCommand("tests/unit/scripts/capture_child.ts", [program, pidFile]);
  const { signal, stdout } = await runProgram(outer, {
    onOutput: (text, child) => text.includes("started") && child.kill("SIGTERM"),
  });
  assert.equal(signal, "SIGTERM", stdout);
  const pid = Number(readFileSync(pidFile, "utf8"));
  // It was sent SIGKILL before its parent ended; the system may take a moment.
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
