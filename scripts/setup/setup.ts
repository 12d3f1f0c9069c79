// Set-up: fetches and builds all that the project needs.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { bunProgram, denoProgram, ensurePackages } from "../bootstrap/packages.mjs";
import { hostTarget } from "../build/cpu.ts";
import { type BuildTools, ensureLibraries } from "../build/libraries.ts";
import { SetupError } from "../support/errors.ts";
import { ROOT } from "../support/root.ts";
import { cacheFolder } from "./cache.ts";
import { linkTo } from "./link.ts";
import { ensureModel, modelPath, readModels } from "./models.ts";
import { ensureSources, readPins, type Upstream } from "./sources.ts";
import { isComplete, rememberComplete } from "./stamp.ts";
import { Verifier } from "./verify.ts";
import { ensureZig } from "./zig.ts";

/** Options of {@linkcode setup}. */
export interface SetupOptions {
  /** Hash every file, those too that weren't touched since they were found right (default: no). */
  readonly verify?: boolean;
}

/**
 * Fetches and builds what isn't there, or isn't as it should be: packages, compiler, sources, the default model, this machine's libraries. Returns whether
 * there was anything to look at: a file that was touched is hashed again.
 */
export async function setup({ verify = false }: SetupOptions = {}): Promise<boolean> {
  if (!verify && isComplete(ROOT)) return false;
  const cache = cacheFolder();
  const verifier = await Verifier.open(cache, !verify);
  await ensurePackages(ROOT);
  const tools = await ensureTools(cache);
  const models = await readModels(ROOT);
  const model = models.models.find(({ file }) => file === models.default);
  if (model === undefined) throw new SetupError(`scripts/models.json has no model ${models.default}`);
  await ensureModel(ROOT, cache, model, verifier);
  const libraries = await ensureLibraries(tools, { verifier });
  await verifier.save();
  await rememberComplete(ROOT, [
    denoProgram(ROOT),
    bunProgram(ROOT),
    ...tools.upstream.map(({ name }) => join(ROOT, "csrc", "upstream", name)),
    modelPath(cache, model),
    ...(await readdir(libraries)).sort().map((name) => join(ROOT, "native", hostTarget(), name)),
  ]);
  return true;
}

/** Fetches the compiler and the sources: what a build needs. */
export async function ensureTools(cache: string = cacheFolder()): Promise<BuildTools> {
  const zig = await ensureZig(cache);
  const upstream: Upstream[] = [];
  for (const [name, pin] of Object.entries(await readPins(ROOT))) {
    const sources = await ensureSources(cache, name, pin);
    await linkTo(sources, join(ROOT, "csrc", "upstream", name));
    upstream.push({ name, pin, sources });
  }
  return { root: ROOT, cache, zig, upstream };
}
