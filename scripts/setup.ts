// npm run setup: fetches and builds all that the project needs.
import process from "node:process";
import { cacheFolder } from "./setup/cache.ts";
import { ensureSpeechModels } from "./setup/models.ts";
import { setup } from "./setup/setup.ts";
import { runCommand } from "./support/command.ts";
import { ROOT } from "./support/root.ts";

const help =
  `Fetches and builds what isn't there or is damaged: packages, compiler, sources, the default model, this machine's libraries.

Usage: npm run setup -- [options]

  --verify      hashes every file, those too that weren't touched since they were found right
  --speech      also Whisper tiny.en, Whisper base and Silero's voice activity model, in whisper.cpp's format (about 230 MB); prints their paths
  -h, --help    this text
`;

await runCommand(
  { help, options: { speech: { type: "boolean" }, verify: { type: "boolean" } } },
  async ({ speech, verify = false }) => {
    const changed = await setup({ verify });
    if (speech === true) {
      for (const path of await ensureSpeechModels(ROOT, cacheFolder(), !verify)) process.stdout.write(`${path}\n`);
    }
    process.stderr.write(changed ? "Everything is in place.\n" : "Everything is in place already.\n");
  },
);
