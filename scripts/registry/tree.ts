/** A copy of the source tree in which each guard asks the probe before it refuses. */

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { capture } from "../support/exec.ts";
import { ROOT } from "../support/root.ts";
import type { Guard } from "./guards.ts";
import { LOG, WITHOUT } from "./probe.ts";

const LIMIT_MS = 240_000;
const SKIPPED = /^(node_modules|native|\.git|\.tmp|\.zig-cache|docs|bench|build)$/;
const PROBE = "scripts/registry/probe.ts";

/** Options of {@linkcode InstrumentedTree.test}. */
export interface TestRun {
  /** The test of that name alone. */
  readonly name?: string | undefined;
  /** The guard that is taken away. */
  readonly without?: string;
  /** The file that gets the guards that refuse. */
  readonly log?: string;
  /** Milliseconds until it is ended, which is a failure (default: 240,000): without its guard a loop may go on for ever. */
  readonly limitMs?: number | undefined;
}

/** The copy; disposing it deletes its files. */
export class InstrumentedTree implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "ggml-ffi-guards-"));

  constructor(guards: readonly Guard[]) {
    for (const name of readdirSync(ROOT)) {
      if (!SKIPPED.test(name)) cpSync(join(ROOT, name), join(this.folder, name), { recursive: true });
    }
    for (const name of ["node_modules", "native", "docs", "bench", "build"]) {
      symlinkSync(join(ROOT, name), join(this.folder, name));
    }
    for (const [file, ours] of Map.groupBy(guards, ({ file }) => file)) {
      this.#rewrite(file, (text) => asking(text, ours));
    }
    for (const name of readdirSync(join(this.folder, "tests"), { recursive: true, encoding: "utf8" })) {
      if (name.endsWith("_test.ts")) this.#rewrite(`tests/${name}`, (text) => naming(`tests/${name}`, text));
    }
  }

  /** Runs a test file in Deno; gives its exit code, or the signal that ended it. */
  async test(file: string, { name, without, log, limitMs = LIMIT_MS }: TestRun): Promise<number | string | null> {
    const filter = name === undefined ? [] : ["--filter", `/^${RegExp.escape(name)}$/`];
    const env = {
      ...(without === undefined ? {} : { [WITHOUT]: without }),
      ...(log === undefined ? {} : { [LOG]: log }),
    };
    const command = [process.execPath, "test", "-A", "--no-check", "--fail-fast", ...filter, file];
    return (await capture(command, { cwd: this.folder, env, limitMs })).code;
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #rewrite(file: string, change: (text: string) => string): void {
    const path = join(this.folder, file);
    writeFileSync(path, change(readFileSync(path, "utf8")));
  }
}

/** The text of a file whose guards ask. Lines stay where they are. */
function asking(text: string, guards: readonly Guard[]): string {
  const [first] = guards;
  if (first === undefined) return text;
  let code = text;
  for (const { id, start, end, kind } of guards.toReversed()) {
    const words = code.slice(start, end);
    const asks = `__guard.stands(${JSON.stringify(id)})`;
    // A loop, not a condition: an `else` behind it would belong to that.
    const changed = kind === "throw"
      ? `while (${asks}) ${words}`
      : `(${asks} ? (...__values: any[]) => (${words} as any)(...__values) : __guard.nothing)`;
    code = code.slice(0, start) + changed + code.slice(end);
  }
  return `import * as __guard from "${path(first.file, PROBE)}"; ${code}`;
}

/** The text of a test file that tells the probe which test runs. */
function naming(file: string, text: string): string {
  return text.replace(/from "node:test"/, `from "${path(file, "scripts/registry/named_test.ts")}"`);
}

function path(from: string, to: string): string {
  const found = relative(dirname(from), to).replaceAll("\\", "/");
  return found.startsWith(".") ? found : `./${found}`;
}
