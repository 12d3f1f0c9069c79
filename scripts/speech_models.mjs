// Brings the speech models that the tests and the examples use.
import process from "node:process";
import { runWith } from "./setup/command.mjs";
import { cacheFolder } from "./setup/cache.mjs";
import { bringSpeechModels } from "./setup/speech.mjs";
import { root, setup } from "./setup.mjs";

const help =
  `Brings Whisper tiny.en, Whisper base and Silero's voice activity model as whisper.cpp reads them, unless the cache has them: about 230 MB.
Prints their paths.

Usage: node scripts/speech_models.mjs
`;

await runWith(help, {}, async () => {
  await setup();
  for (const path of await bringSpeechModels(root, cacheFolder())) process.stdout.write(`${path}\n`);
});
