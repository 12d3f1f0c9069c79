// Runs `zig build`, and sees from its cache how far it is.
import { spawn } from "node:child_process";
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { withLock } from "./cache.mjs";
import { SetupError } from "./errors.mjs";
import { linkTo } from "./link.mjs";

const lookEvery = 1_000;
/** About how many files a build from nothing compiles: what all targets share (with the C++ library), and one CPU variant. */
const sharedFiles = 190;
const variantFiles = 18;

/**
 * Runs build.zig with `args`. It runs in a folder of the cache into which the files of the build are copied, because Zig's own cache
 * knows files by their paths: so what one source tree compiled serves another one too.
 */
export async function runZigBuild({ root, cache, zig, upstream, files, args, variantCount, report }) {
  const place = join(cache, "zig-cache", "root");
  await withLock(place, async () => {
    for (const file of files) {
      await mkdir(dirname(join(place, file)), { recursive: true });
      await copyFile(join(root, file), join(place, file));
    }
    for (const { name, sources } of upstream) await linkTo(sources, join(place, "csrc", "upstream", name));
    const local = join(cache, "zig-cache", "local");
    const global = join(cache, "zig-cache", "global");
    for (const folder of [local, global]) await mkdir(folder, { recursive: true });
    await withCount(
      [local, global],
      variantCount,
      report,
      () => zigBuild(zig, place, args, { ZIG_LOCAL_CACHE_DIR: local, ZIG_GLOBAL_CACHE_DIR: global }),
    );
  });
}

async function withCount(folders, variantCount, report, work) {
  const count = async () =>
    (await Promise.all(folders.map((folder) => entries(join(folder, "o"))))).reduce((a, b) => a + b);
  const before = await count();
  const expected = sharedFiles + variantFiles * variantCount;
  const timer = setInterval(async () => {
    const done = (await count()) - before;
    report(Math.min(done, expected * 0.99), expected, `${done} files compiled`);
  }, lookEvery);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
}

async function entries(folder) {
  try {
    return (await readdir(folder)).length;
  } catch (error) {
    if (error.code === "ENOENT") return 0;
    throw error;
  }
}

function zigBuild(zig, cwd, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(zig, ["build", ...args, "--summary", "none", "--color", "off"], {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => said = (said + text).slice(-20_000));
    }
    child.on("error", (error) => reject(new SetupError(`the build: ${zig} can't be started: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) return resolve();
      reject(new SetupError(`the build failed (${signal ?? `exit code ${code}`}):\n${said.trim()}`));
    });
  });
}
