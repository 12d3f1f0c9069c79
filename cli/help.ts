import type { Command } from "./command.ts";
import { type Flag, placeholder, spellings } from "./flags.ts";

/** Flags that every command has. */
export const COMMON_FLAGS: readonly Flag[] = [
  {
    name: "verbose",
    short: "v",
    help: "say on standard error what is used, what llama.cpp logs, how long it took, and the details of errors",
  },
  { name: "help", short: "h", help: "show this help" },
];

/** The help of the whole program. @param commands in the order to list them. */
export function programHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  return [
    "Runs language models on this machine, with llama.cpp, in Deno or in Bun.",
    "",
    "Usage:",
    "  deno run -A cli/main.ts COMMAND [OPTIONS]",
    "  bun cli/main.ts COMMAND [OPTIONS]",
    "",
    "Commands:",
    ...commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`),
    "",
    "Start here:",
    '  deno run -A cli/main.ts chat "What is the capital of France?"',
    "  deno run -A cli/main.ts chat          a conversation; Ctrl-D ends it",
    "  deno run -A cli/main.ts chat --help   all that chat can do; the same for each command",
    "",
    "Without -m the default model is used, a small one that `npm run setup` brings.",
    "Results go to standard output, everything else to standard error.",
    "Exit codes: 0 fine, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C.",
    "",
  ].join("\n");
}

/** The help of one command. */
export function commandHelp(command: Command): string {
  const flags = [...command.flags, ...COMMON_FLAGS];
  const written = flags.map((flag) =>
    spellings(flag).join(", ") + (flag.takes === undefined ? "" : ` ${placeholder(flag)}`)
  );
  const width = Math.max(...written.map((text) => text.length));
  return [
    command.description,
    "",
    `Usage: deno run -A cli/main.ts ${command.name} ${command.usage}`,
    `       bun cli/main.ts ${command.name} ${command.usage}`,
    "",
    "Options:",
    ...flags.map((flag, at) => `  ${written[at]?.padEnd(width)}  ${flag.help}`),
    "",
    "Examples:",
    ...command.examples.flatMap(([line, what]) => [`  # ${what}`, `  ${line}`]),
    "",
  ].join("\n");
}
