import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { buildCLoop } from "./c_loop.ts";
import type { LineChild } from "./line_child.ts";
import { benchFolder } from "./places.ts";

const MODULE = /^libggml-cpu-(.+)\.so$/;

/** A set of libraries whose CPU variants can be measured one at a time. */
export interface LibrarySet {
  /** The C loop, linked to this set. */
  readonly program: string;
  /** For each variant a folder that holds no other backend. */
  readonly variants: ReadonlyMap<string, string>;
}

/** Prepares a set: the C loop, and a folder of links for each CPU variant. */
export async function librarySet(name: string, folder: string): Promise<LibrarySet> {
  const variants = new Map<string, string>();
  for (const file of readdirSync(folder)) {
    const variant = MODULE.exec(file)?.[1];
    if (variant !== undefined) variants.set(variant, linkFolder(`${name}-${variant}`, [[join(folder, file), file]]));
  }
  return { program: await buildCLoop(linked(name, folder)), variants };
}

/** The set under the names that a linker looks for, beside those that the libraries know each other by. */
function linked(name: string, folder: string): string {
  const files = readdirSync(folder).filter((file) =>
    /^lib(?:ggml|ggml-base|llama)\b.*\.so/.test(file) && !MODULE.test(file)
  );
  const plain = (file: string) => file.replace(/\.v[\d.]+so$/, ".so").replace(/\.v[\d.]+\.so$/, ".so");
  const links = files.flatMap((file) =>
    [...new Set([file, plain(file)])].map((as) => [join(folder, file), as] as const)
  );
  return linkFolder(`${name}-all`, links);
}

function linkFolder(name: string, links: readonly (readonly [target: string, as: string])[]): string {
  const folder = join(benchFolder("variants"), name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [target, as] of links) symlinkSync(target, join(folder, as));
  return folder;
}

/** The variants that both sets have and this processor runs, in the order of the first. */
export async function runnable(
  sets: readonly LibrarySet[],
  start: (set: LibrarySet, variant: string) => Promise<LineChild>,
): Promise<{ runs: string[]; refused: string[] }> {
  const [first, ...others] = sets;
  const common = [...first?.variants.keys() ?? []].filter((name) => others.every((set) => set.variants.has(name)));
  const runs: string[] = [];
  const refused: string[] = [];
  for (const name of common) {
    try {
      for (const set of sets) await (await start(set, name)).stop();
      runs.push(name);
    } catch {
      refused.push(name);
    }
  }
  return { runs, refused };
}

/** The folder of node-llama-cpp's libraries for this machine. */
export function peerLibraries(peer: string, platform: string): string {
  const folder = join(peer, "node_modules", "@node-llama-cpp", platform, "bins", platform);
  if (!existsSync(folder)) throw new Error(`node-llama-cpp has no libraries for ${platform}: ${folder} isn't there`);
  return folder;
}
