// npm run test:targets: runs the tests of tests/targets/ where programs of other targets can be run, and checks every target's files.
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { bringProbe } from "./build_probe.mjs";
import { cacheFolder } from "./setup/cache.mjs";
import { runWith, UsageError } from "./setup/command.mjs";
import { SetupError } from "./setup/errors.mjs";
import { run } from "./setup/exec.mjs";
import { bringLibraries, cachedLibraries } from "./setup/libraries.mjs";
import { bunProgram, denoProgram } from "./setup/npm_packages.mjs";
import { seconds } from "./setup/progress.mjs";
import { countBun, countDeno } from "./setup/test_counts.mjs";
import { bringZig } from "./setup/zig.mjs";
import { bringTools, root, setup } from "./setup.mjs";
import { machines } from "./test_targets/machines.mjs";
import { NotHere } from "./test_targets/tools.mjs";

const help =
  `Runs the probe library, the tables, tokenizing and the default question on arm64 Linux under qemu-user, on Windows under Wine and
on musl, and checks the files of every target that is built. What can't run here is skipped, with the reason.

Usage: npm run test:targets -- [options]

  --cached         only what the cache has: nothing is fetched and nothing is built
  --target NAME    only this target; may be repeated
  --file NAME      only this test file; may be repeated
  -h, --help       this text
`;

const limit = 20 * 60_000;
const files = [
  "tests/ffi/probe/probe_test.ts",
  "tests/targets/tables.ts",
  "tests/targets/tokens.ts",
  "tests/targets/answer.ts",
];

const options = {
  cached: { type: "boolean" },
  target: { type: "string", multiple: true },
  file: { type: "string", multiple: true },
};

await runWith(help, options, async (values) => {
  const unknown = values.target?.find((name) => !allTargets().includes(name));
  if (unknown !== undefined) {
    throw new UsageError(`there is no target "${unknown}"; there are: ${allTargets().join(", ")}`);
  }
  const unknownFile = values.file?.find((name) => !files.includes(name));
  if (unknownFile !== undefined) {
    throw new UsageError(`there is no test file "${unknownFile}"; there are: ${files.join(", ")}`);
  }
  const wanted = machines.filter(({ target }) => values.target?.includes(target) ?? true);
  return await testTargets(wanted, values.file ?? files, values.cached === true);
});

function allTargets() {
  return [...new Set(machines.map(({ target }) => target))];
}

async function testTargets(wanted, files, cachedOnly) {
  const started = performance.now();
  await setup();
  const cache = cacheFolder();
  const tools = cachedOnly ? undefined : await bringTools(cache);
  const context = { root, files, cache, cachedOnly, zig: () => bringZig(cache) };
  const work = await mkdtemp(join(tmpdir(), "ggml-ffi-targets-"));
  const total = { passed: 0, failed: 0, skipped: 0 };
  const add = (counts) => Object.keys(total).forEach((key) => total[key] += counts[key]);
  try {
    const reference = join(work, "reference.json");
    await writeFile(
      reference,
      await run(bunProgram(root), ["tests/targets/reference.ts"], { cwd: root, task: "the reference" }),
    );
    const libraries = new Map();
    for (const target of new Set(wanted.map((machine) => machine.target))) {
      const folder = await cachedLibraries(root, cache, target) ?? (tools && await bringLibraries(tools, { target }));
      if (folder !== undefined) libraries.set(target, folder);
    }
    add(await checkFiles(libraries));
    for (const machine of wanted) add(await runOn(machine, context, libraries.get(machine.target), reference));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  console.log(`Took ${seconds(performance.now() - started)}.`);
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total.failed > 0 ? 1 : 0;
}

/** Each target's files are one check. */
async function checkFiles(libraries) {
  const counts = { passed: 0, failed: 0, skipped: allTargets().length - libraries.size };
  for (const [target, folder] of libraries) {
    const { code, text } = await capture([
      denoProgram(root),
      "run",
      "-A",
      "scripts/check_targets.ts",
      `${target}=${folder}`,
    ], {});
    counts[code === 0 ? "passed" : "failed"]++;
    console.log(`── files of ${target}\n${text.trimEnd()}\n`);
  }
  return counts;
}

/** Runs the tests on one machine: their counts. What can't run is one skipped. */
async function runOn(machine, context, libraries, reference) {
  const started = performance.now();
  console.log(`── ${machine.title} (${machine.target})`);
  try {
    const { command, env, path } = await machine.bring(context);
    if (libraries === undefined) {
      throw new NotHere(`its libraries aren't in the cache: npm run build -- --target ${machine.target}`);
    }
    await bringProbe(machine.target, context.cache);
    const { code, text } = await capture([...command, ...testArguments(machine.runtime, context.files)], {
      ...env,
      GGML_FFI_LIBRARY_PATH: path(libraries),
      GGML_FFI_CACHE: path(context.cache),
      GGML_FFI_TARGET: machine.target,
      GGML_FFI_REFERENCE: path(reference),
    });
    const counts = (machine.runtime === "deno" ? countDeno : countBun)(text);
    const broken = code !== 0 && counts.failed === 0;
    if (code !== 0 || counts.passed === 0) console.log(text.trimEnd());
    for (const [line] of text.matchAll(/^(?:answer|structs): .*$/gm)) console.log(`   ${line}`);
    const took = seconds(performance.now() - started);
    console.log(
      `   ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped, exit code ${code} (${took})\n`,
    );
    return { ...counts, failed: counts.failed + (broken || counts.passed === 0 ? 1 : 0) };
  } catch (error) {
    if (!(error instanceof NotHere)) {
      if (!(error instanceof SetupError)) throw error;
      console.log(`   failed: ${error.message}\n`);
      return { passed: 0, failed: 1, skipped: 0 };
    }
    console.log(`   not run: ${error.message}\n`);
    return { passed: 0, failed: 0, skipped: 1 };
  }
}

function testArguments(runtime, files) {
  const paths = files.map((file) => `./${file}`);
  return runtime === "deno" ? ["test", "-A", "--no-check", ...paths] : ["test", "--timeout", "900000", ...paths];
}

function capture([program, ...args], env) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (part) => text += part);
    const timer = setTimeout(() => child.kill("SIGKILL"), limit);
    child.on("error", (error) => (text += error.message));
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code: code ?? signal, text: text.replaceAll("\r\n", "\n") });
    });
  });
}
