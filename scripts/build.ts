// npm run build: builds the libraries of any target.
import process from "node:process";
import { ensureLibraries } from "./build/libraries.ts";
import { ensureWhisperTools } from "./build/whisper_tools.ts";
import { ensureTools } from "./setup/setup.ts";
import { runCommand } from "./support/command.ts";

const help =
  `Builds the libraries of one target, unless the cache has them, links native/<target> to them and prints their folder.

Usage: npm run build -- [options]

  --target NAME      the target (default: this machine's), see build/targets.zig
  --variants LIST    CPU variants: all, native (baseline and this machine's best) or a list such as x64,zen4 (default: native, for another architecture all)
  --set NAME=VALUE   any other option of build.zig, such as optimize=safe or amx=false; may be repeated
  --whisper-tools    upstream's whisper-cli and whisper-vad-speech-segments instead, which the tests and the benchmark compare with; prints their folder
  -h, --help         this text
`;

const options = {
  target: { type: "string" },
  variants: { type: "string" },
  set: { type: "string", multiple: true },
  "whisper-tools": { type: "boolean" },
} as const;

await runCommand({ help, options }, async ({ target, variants, set, "whisper-tools": whisperTools }) => {
  const folder = whisperTools === true
    ? await ensureWhisperTools()
    : await ensureLibraries(await ensureTools(), { target, variants, settings: set });
  process.stdout.write(`${folder}\n`);
});
