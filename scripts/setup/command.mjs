// What the commands of scripts/ have in common: options, help and exit codes.
import process from "node:process";
import { parseArgs } from "node:util";
import { SetupError } from "./errors.mjs";

/** The command was called wrongly. */
export class UsageError extends Error {}

/** Runs a command, whose result is the exit code: a SetupError is shown as its text, a UsageError ends with 2. */
export async function run(work) {
  try {
    process.exitCode = (await work()) ?? 0;
  } catch (error) {
    const known = error instanceof SetupError || error instanceof UsageError;
    process.stderr.write(`${known ? error.message : error.stack}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

/** Runs a command that takes options: gives them to `work`, or shows the help when it is asked for. */
export async function runWith(help, options, work) {
  await run(async () => {
    const values = read({ ...options, help: { type: "boolean", short: "h" } }, help);
    if (!values.help) return await work(values);
    process.stdout.write(help);
  });
}

function read(options, help) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    throw new UsageError(`${error.message}\n\n${help}`);
  }
}
