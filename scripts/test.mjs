// npm test: set-up, then every check and every test in both runtimes. The last line: N passed, N failed, N skipped.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { runWith, UsageError } from "./setup/command.mjs";
import { bunProgram, denoProgram } from "./setup/npm_packages.mjs";
import { seconds } from "./setup/progress.mjs";
import { cacheFolder } from "./setup/cache.mjs";
import { bringSpeechModels } from "./setup/speech.mjs";
import { root, setup } from "./setup.mjs";
import { countBun, countDeno, countOwn } from "./setup/test_counts.mjs";

const limit = 20 * 60_000;
const runtimes = ["deno", "bun"];
const counters = { deno: countDeno, bun: countBun, node: countOwn };

const help = `Runs set-up, then every check and every test in Deno and in Bun.

Usage: npm test -- [--only PART,…]

Parts: ${partNames().join(", ")}
`;

/** Checks: a name, and the command that must succeed. */
function checks() {
  const deno = denoProgram(root);
  const folders = ["mod.ts", "base", "ffi", "lib", "cli", "scripts", "tests", "bench", "examples"].filter((path) =>
    existsSync(join(root, path))
  );
  const exported = Object.values(JSON.parse(readFileSync(join(root, "deno.json"), "utf8")).exports);
  return [
    { part: "format", title: "deno fmt", command: [deno, "fmt", "--check"] },
    { part: "lint", title: "deno lint", command: [deno, "lint"] },
    { part: "types", title: "deno check", command: [deno, "check", ...folders] },
    {
      part: "types",
      title: "tsc",
      command: [process.execPath, "node_modules/typescript/bin/tsc", "-p", "tsconfig.json"],
    },
    { part: "docs", title: "deno doc --lint", command: [deno, "doc", "--lint", ...exported] },
    { part: "publish", title: "deno publish --dry-run", command: [deno, "publish", "--dry-run", "--allow-dirty"] },
    {
      part: "tables",
      title: "tables are what the headers give",
      command: [deno, "run", "-A", "scripts/bindgen.ts", "--check"],
    },
  ];
}

/** Test runs: one a folder of tests and runtime, and the examples in the documentation. */
function testRuns() {
  const [deno, bun] = [denoProgram(root), bunProgram(root)];
  const runs = testFolders().flatMap((folder) => [
    {
      part: folder,
      title: `deno test tests/${folder}`,
      runtime: "deno",
      command: [deno, "test", "-A", "--no-check", `tests/${folder}`],
    },
    {
      part: folder,
      title: `bun test tests/${folder}`,
      runtime: "bun",
      command: [bun, "test", "--timeout", "300000", `./tests/${folder}/`],
    },
  ]);
  const documented = ["mod.ts", "base", "ffi", "lib"].filter((path) => existsSync(join(root, path)));
  const doc = { part: "examples", title: "deno test --doc", runtime: "deno" };
  const targets = { part: "targets", title: "other targets, those that are cached", runtime: "node" };
  return [
    ...runs,
    { ...doc, command: [deno, "test", "-A", "--doc", "--no-check", ...documented] },
    { ...targets, command: [process.execPath, "scripts/test_targets.mjs", "--cached"] },
  ];
}

function testFolders() {
  const folders = readdirSync(join(root, "tests"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map((entry) => entry.name).filter((name) =>
    readdirSync(join(root, "tests", name), { recursive: true }).some((f) => f.endsWith("_test.ts"))
  );
}

function partNames() {
  return ["format", "lint", "types", "docs", "publish", "tables", ...testFolders(), "examples", "targets"];
}

await runWith(help, { only: { type: "string" } }, async (values) => {
  const only = wanted(values.only);
  const started = performance.now();
  await setup();
  if (["whisper", "model", "examples"].some((part) => only.has(part))) await bringSpeechModels(root, cacheFolder());
  const total = { passed: 0, failed: 0, skipped: 0 };
  const add = (counts) => Object.keys(total).forEach((key) => total[key] += counts[key]);
  const failures = [];
  for (const check of checks().filter(({ part }) => only.has(part))) {
    const { fine } = await runStep(check, () => true);
    add({ passed: fine ? 1 : 0, failed: fine ? 0 : 1, skipped: 0 });
    if (!fine) failures.push(check.title);
  }
  const runs = testRuns().filter(({ part }) => only.has(part));
  const ran = { deno: 0, bun: 0, node: 0 };
  for (const test of runs) {
    const { fine, counts } = await runStep(test, counters[test.runtime]);
    // A run that broke off without a failed test has failed all the same.
    add({ ...counts, failed: counts.failed + (!fine && counts.failed === 0 ? 1 : 0) });
    ran[test.runtime] += counts.passed;
    if (!fine || counts.failed > 0) failures.push(test.title);
  }
  for (const runtime of runtimes.filter((name) => runs.some((test) => test.runtime === name) && ran[name] === 0)) {
    failures.push(`${runtime} ran no test`);
    total.failed++;
  }
  for (const title of failures) console.log(`FAILED: ${title}`);
  console.log(`Took ${seconds(performance.now() - started)}.`);
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total.failed > 0 ? 1 : 0;
});

/** The parts to run. */
function wanted(only) {
  const names = partNames();
  const parts = only?.split(",") ?? names;
  const unknown = parts.find((name) => !names.includes(name));
  if (unknown === undefined) return new Set(parts);
  throw new UsageError(`there is no part "${unknown}"; there are: ${names.join(", ")}`);
}

/** Runs one command: prints its closing lines when it succeeds, all of its output when it doesn't. */
async function runStep({ title, command }, count) {
  const started = performance.now();
  console.log(`── ${title}`);
  const { code, text, timedOut } = await capture(command);
  const fine = code === 0;
  const lines = text.trimEnd().split("\n").filter((line) =>
    !/^Warning Failed resolving types|^ {4}at file:.*\/node_modules\//.test(line)
  );
  console.log((fine ? lines.slice(-closingLines(lines)) : lines).join("\n"));
  const took = seconds(performance.now() - started);
  console.log(`   ${fine ? "fine" : timedOut ? `stopped after ${took}` : `exit code ${code}`} (${took})\n`);
  return { fine, counts: count(text) };
}

function closingLines(lines) {
  return Math.min(lines.length, 6);
}

function capture([program, ...args]) {
  return new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
    const child = spawn(program, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    let timedOut = false;
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (part) => text += part);
    const timer = setTimeout(() => (timedOut = true, child.kill("SIGKILL")), limit);
    child.on("error", (error) => (text += error.message));
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code: code ?? signal, text, timedOut });
    });
  });
}
