// Upstream's whisper-cli and whisper-vad-speech-segments, which the tests and the benchmark compare with.
import process from "node:process";
import { runWith } from "./setup/command.mjs";
import { bringLibraries } from "./setup/libraries.mjs";
import { bringTools } from "./setup.mjs";

const help =
  `Builds upstream's whisper-cli and whisper-vad-speech-segments from the pinned sources, over the same libraries, unless the cache has them.
They are for the tests and the benchmark, and in no package. Prints their folder.

Usage: node scripts/whisper_tools.mjs
`;

await runWith(help, {}, async () => {
  const folder = await bringLibraries(await bringTools(), { settings: ["tools=true"], link: false });
  process.stdout.write(`${folder}\n`);
});
