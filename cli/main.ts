/**
 * The command line program: `deno run -A cli/main.ts` and `bun cli/main.ts` do the same.
 *
 * @module
 */
import { messageOf } from "../base/error.ts";
import process from "node:process";
import { GgmlError, InvalidArgumentError } from "../lib/errors.ts";
import type { Command } from "./command.ts";
import { EXIT, InterruptedError, OutputClosedError, StreamError, UsageError } from "./errors.ts";
import { type Flag, inFlags } from "./flags/flag.ts";
import { commandHelp, COMMON_FLAGS, programHelp } from "./flags/help.ts";
import { nearest, parseFlags } from "./flags/parse.ts";
import { print, say, styled, watchOutput } from "./terminal/output.ts";
import { packageVersion } from "../base/version.ts";

/** Each is imported when it is asked for: what isn't used costs nothing. */
const COMMANDS: Readonly<Record<string, () => Promise<{ command: Command }>>> = {
  chat: () => import("./commands/chat.ts"),
  complete: () => import("./commands/complete.ts"),
  tokenize: () => import("./commands/tokenize.ts"),
  info: () => import("./commands/info.ts"),
  devices: () => import("./commands/devices.ts"),
  transcribe: () => import("./commands/transcribe.ts"),
  models: () => import("./commands/models.ts"),
  "install-libraries": () => import("./commands/install_libraries.ts"),
  "rpc-server": () => import("./commands/rpc_server.ts"),
  "convert-whisper": () => import("./commands/convert_whisper.ts"),
};

/** The flags of the command that runs. */
let flags: readonly Flag[] = [];

async function main(args: readonly string[]): Promise<number> {
  const [name = "--help", ...rest] = args;
  if (name === "--version" || name === "-V") return await showVersion();
  if (name === "--help" || name === "-h" || name === "help") return await showHelp(rest[0]);
  const command = await findCommand(name);
  flags = command.flags;
  const given = parseFlags(rest, [...command.flags, ...COMMON_FLAGS]);
  if (given.has("help")) return await showHelp(name);
  const extra = given.positionals[command.maxPositionals];
  if (extra !== undefined) {
    throw new UsageError(`"${extra}" is one argument too many; put a text with spaces in quotes`);
  }
  return await command.run(given);
}

async function findCommand(name: string): Promise<Command> {
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load !== undefined) return (await load()).command;
  const near = nearest(name, Object.keys(COMMANDS));
  const what = name.startsWith("-") ? `"${name}" is given before a command` : `there is no command "${name}"`;
  throw new UsageError(
    near === undefined
      ? `${what}; the commands are ${Object.keys(COMMANDS).join(", ")}`
      : `${what}; did you mean ${near}?`,
  );
}

async function showHelp(name: string | undefined): Promise<number> {
  if (name !== undefined) {
    await print(commandHelp(await findCommand(name), columns()));
    return EXIT.fine;
  }
  const commands = await Promise.all(Object.values(COMMANDS).map(async (load) => (await load()).command));
  await print(programHelp(commands, columns()));
  return EXIT.fine;
}

/** The width of the terminal that the help goes to. */
function columns(): number | undefined {
  const named = Number(process.env["COLUMNS"]);
  return process.stdout.isTTY ? process.stdout.columns : Number.isInteger(named) && named > 0 ? named : undefined;
}

async function showVersion(): Promise<number> {
  await print(`${packageVersion}\n`);
  return EXIT.fine;
}

/** Tells the user what went wrong, and gives the exit code. */
function explain(error: unknown, verbose: boolean): number {
  if (error instanceof OutputClosedError) return EXIT.fine;
  if (error instanceof InterruptedError) return EXIT.interrupted;
  const usage = error instanceof UsageError || error instanceof InvalidArgumentError;
  say(`${styled("red", "error:")} ${inFlags(messageOf(error), flags)}`);
  if (usage) say("Add --help to see what can be given.");
  else if (verbose || !(error instanceof GgmlError || error instanceof StreamError)) say(details(error));
  else say("Add -v for details.");
  return usage ? EXIT.usage : EXIT.failed;
}

function details(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const cause = error.cause === undefined ? "" : `\ncaused by: ${details(error.cause) || String(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}

watchOutput();
const args = process.argv.slice(2);
let code: number;
try {
  code = await main(args);
} catch (error) {
  code = explain(error, args.includes("-v") || args.includes("--verbose"));
}
process.exit(code);
