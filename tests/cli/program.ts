import { type Command, moduleCommand, type ProgramOptions, runProgram as run } from "../support/program.ts";

/** The end of a call of the command line program. */
export interface Ended {
  readonly code: number | null;
  /** Standard output. */
  readonly out: string;
  /** Standard error. */
  readonly err: string;
}

/** The command of one call of the command line program, in this runtime. */
export function commandLine(args: readonly string[]): Command {
  return moduleCommand("cli/main.ts", args);
}

/** Runs the command line program to its end. */
export async function cli(args: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  return await runProgram(commandLine(args), options);
}

/** Runs a program to its end. */
export async function runProgram(command: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  const { code, stdout, stderr } = await run(command, options);
  return { code, out: stdout, err: stderr };
}
