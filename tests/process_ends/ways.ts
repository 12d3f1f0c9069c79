/** Ways in which a program ends. */

import type { ChildProcess } from "node:child_process";
import process from "node:process";
import type { RuntimeName } from "../support/program.ts";

/** The exit code of programs that choose one. */
const CODE = 3;

/** A way to end. */
export interface Way {
  /** The program's own act. */
  readonly leave?: () => void;
  /** The act of the program that started it. */
  readonly end?: (child: ChildProcess) => void;
  /** Whether the work goes on after it, and the time until the end counts from the work's own end. */
  readonly waits?: true;
  /** Whether the work runs in a Worker of the program, which is terminated. */
  readonly worker?: true;
  /** The only runtime that has it. */
  readonly only?: RuntimeName;
}

const kill = (signal: NodeJS.Signals): Way => ({ end: (child) => child.kill(signal) });

/** Each way by its name. */
export const ways: Readonly<Record<string, Way>> = {
  "falling off the end": { waits: true },
  "process.exit": { leave: () => process.exit(CODE) },
  "Deno.exit": {
    leave: () => (globalThis as unknown as { Deno: { exit(code: number): never } }).Deno.exit(CODE),
    only: "deno",
  },
  "an uncaught error": {
    leave: () =>
      setTimeout(() => {
        throw new Error("not caught");
      }),
  },
  "an unhandled rejection": { leave: () => void Promise.reject(new Error("not handled")) },
  "a Worker's terminate": { worker: true },
  "a closed stdout": {
    end: (child) => {
      child.stdout?.destroy();
      child.stdin?.end("closed\n");
    },
  },
  SIGINT: kill("SIGINT"),
  SIGTERM: kill("SIGTERM"),
  SIGHUP: kill("SIGHUP"),
  SIGKILL: kill("SIGKILL"),
};
