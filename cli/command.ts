import type { Flag } from "./flags/flag.ts";
import type { Given } from "./flags/parse.ts";

/** A subcommand: one file each, named after it. */
export interface Command {
  /** The name on the command line. */
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The usage line behind the name. */
  readonly usage: string;
  /** A few sentences for the command's own help. */
  readonly description: string;
  /** Its own flags. Those that every command has are added by `main.ts`. */
  readonly flags: readonly Flag[];
  /** Maximum number of arguments without a flag. */
  readonly maxPositionals: number;
  /** Command lines that work as they are, each with what it does. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  /** Does the work, and gives the exit code. */
  run(given: Given): Promise<number>;
}
