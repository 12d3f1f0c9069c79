/** Child processes of the tests. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The folder of the source tree, with a separator at its end. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** The name of a runtime. */
export type RuntimeName = "deno" | "bun";

/** The runtime that runs this test. */
export const runtime: RuntimeName = "bun" in process.versions ? "bun" : "deno";

/** The runtimes of an option `--runtime deno|bun|both`. */
export function runtimesOf(option: string): readonly RuntimeName[] {
  if (option === "both") return ["deno", "bun"];
  if (option === "deno" || option === "bun") return [option];
  throw new RangeError(`there is no runtime "${option}"; there are: deno, bun, both`);
}

const LIMIT_MS = 110_000;

/** A program and its arguments. */
export type Command = readonly [program: string, ...args: string[]];

/** The end of a child process. */
export interface Finished {
  /** The exit code; `null` when a signal ended it. */
  readonly code: number | null;
  /** The signal that ended it. */
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Options of {@linkcode runProgram}. */
export interface ProgramOptions {
  readonly cwd?: string;
  /** Variables beside those of this process; `undefined` takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Standard input. Without it the input is empty, or open until the end where `onOutput` is given. */
  readonly input?: string;
  /** Called with all of standard output so far, each time there is more. */
  readonly onOutput?: (stdout: string, child: ChildProcess) => void;
  /** The user to run as. */
  readonly uid?: number | undefined;
  /** Milliseconds until it is killed (default: 110,000). */
  readonly limitMs?: number;
}

/** The program of a runtime: this process's, or the one that set-up installed. */
export function runtimeProgram(which: RuntimeName = runtime): string {
  if (which === runtime) return process.execPath;
  const name = process.platform === "win32" ? `${which}.exe` : which;
  const installed = join(ROOT, "node_modules", ".bin", name);
  return existsSync(installed) ? installed : which;
}

/** The command that runs a module of the source tree, named by its path in it or in full, in a runtime; in Deno with these flags. */
export function moduleCommand(
  module: string,
  args: readonly string[] = [],
  which: RuntimeName = runtime,
  denoFlags: readonly string[] = ["-A"],
): Command {
  const before = which === "deno" ? ["run", "--no-check", "--no-prompt", ...denoFlags] : [];
  return [
    runtimeProgram(which),
    ...before,
    fileURLToPath(new URL(module, new URL("../../", import.meta.url))),
    ...args,
  ];
}

/** Runs a program to its end, whatever that is. */
export async function runProgram(command: readonly string[], options: ProgramOptions = {}): Promise<Finished> {
  const [program = "", ...args] = command;
  const { cwd, uid } = options;
  const child = spawn(program, args, {
    env: { ...process.env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
    timeout: options.limitMs ?? LIMIT_MS,
    killSignal: "SIGKILL",
    ...(cwd === undefined ? {} : { cwd }),
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    options.onOutput?.(stdout, child);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text);
  // The program may end before it has read its input.
  child.stdin.on("error", () => {});
  if (options.input !== undefined || options.onOutput === undefined) child.stdin.end(options.input ?? "");
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}
