/**
 * Ends programs in each way at each moment and compares with the empty program.
 *
 *   deno run -A tests/process_ends/matrix.ts [--times N] [--moments load,…] [--ways SIGINT,…] [--runtime deno|bun|both]
 *
 * Ends with 1 when one of them ended otherwise, took long each time, or left something.
 */

import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { readGgufHeader } from "../../mod.ts";
import { moduleCommand, runProgram, type RuntimeName, runtimesOf } from "../support/program.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { moments } from "./moments.ts";
import { type Way, ways } from "./ways.ts";

/** Milliseconds within which a program ends; on a busy machine the quickest of some attempts counts. */
const LIMIT_MS = 2_000;
const ATTEMPTS = 4;
const MARK = "GGML_FFI_TEST_MARK";

/** How a program ended. */
interface End {
  /** Its exit code or signal. */
  readonly how: string;
  /** Milliseconds from the act to the end. */
  readonly ms: number;
  /** What it left behind. */
  readonly left: readonly string[];
  /** The last line of its error output. */
  readonly words: string;
}

/** What is wrong with one way at one moment, and the quickest end. */
export interface Outcome {
  readonly what: string;
  readonly wrong: readonly string[];
  readonly ms: number;
}

/** The names of the ways that a runtime has. */
export function waysOf(which: RuntimeName): string[] {
  return Object.entries(ways).filter(([, { only = which }]) => only === which).map(([name]) => name);
}

/** Ends a program in one way at one moment; returns what differs from the empty program. */
export async function endOnce(which: RuntimeName, moment: string, way: string): Promise<Outcome> {
  const expected = await empty(which, way);
  const wrong = new Set<string>();
  let ms = Infinity;
  for (let left = ATTEMPTS; left > 0 && ms > LIMIT_MS; left--) {
    const end = await run(which, moment, way);
    ms = Math.min(ms, end.ms);
    if (end.how !== expected.how) wrong.add(`${end.how} instead of ${expected.how} (${end.words})`);
    end.left.forEach((one) => wrong.add(`left ${one}`));
  }
  if (ms > LIMIT_MS) wrong.add(`took ${Math.round(ms)} ms`);
  return { what: `${way} during ${moment} in ${which}`, wrong: [...wrong], ms };
}

const references = new Map<string, Promise<End>>();

function empty(which: RuntimeName, way: string): Promise<End> {
  const key = `${which} ${way}`;
  let reference = references.get(key);
  if (reference === undefined) references.set(key, reference = run(which, "nothing", way));
  return reference;
}

async function run(which: RuntimeName, moment: string, name: string): Promise<End> {
  using folder = new TemporaryFolder();
  const way = ways[name] as Way;
  const temporary = folder.file("tmp");
  mkdirSync(temporary);
  const mark = `${process.pid}-${performance.now()}`;
  let acted: number | undefined;
  const program = moduleCommand("tests/process_ends/child.ts", [moment, name, folder.path], which);
  const { code, signal, stderr } = await runProgram(withCores(program), {
    cwd: folder.path,
    env: { [MARK]: mark, TMPDIR: temporary },
    onOutput: (stdout, child) => {
      if (acted !== undefined || !stdout.includes(way.waits ? "ended\n" : "ready\n")) return;
      acted = performance.now();
      way.end?.(child);
    },
  });
  const ms = performance.now() - (acted ?? NaN);
  const words = stderr.trim().split("\n").at(-1) ?? "";
  if (acted === undefined) {
    return { how: `${signal ?? code} before the moment`, ms: 0, left: [], words: stderr.trim().slice(-300) };
  }
  return { how: String(signal ?? code), ms, left: [...await processesOf(mark), ...await filesOf(folder.path)], words };
}

/** The command, allowed to write a core where a crash would. */
function withCores(command: readonly string[]): readonly string[] {
  if (process.platform === "win32") return command;
  return ["sh", "-c", 'ulimit -c unlimited 2>/dev/null; exec "$@"', "sh", ...command];
}

/** Processes that the program started and that outlive it by more than the limit. */
async function processesOf(mark: string): Promise<string[]> {
  if (process.platform !== "linux") return [];
  const until = performance.now() + LIMIT_MS * ATTEMPTS;
  for (;;) {
    const found = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && hasMark(pid, mark));
    if (found.length === 0 || performance.now() > until) return found.map((pid) => `process ${pid}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function hasMark(pid: string, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`${MARK}=${mark}`);
  } catch {
    return false;
  }
}

/** Files that are no right ones: cores, and models that can't be read. Unfinished ones have names that say so. */
async function filesOf(folder: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (name === "tmp" || name.includes(".tmp-") || name.includes(".gguf.")) continue;
    if (name !== "written.gguf" || statSync(path).size === 0) wrong.push(name);
    else await readGgufHeader(path).catch((error: Error) => wrong.push(`${name}: ${error.message}`));
  }
  return wrong;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      times: { type: "string", default: "1" },
      moments: { type: "string", default: Object.keys(moments).filter((name) => name !== "nothing").join(",") },
      ways: { type: "string" },
      runtime: { type: "string", default: "both" },
    },
  });
  for (const which of runtimesOf(values.runtime)) {
    for (const moment of values.moments.split(",")) {
      for (const way of values.ways?.split(",") ?? waysOf(which)) {
        for (let left = Number(values.times); left > 0; left--) {
          const { what, wrong, ms } = await endOnce(which, moment, way);
          console.log(
            `${wrong.length === 0 ? "right" : "WRONG"}  ${what}, ${Math.round(ms)} ms${
              wrong.map((one) => `; ${one}`).join("")
            }`,
          );
          if (wrong.length > 0) process.exitCode = 1;
        }
      }
    }
  }
}
