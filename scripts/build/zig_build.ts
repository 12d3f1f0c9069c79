// Runs `zig build`, and sees from its cache how far it is.
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { withLock } from "../bootstrap/lock.mjs";
import { linkTo } from "../setup/link.ts";
import type { Upstream } from "../setup/sources.ts";
import { codeOf, SetupError } from "../support/errors.ts";
import { capture } from "../support/exec.ts";
import type { ReportProgress } from "../support/progress.ts";

const LOOK_MS = 1_000;
const LIMIT_MS = 4 * 3_600_000;
const OUTPUT_TAIL = 20_000;
/** About how many files a build from nothing compiles: shared by all targets (with the C++ library), and for each CPU variant. */
const SHARED_FILES = 190;
const VARIANT_FILES = 18;

/** A run of build.zig. */
export interface ZigBuild {
  readonly root: string;
  readonly cache: string;
  readonly zig: string;
  readonly upstream: readonly Upstream[];
  /** The files of the tree that the build reads. */
  readonly files: readonly string[];
  readonly args: readonly string[];
  readonly variantCount: number;
  readonly report: ReportProgress;
}

/**
 * Runs build.zig. It runs in a folder of the cache into which the files of the build are copied, because Zig's own cache
 * knows files by their paths: so the compiled files of one source tree serve another one too.
 */
export async function runZigBuild(build: ZigBuild): Promise<void> {
  const { root, cache, upstream, files, variantCount, report } = build;
  const folder = join(cache, "zig-cache", "root");
  await withLock(folder, async () => {
    for (const file of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await copyFile(join(root, file), join(folder, file));
    }
    for (const { name, sources } of upstream) await linkTo(sources, join(folder, "csrc", "upstream", name));
    const local = join(cache, "zig-cache", "local");
    const global = join(cache, "zig-cache", "global");
    for (const one of [local, global]) await mkdir(one, { recursive: true });
    const env = { ZIG_LOCAL_CACHE_DIR: local, ZIG_GLOBAL_CACHE_DIR: global };
    await withCount([local, global], variantCount, report, () => zigBuild(build, folder, env));
  });
}

async function withCount(
  folders: readonly string[],
  variantCount: number,
  report: ReportProgress,
  work: () => Promise<void>,
): Promise<void> {
  const count = async (): Promise<number> =>
    (await Promise.all(folders.map((folder) => entries(join(folder, "o"))))).reduce((a, b) => a + b);
  const before = await count();
  const expected = SHARED_FILES + VARIANT_FILES * variantCount;
  const timer = setInterval(async () => {
    const done = (await count()) - before;
    report(Math.min(done, expected * 0.99), expected, `${done} files compiled`);
  }, LOOK_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
}

async function entries(folder: string): Promise<number> {
  try {
    return (await readdir(folder)).length;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return 0;
    throw error;
  }
}

async function zigBuild({ zig, args }: ZigBuild, cwd: string, env: Readonly<Record<string, string>>): Promise<void> {
  const command = [zig, "build", ...args, "--summary", "none", "--color", "off"];
  const { code, text } = await capture(command, { cwd, env, limitMs: LIMIT_MS });
  if (code !== 0) {
    const end = typeof code === "number" ? `exit code ${code}` : `${code}`;
    throw new SetupError(`the build failed (${end}):\n${text.slice(-OUTPUT_TAIL).trim()}`);
  }
}
