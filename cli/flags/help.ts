import process from "node:process";
import { programCommands } from "../../ffi/library/program.ts";
import type { Command } from "../command.ts";
import { type Flag, placeholder, spellings } from "./flag.ts";

/** Flags that every command has. */
export const COMMON_FLAGS: readonly Flag[] = [
  {
    name: "verbose",
    short: "v",
    group: "General",
    help: "show the libraries in use, llama.cpp's log, timings and the details of errors on standard error",
  },
  { name: "help", short: "h", group: "General", help: "show this help" },
];

/** Narrower than this, lines are wider than the terminal. */
const MIN_WIDTH = 40;
/** Wider than this, lines are hard to read. */
const MAX_WIDTH = 100;
/** Wider flags have their help on the next line. */
const MAX_FLAG_WIDTH = 34;

/** The help of the whole program. @param commands in the order to list them. @param columns the width of the terminal. */
export function programHelp(commands: readonly Command[], columns: number | undefined): string {
  const width = widthOf(columns);
  const rows = (entries: readonly (readonly [string, string])[]) => table(entries, width);
  const { deno, bun } = programCommands();
  const own = "bun" in process.versions ? bun : deno;
  return [
    ...wrap("Runs language and speech models on this machine, by llama.cpp and whisper.cpp, in Deno or in Bun.", width),
    "",
    "Usage:",
    `  ${deno} COMMAND [OPTIONS]`,
    `  ${bun} COMMAND [OPTIONS]`,
    "",
    "Commands:",
    ...rows(commands.map(({ name, summary }) => [name, summary])),
    "",
    "Start here:",
    ...rows([
      [`${own} chat "What is the capital of France?"`, "an answer"],
      [`${own} chat`, "a conversation; Ctrl-D ends it"],
      [`${own} chat --help`, "the options of chat; the same for each command"],
    ]),
    "",
    ...wrap("Without -m a small default model is used; in a clone of the repository `npm run setup` brings it.", width),
    ...wrap("Results go to standard output, everything else to standard error.", width),
    ...wrap("Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted by Ctrl-C.", width),
    "",
  ].join("\n");
}

/** The help of one command. @param columns the width of the terminal. */
export function commandHelp(command: Command, columns: number | undefined): string {
  const width = widthOf(columns);
  const { deno, bun } = programCommands();
  const groups = Map.groupBy([...command.flags, ...COMMON_FLAGS], ({ group }) => group ?? "Options");
  return [
    ...command.description.split("\n").flatMap((line) => wrap(line, width)),
    "",
    `Usage: ${deno} ${command.name} ${command.usage}`,
    `       ${bun} ${command.name} ${command.usage}`,
    ...Array.from(groups, ([title, flags]) => ["", `${title}:`, ...table(flags.map(rowOf), width)]).flat(),
    "",
    "Examples:",
    ...command.examples.flatMap(([line, what]) => {
      return [`  # ${what}`, `  ${line.replace("deno run -A cli/main.ts", deno).replace("bun cli/main.ts", bun)}`];
    }),
    "",
  ].join("\n");
}

function widthOf(columns: number | undefined): number {
  return Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, (columns ?? MAX_WIDTH + 1) - 1));
}

function rowOf(flag: Flag): readonly [string, string] {
  const names = spellings(flag).join(", ") + (flag.takes === undefined ? "" : ` ${placeholder(flag)}`);
  return [
    names,
    flag.help + (flag.many ? "; may be repeated" : "") +
    (flag.default === undefined ? "" : ` (default: ${flag.default})`),
  ];
}

/** Two columns: what doesn't fit into the first has the second below it. */
function table(rows: readonly (readonly [string, string])[], width: number): string[] {
  const widest = Math.min(MAX_FLAG_WIDTH, Math.floor(width / 3));
  const first = Math.max(...rows.map(([name]) => name.length).filter((length) => length <= widest), 0);
  const indent = first + 4;
  return rows.flatMap(([name, text]) => {
    const lines = wrap(text, width - indent).map((line) => " ".repeat(indent) + line);
    if (name.length > first) return [...wrap(name, width - 2).map((line) => `  ${line}`), ...lines];
    const [start = "", ...rest] = lines;
    return [`  ${name.padEnd(first)}  ${start.trimStart()}`, ...rest];
  });
}

/** Breaks a text at spaces; a longer word has a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
