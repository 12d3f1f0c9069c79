// Running other programs.
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { SetupError } from "./errors.ts";

const OUTPUT_TAIL = 20_000;
const LAST_LINES = 15;

/** Options of {@linkcode run}. */
export interface RunOptions {
  readonly cwd?: string | undefined;
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The name of the work in an error (default: the command). */
  readonly task?: string | undefined;
}

/** Runs a program and returns its standard output. Throws SetupError with the last lines of its output when it fails. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { cwd, env, task = command } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32" && /^(npm|npx)$/.test(command),
    });
    let stdout = "";
    let both = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      both = (both + text).slice(-OUTPUT_TAIL);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => both = (both + text).slice(-OUTPUT_TAIL));
    child.on("error", (error) => reject(new SetupError(`${task}: ${command} can't be started: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) return resolve(stdout);
      const end = signal === null ? `exit code ${code}` : `signal ${signal}`;
      const last = both.trim().split("\n").slice(-LAST_LINES).join("\n");
      reject(new SetupError(`${task} failed: ${command} ended with ${end}${last && `\n${last}`}`));
    });
  });
}

/** The trimmed standard output of a program; `undefined` when it can't be started or fails. */
export async function answer(command: string, args: readonly string[]): Promise<string | undefined> {
  try {
    return (await run(command, args)).trim();
  } catch {
    return undefined;
  }
}

/** The end of a program that {@linkcode capture} ran. */
export interface Captured {
  /** The exit code, or the signal that ended it. */
  readonly code: number | string | null;
  /** Standard output and standard error, in the order in which they came. */
  readonly text: string;
  readonly timedOut: boolean;
}

/** Programs that {@linkcode capture} runs: they end with this one. */
const captured = new Set<ChildProcess>();
let endsCaptured = false;

/** Passes the signals that end this program on to its children, which would go on without it. */
function endCapturedBySignal(): void {
  if (endsCaptured) return;
  endsCaptured = true;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      for (const child of captured) child.kill("SIGKILL");
      process.kill(process.pid, signal);
    });
  }
}

/** Runs a program to its end, whatever that is. It is killed after `limitMs`, and when a signal ends this one. */
export function capture(
  [program = "", ...args]: readonly string[],
  options: { cwd: string; env?: Readonly<Record<string, string>>; limitMs: number },
): Promise<Captured> {
  return new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...options.env };
    endCapturedBySignal();
    const child = spawn(program, args, { cwd: options.cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    captured.add(child);
    let text = "";
    let timedOut = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (part: string) => text += part);
    }
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill("SIGKILL");
    }, options.limitMs);
    child.on("error", (error) => text += error.message);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      captured.delete(child);
      resolve({ code: code ?? signal, text: text.replaceAll("\r\n", "\n"), timedOut });
    });
  });
}

/** Runs a program with this one's terminal; signals are passed on. Returns its exit code; a signal that ends it ends this process too. */
export function runAttached(program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", env: { DENO_NO_UPDATE_CHECK: "1", ...process.env } });
    // The terminal sends its signals to the child too, which decides what they mean; those sent to this process alone are passed on.
    process.on("SIGINT", () => {});
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
    child.on("error", (error) => reject(new SetupError(`${program} can't be started: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (signal === null) return resolve(code ?? 1);
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    });
  });
}
