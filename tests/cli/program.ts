import { type ChildProcess, spawn } from "node:child_process";
import { basename } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The arguments that start the command line program in the runtime that runs this test. */
const START: readonly string[] = [
  ...(basename(process.execPath).startsWith("deno") ? ["run", "-A"] : []),
  fileURLToPath(new URL("../../cli/main.ts", import.meta.url)),
];

/** How the program ended. */
export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** What a test does beside starting the program. */
export interface ProgramOptions {
  /** Its standard input. */
  input?: string;
  env?: Record<string, string>;
  /** Called with all of standard output so far, each time there is more. */
  onOutput?: (out: string, child: ChildProcess) => void;
}

/** The program and the arguments of one call of the command line program. */
export function commandLine(args: readonly string[]): [program: string, ...args: string[]] {
  return [process.execPath, ...START, ...args];
}

/** Runs the command line program to its end. */
export async function cli(args: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  return await runProgram(commandLine(args), options);
}

/** Runs a program to its end. */
export async function runProgram(command: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  const [program = "", ...args] = command;
  const env = { ...process.env, NO_COLOR: "1", ...options.env };
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    options.onOutput?.(out, child);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => err += text);
  child.stdin.on("error", () => {});
  if (options.input !== undefined || options.onOutput === undefined) child.stdin.end(options.input ?? "");
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, out, err };
}
