import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import process from "node:process";

/** A child process that answers each line of its standard input with one line of JSON. */
export class LineChild {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout === null) throw new Error("the child has no standard output");
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** Starts a child and waits for its first line, which says that it is ready. */
  static async start(command: readonly string[], env: Record<string, string> = {}): Promise<LineChild> {
    const [program = "", ...args] = command;
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, ...env } });
    const started = new LineChild(child);
    await started.#next();
    return started;
  }

  /** Sends a line and gives what came back. */
  async ask<T>(line: string): Promise<T> {
    this.#child.stdin?.write(`${line}\n`);
    return JSON.parse(await this.#next()) as T;
  }

  /** Ends the child's input and waits for it to end. */
  async stop(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#child.once("close", () => resolve()));
    this.#child.stdin?.end();
    await ended;
  }

  async #next(): Promise<string> {
    const next = await this.#lines.next();
    if (next.done) throw new Error(`${this.#child.spawnargs.join(" ")} ended early`);
    return next.value;
  }
}
