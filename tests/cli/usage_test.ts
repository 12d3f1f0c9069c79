import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import test from "node:test";
import deno from "../../deno.json" with { type: "json" };
import { cli, commandLine, runProgram } from "./program.ts";

/** `script` of util-linux gives a program a terminal of its own. */
const NO_TERMINAL = spawnSync("script", ["--version"]).status !== 0 && "there is no `script` to make a terminal with";

const COMMANDS = [
  "chat",
  "complete",
  "tokenize",
  "info",
  "devices",
  "transcribe",
  "rpc-server",
  "convert-whisper",
] as const;

test("help goes to standard output and names every command", async () => {
  for (const args of [[], ["--help"], ["-h"], ["help"]]) {
    const { code, out, err } = await cli(args);
    assert.equal(code, 0);
    assert.equal(err, "");
    for (const name of COMMANDS) assert.match(out, new RegExp(`^  ${name} `, "m"));
  }
});

test("each command has a help of its own, with examples", async () => {
  for (const name of COMMANDS) {
    const { code, out, err } = await cli([name, "--help"]);
    assert.equal(code, 0);
    assert.equal(err, "");
    assert.match(out, new RegExp(`cli/main.ts ${name}`));
    assert.match(out, /-v, --verbose/);
    assert.match(out, /Examples:\n {2}# /);
  }
});

test("help is as wide as the terminal, and groups the options", async () => {
  for (const columns of [50, 80]) {
    for (const name of ["help", ...COMMANDS]) {
      const { out } = await cli(name === "help" ? ["help"] : [name, "--help"], { env: { COLUMNS: String(columns) } });
      // What is to be copied is never broken.
      const wide = out.split("\n").filter((line) => line.length > columns && !/cli\/main\.ts/.test(line));
      assert.deepEqual(wide, [], `${name} in ${columns} columns`);
    }
  }
  const { out } = await cli(["chat", "--help"]);
  const titles = [...out.matchAll(/^(\w+):$/gm)].map(([, title]) => title);
  assert.deepEqual(titles, ["Options", "Model", "Generation", "Sampling", "General", "Examples"]);
  assert.match(out, /--top-k K +choose .*\(default: 40\)/);
});

test("--version writes the package's version", async () => {
  assert.deepEqual(await cli(["--version"]), { code: 0, out: `${deno.version}\n`, err: "" });
});

test("wrong usage ends with 2, says what is wrong on standard error, and writes no result", async () => {
  const wrong: readonly (readonly [string[], RegExp])[] = [
    [["complet"], /there is no command "complet"; did you mean complete\?/],
    [["xyz"], /the commands are chat, complete, /],
    [["--json"], /"--json" is given before a command/],
    [["complete", "--tmep", "0"], /there is no flag --tmep; did you mean --temp\?/],
    [["complete", "-p", "a", "-n", "0"], /-n must be an integer from 1 to 2147483647, not "0"/],
    [["complete", "-p", "a", "--temp", "NaN"], /--temp must be a number from 0 to 100, not "NaN"/],
    [["complete", "-p", "a", "--top-p", "2"], /--top-p must be a number from 0 to 1, not "2"/],
    [["complete", "-p", "a", "b"], /the prompt was given twice: by -p, and as an argument/],
    [["complete", "a", "b"], /"b" is one argument too many/],
    [["complete"], /the prompt is empty/],
    [
      ["chat", "a", "--chat-template", "a", "--chat-template-file", "b"],
      /give one of --chat-template and --chat-template-f/,
    ],
    [["models", "mend"], /there is no "models mend"; there are list, pull, verify, remove and path/],
    [["models", "remove"], /models remove needs the name of a model/],
    [["info", "-m", "a", "b"], /the model was given twice: "a" by -m, and "b"/],
    [["tokenize", "a", "--ids", "--json"], /--ids and --json exclude each other/],
    [["complete", "-m"], /-m needs a value: -m MODEL/],
    [["devices", "a"], /"a" is one argument too many/],
    [["convert-whisper", "-o", "a"], /there is no model; give its file/],
    [["convert-whisper", "a"], /there is no place for the result; give -o FILE/],
    [["convert-whisper", "a", "-o", "b"], /needs its vocabulary; give --vocabulary FILE/],
    [["convert-whisper", "a", "-o", "b", "--from", "onnx"], /--from must be one of ct2, .*, not "onnx"/],
    [["convert-whisper", "a", "-o", "b", "--quantize", "q9"], /--quantize must be one of q4_0, .*, not "q9"/],
    [["convert-whisper", "vad.safetensors", "-o", "b", "--config", "c"], /--config is for safetensors models/],
  ];
  for (const [args, message] of wrong) {
    const { code, out, err } = await cli(args);
    assert.equal(code, 2, args.join(" "));
    assert.equal(out, "", args.join(" "));
    assert.match(err, message);
  }
});

test("on a terminal, a command that needs a text says so", { skip: NO_TERMINAL }, async () => {
  const missing: readonly (readonly [string[], RegExp])[] = [
    [["chat", "--json"], /--json needs a message; a conversation is for people/],
    [["complete"], /there is no prompt; give one as an argument, by -p, or on standard input/],
    [["tokenize"], /there is no text; give it as an argument, by -p, or on standard input/],
  ];
  for (const [args, message] of missing) {
    const line = commandLine(args).map((part) => `'${part}'`).join(" ");
    const { code, out } = await runProgram(["script", "-qec", line, "/dev/null"]);
    assert.match(out, message);
    assert.equal(code, 2, args.join(" "));
  }
});

test("another runtime is told which ones the library runs in", async () => {
  const own = Object.getOwnPropertyDescriptor(process, "versions") ?? {};
  Object.defineProperty(process, "versions", { configurable: true, value: { node: "24.0.0" } });
  try {
    await assert.rejects(
      import("../../cli/runtime_check.ts"),
      /needs Deno 2\.9 or Bun 1\.4, or newer: run your program by `bun` or/,
    );
  } finally {
    Object.defineProperty(process, "versions", own);
  }
});

test("a reader that goes away ends the program quietly", async () => {
  const [program, ...args] = commandLine(["--help"]);
  const shell = ["sh", "-c", '"$@" | true; exit 0', "sh", program, ...args];
  assert.deepEqual(await runProgram(shell), { code: 0, out: "", err: "" });
});

test("output that can't be written ends with 1 and says why", { skip: !existsSync("/dev/full") }, async () => {
  const command = commandLine(["--help"]);
  const { code, err } = await runProgram(["sh", "-c", 'exec "$@" > /dev/full', "sh", ...command]);
  assert.equal(code, 1);
  assert.match(err, /^error: the output can't be written: .*(No space|ENOSPC).*\nAdd -v for details\.\n$/);
});

test("standard input that is a folder ends with 1 and says so", { skip: process.platform === "win32" }, async () => {
  for (const args of [["complete", "-p", "-"], ["complete"], ["chat"], ["tokenize"]]) {
    const shell = ["sh", "-c", 'exec "$@" < /', "sh", ...commandLine(args)];
    assert.deepEqual(await runProgram(shell), {
      code: 1,
      out: "",
      err:
        "error: standard input can't be read: it is a folder; give a file, or the text itself\nAdd -v for details.\n",
    });
  }
});
