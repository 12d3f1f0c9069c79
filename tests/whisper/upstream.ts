/** Upstream's own programs, which the tests compare with. `node scripts/whisper_tools.mjs` builds them unless the cache has them. */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const script = fileURLToPath(new URL("../../scripts/whisper_tools.mjs", import.meta.url));

let folder: Promise<string> | undefined;

/** Runs `whisper-cli` or `whisper-vad-speech-segments` and gives what it wrote. */
export async function upstream(
  program: "whisper-cli" | "whisper-vad-speech-segments",
  args: readonly string[],
  stream: "stdout" | "stderr" = "stdout",
): Promise<string> {
  folder ??= run("node", [script]).then(({ stdout }) => stdout.trim().split("\n").at(-1) ?? "");
  return (await run(join(await folder, program), [...args], { maxBuffer: 1 << 26 }))[stream];
}
