/** What the tests with real models share. */

import { after } from "node:test";
import { defaultModelPath, loadModel, type Model, type ModelOptions } from "../../mod.ts";
import { type Command, type Finished, moduleCommand, runProgram, type RuntimeName } from "../support/program.ts";

export { type Finished, ROOT as root, runtime } from "../support/program.ts";

/** Options of a test that may take long on a busy machine. Bun's own limit is five seconds. */
export const slow: { timeout: number } = { timeout: 120_000 };

/** One thread: other tests may run at the same time, and ggml's threads spin. */
const quiet: ModelOptions = { threads: 1 };

/** The default model, small enough for tests. */
export async function testModel(options: ModelOptions = {}): Promise<Model> {
  return await loadModel(await defaultModelPath(), { ...quiet, contextSize: 512, ...options });
}

/** Returns the default model, loaded once for the tests of a file that leave it as it was, and disposed after the last of them. */
export function sharedModel(options: ModelOptions = {}): () => Promise<Model> {
  let model: Promise<Model> | undefined;
  after(async () => await (await model)?.dispose());
  return () => model ??= testModel(options);
}

/** A system message with which the small model answers well. */
export const system = "You are a helpful assistant.";

/** A prompt of about this many tokens. */
export function longPrompt(model: Model, tokens: number): string {
  const sentence = "The quick brown fox jumps over the lazy dog, and then it runs away. ";
  const perSentence = model.tokenize(sentence).length;
  return sentence.repeat(Math.ceil(tokens / perSentence));
}

/** The command that runs a module of the source tree in a runtime. */
export function command(
  which: RuntimeName,
  module: string,
  args: readonly string[],
  denoFlags: readonly string[] = ["-A"],
): Command {
  return moduleCommand(module, args, which, denoFlags);
}

/** Runs a program to its end; it is killed after 110 s. */
export function run(
  program: Command,
  env: Readonly<Record<string, string>> = {},
  uid?: number,
): Promise<Finished> {
  return runProgram(program, { env, uid });
}
