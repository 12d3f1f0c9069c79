/** Upstream's own programs, which the tests compare with: built unless the cache has them. */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureWhisperTools } from "../../scripts/build/whisper_tools.ts";

const run = promisify(execFile);

let folder: Promise<string> | undefined;

/** Runs `whisper-cli` or `whisper-vad-speech-segments` and gives what it wrote. */
export async function upstream(
  program: "whisper-cli" | "whisper-vad-speech-segments",
  args: readonly string[],
  stream: "stdout" | "stderr" = "stdout",
): Promise<string> {
  folder ??= ensureWhisperTools();
  return (await run(join(await folder, program), [...args], { maxBuffer: 1 << 26 }))[stream];
}
