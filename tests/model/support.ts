/** What the tests with real models share. */

import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { defaultModelPath, loadModel, type Model, type ModelOptions } from "../../mod.ts";

/** Options of a test that may take long on a busy machine. Bun's own limit is five seconds. */
export const slow: { timeout: number } = { timeout: 120_000 };

/** Repository root. */
export const root: string = fileURLToPath(new URL("../..", import.meta.url));

/** One thread: other tests may run at the same time, and ggml's threads spin. */
const quiet: ModelOptions = { threads: 1 };

/** The default model, small enough for tests. */
export async function testModel(options: ModelOptions = {}): Promise<Model> {
  return await loadModel(await defaultModelPath(), { ...quiet, contextSize: 512, ...options });
}

/** A system message with which the small model answers well. */
export const system = "You are a helpful assistant.";

/** A prompt of about this many tokens. */
export function longPrompt(model: Model, tokens: number): string {
  const sentence = "The quick brown fox jumps over the lazy dog, and then it runs away. ";
  const perSentence = model.tokenize(sentence).length;
  return sentence.repeat(Math.ceil(tokens / perSentence));
}

/** What a finished program left. */
export interface Finished {
  /** The exit code; `null` when a signal ended it. */
  code: number | null;
  /** The signal that ended it. */
  signal: string | null;
  /** What it wrote. */
  stdout: string;
  /** What it wrote to its error stream. */
  stderr: string;
}

/** Which of the two runtimes this is. */
export const runtime: "deno" | "bun" = "bun" in process.versions ? "bun" : "deno";

/** The arguments that run a module of the tests in a runtime. */
export function command(
  which: "deno" | "bun",
  module: string,
  args: readonly string[],
  denoFlags: readonly string[] = ["-A"],
): [string, string[]] {
  const name = process.platform === "win32" ? `${which}.exe` : which;
  const program = which === runtime ? process.execPath : join(root, "node_modules", ".bin", name);
  return [program, [...(which === "deno" ? ["run", "--no-check", ...denoFlags] : []), join(root, module), ...args]];
}

/** Runs a program to its end. It is ended after a minute. */
export function run(
  [program, args]: readonly [string, readonly string[]],
  env: Readonly<Record<string, string>> = {},
  uid?: number,
): Promise<Finished> {
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 110_000,
    killSignal: "SIGKILL",
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => stdout += text);
  child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}
