// npm run setup: brings and builds all that the project needs. Plain Node, nothing installed before.
import { realpathSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { cacheFolder } from "./setup/cache.mjs";
import { run } from "./setup/command.mjs";
import { hostTarget } from "./setup/cpu.mjs";
import { bringLibraries } from "./setup/libraries.mjs";
import { linkTo } from "./setup/link.mjs";
import { manifestName } from "./setup/manifest.mjs";
import { bringModel, modelPath, readModels } from "./setup/model.mjs";
import { bringPackages, bunProgram, denoProgram, programsAreInPlace } from "./setup/npm_packages.mjs";
import { bringSources, readPins } from "./setup/sources.mjs";
import { isInPlace, rememberInPlace } from "./setup/stamp.mjs";
import { bringZig } from "./setup/zig.mjs";

/** The folder of the source tree. */
export const root = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** Brings everything that isn't there: packages, compiler, sources, the default model, this machine's libraries. */
export async function setup() {
  if (isInPlace(root) && programsAreInPlace(root)) return false;
  const cache = cacheFolder();
  await bringPackages(root);
  const tools = await bringTools(cache);
  const models = await readModels(root);
  const model = models.models.find((m) => m.file === models.default);
  await bringModel(cache, model);
  await bringLibraries(tools);
  await rememberInPlace(root, [
    denoProgram(root),
    bunProgram(root),
    ...Object.keys(await readPins(root)).map((name) => join(root, "csrc", "upstream", name)),
    modelPath(cache, model),
    join(root, "native", hostTarget(), manifestName),
  ]);
  return true;
}

/** The compiler and the sources: what a build needs. */
export async function bringTools(cache = cacheFolder()) {
  const zig = await bringZig(cache);
  const upstream = [];
  for (const [name, pin] of Object.entries(await readPins(root))) {
    const sources = await bringSources(cache, name, pin);
    await linkTo(sources, join(root, "csrc", "upstream", name));
    upstream.push({ name, pin, sources });
  }
  return { root, cache, zig, upstream };
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await run(async () => {
    const done = await setup();
    process.stderr.write(done ? "Everything is in place.\n" : "Everything is in place already.\n");
  });
}
