// Options, help and exit codes of the commands of scripts/.
import process from "node:process";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { SetupError, UsageError } from "./errors.ts";

/** A command of scripts/. */
export interface CommandSpec<Options extends ParseArgsOptionsConfig> {
  /** The text of `--help`. */
  readonly help: string;
  readonly options?: Options;
  /** Whether arguments without a flag are taken (default: no). */
  readonly allowPositionals?: boolean;
}

/** The values of a command's options. */
export type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: boolean }>
>["values"];

/**
 * Runs a command: shows its help when that is asked for, else calls `work`, whose result is the exit code (default 0). A SetupError is shown as its text; a
 * UsageError ends with 2.
 */
export async function runCommand<Options extends ParseArgsOptionsConfig>(
  spec: CommandSpec<Options>,
  work: (values: Values<Options>, positionals: readonly string[]) => Promise<number | void> | number | void,
): Promise<void> {
  try {
    const { values, positionals } = read(spec);
    if ((values as { help?: boolean }).help === true) process.stdout.write(spec.help);
    else process.exitCode = await work(values, positionals) ?? 0;
  } catch (error) {
    const isKnown = error instanceof SetupError || error instanceof UsageError;
    process.stderr.write(`${isKnown || !(error instanceof Error) ? (error as Error).message : error.stack}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

function read<Options extends ParseArgsOptionsConfig>(
  { help, options, allowPositionals = false }: CommandSpec<Options>,
): { values: Values<Options>; positionals: string[] } {
  const all = { ...options, help: { type: "boolean", short: "h" } } as unknown as Options;
  try {
    return parseArgs({ options: all, allowPositionals });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${help}`);
  }
}
