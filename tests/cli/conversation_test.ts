import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import process from "node:process";
import test from "node:test";
import { commandLine } from "./program.ts";

/** `script` of util-linux gives the program a terminal of its own. */
const NO_TERMINAL = spawnSync("script", ["--version"]).status !== 0 && "there is no `script` to make a terminal with";

/** Talks to the program on a terminal: waits for a text after all that came before, then types. */
class Conversation {
  #seen = "";
  #at = 0;
  #wake = () => {};
  readonly #child;
  readonly ended: Promise<number | null>;

  constructor(args: readonly string[]) {
    // Without `exec` some shells stay between the terminal and the program, take Ctrl-C as well, and end with 130.
    const line = `exec ${commandLine(args).map((word) => `'${word}'`).join(" ")}`;
    this.#child = spawn("script", ["-qefc", line, "/dev/null"], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, SHELL: "/bin/sh", NO_COLOR: "1", TERM: "xterm" },
    });
    this.ended = new Promise((resolve) => this.#child.once("close", resolve));
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#seen += text;
      this.#wake();
    });
    this.#child.once("close", () => this.#wake());
  }

  async see(text: string): Promise<void> {
    while (true) {
      const at = this.#seen.indexOf(text, this.#at);
      if (at >= 0) return void (this.#at = at + text.length);
      assert.equal(
        this.#child.exitCode,
        null,
        `ended before ${JSON.stringify(text)} came: ${JSON.stringify(this.#seen)}`,
      );
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  has(text: string): boolean {
    return this.#seen.includes(text);
  }

  type(keys: string): void {
    this.#child.stdin.write(keys);
  }
}

const CTRL_C = "\x03";
const CTRL_D = "\x04";
const UP = "\x1b[A";
const LEFT = "\x1b[D";

test(
  "a conversation: an answer, Ctrl-C stops the next one and not the program, history, Ctrl-D",
  { skip: NO_TERMINAL },
  async () => {
    const talk = new Conversation(["chat", "-t", "1", "--temp", "0"]);
    await talk.see("> ");
    talk.type("What is the capital of France?\r");
    await talk.see("Paris");
    await talk.see("> ");
    talk.type("Count from 1 to 1000, each number on a line.\r");
    await talk.see("1000");
    await talk.see("2");
    talk.type(CTRL_C);
    await talk.see("(stopped");
    await talk.see("> ");
    talk.type(`${UP}${UP}`);
    await talk.see("What is the capital of France?");
    talk.type("\r");
    await talk.see("Paris");
    await talk.see("> ");
    talk.type(CTRL_D);
    assert.equal(await talk.ended, 0);
  },
);

test("Ctrl-C twice on an empty line, and /exit, end a conversation", { skip: NO_TERMINAL }, async () => {
  const twice = new Conversation(["chat", "-t", "1"]);
  await twice.see("> ");
  twice.type(CTRL_C);
  await twice.see("Ctrl-C again");
  twice.type(CTRL_C);
  assert.equal(await twice.ended, 0);
  const exit = new Conversation(["chat", "-t", "1"]);
  await exit.see("> ");
  exit.type("/help\r");
  await exit.see("/reset forgets");
  exit.type("/exit\r");
  assert.equal(await exit.ended, 0);
});

test("lines that come together are taken one after another, and what is typed behind them is kept", {
  skip: NO_TERMINAL,
}, async () => {
  const talk = new Conversation(["chat", "-t", "1"]);
  await talk.see("> ");
  talk.type("/help\r/help\r/ex");
  for (let count = 0; count < 2; count++) await talk.see("Ctrl-D ends it");
  await talk.see("/ex");
  talk.type("it\r");
  assert.equal(await talk.ended, 0);
});

test("Ctrl-D that comes together with a line ends the conversation after it", { skip: NO_TERMINAL }, async () => {
  const talk = new Conversation(["chat", "-t", "1"]);
  await talk.see("> ");
  talk.type(`/help\r${CTRL_D}`);
  await talk.see("/reset forgets");
  assert.equal(await talk.ended, 0);
});

test("what is typed while an answer is written is kept for the next prompt, and arrow keys edit it", {
  skip: NO_TERMINAL,
}, async () => {
  const talk = new Conversation(["chat", "-t", "1", "--temp", "0"]);
  await talk.see("Smollm2 135M");
  await talk.see("> ");
  talk.type("Count from 1 to 1000, each number on a line.\r");
  await talk.see("on a line.");
  await talk.see("e");
  // A whole line, and the start of another one whose last letters are put before the first.
  talk.type(`/help\rit${LEFT}${LEFT}/ex`);
  talk.type(CTRL_C);
  await talk.see("(stopped");
  // The line that waited went with the answer.
  await talk.see("> /exit");
  talk.type("\r");
  assert.equal(await talk.ended, 0);
});

test(
  "a full context doesn't end a conversation: the oldest messages are forgotten",
  { skip: NO_TERMINAL },
  async () => {
    const talk = new Conversation(["chat", "-t", "1", "--temp", "0", "-n", "24", "-c", "256"]);
    await talk.see("context of 256 tokens");
    await talk.see("> ");
    for (let round = 0; round < 4; round++) {
      // Short on the screen and long in tokens: a line that is wrapped is drawn again with its prompt.
      talk.type(`${"🦜".repeat(20)} why?\r`);
      await talk.see("why?");
      await talk.see("> ");
    }
    assert.ok(talk.has("(the context is full: the oldest messages are forgotten)"));
    talk.type(`${"red ".repeat(400)}\r`);
    await talk.see("shorten the message");
    await talk.see("> ");
    talk.type("/exit\r");
    assert.equal(await talk.ended, 0);
  },
);
