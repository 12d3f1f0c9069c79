// Emulators and runtimes that run programs of another target here, fetched into the cache. Nothing is installed.
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { produce } from "../setup/cache.ts";
import { runPython } from "../setup/python.ts";
import { checkIntegrity, fetchTarball } from "../setup/sources.ts";
import { filesOf } from "../setup/tar.ts";
import { answer, run } from "../support/exec.ts";
import { step } from "../support/progress.ts";

/** Says that something can't be had here: a reason to skip, not a failure. */
export class NotHere extends Error {}

/** The folders for tools, and whether they may be fetched. */
export interface ToolContext {
  /** The source tree. */
  readonly root: string;
  readonly cache: string;
  /** Nothing is fetched or built. */
  readonly cachedOnly: boolean;
  /** Fetches the compiler. */
  readonly zig: () => Promise<string>;
}

/** A program in front of another one, and its environment. */
export interface Launcher {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A folder of the cache that `make(temporary, work)` fills once. With `cachedOnly` it isn't made: NotHere. */
async function ensureTool(
  { cache, cachedOnly }: ToolContext,
  name: string,
  title: string,
  make: (temporary: string, work: string) => Promise<void>,
): Promise<string> {
  const folder = join(cache, "tools", name);
  if (existsSync(folder)) return folder;
  if (cachedOnly) throw new NotHere(`${title}: not in the cache`);
  await produce(folder, (temporary) =>
    step(`Fetching ${title}`, "usually under a minute", async () => {
      await mkdir(temporary, { recursive: true });
      const work = await mkdtemp(join(dirname(temporary), "work-"));
      try {
        await make(temporary, work);
      } finally {
        await rm(work, { recursive: true, force: true });
      }
    }));
  return folder;
}

/** The part of package-lock.json that is read here. */
interface PackageLock {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
}

/** Fetches a runtime that package-lock.json names for another platform, and returns its folder. */
export async function ensureRuntime(context: ToolContext, name: string): Promise<string> {
  const lock = JSON.parse(await readFile(join(context.root, "package-lock.json"), "utf8")) as PackageLock;
  const entry = lock.packages[`node_modules/${name}`];
  if (entry === undefined) throw new NotHere(`package-lock.json has no ${name}`);
  const { version, integrity } = entry;
  const folder = `${name.replace("@", "").replace("/", "-")}-${version}`;
  return await ensureTool(context, folder, `${name} ${version}`, async (temporary, work) => {
    const tgz = await fetchTarball(work, { package: name, version });
    checkIntegrity(tgz, { package: name, version, integrity }, "package-lock.json");
    for (const { path, bytes } of filesOf(tgz)) {
      const to = join(temporary, path.slice(path.indexOf("/") + 1));
      await mkdir(dirname(to), { recursive: true });
      await writeFile(to, bytes, { mode: 0o755 });
    }
  });
}

/** Debian packages, unpacked together into one folder; `then(folder)` mends what they expect at its own place. */
async function ensureDebian(
  context: ToolContext,
  name: string,
  packages: readonly string[],
  then: (folder: string) => Promise<void> = async () => {},
): Promise<string> {
  return await ensureTool(context, name, `${packages.join(", ")} of Debian`, async (temporary, work) => {
    if (await answer("apt-get", ["--version"]) === undefined) {
      throw new NotHere(`${packages.join(", ")}: only where there is apt-get`);
    }
    const task = `apt-get download (apt-get update fetches its lists)`;
    await run("apt-get", ["download", "-q", ...packages], { cwd: work, task });
    for (const file of (await readdir(work)).filter((one) => one.endsWith(".deb"))) {
      await run("dpkg-deb", ["-x", join(work, file), temporary], { task: `unpacking ${file}` });
    }
    await then(temporary);
  });
}

/** QEMU that runs arm64 programs of Linux, with the C and C++ libraries that they need. */
export async function ensureQemu(context: ToolContext): Promise<Launcher> {
  requireLinux();
  const packages = ["qemu-user-static", "libc6-arm64-cross", "libstdc++6-arm64-cross", "libgcc-s1-arm64-cross"];
  const folder = await ensureDebian(context, "qemu-arm64", packages);
  return {
    command: [join(folder, "usr", "bin", "qemu-aarch64-static")],
    env: { QEMU_LD_PREFIX: join(folder, "usr", "aarch64-linux-gnu") },
  };
}

/** Wine, and a folder for its system that is filled on the first run. */
export async function ensureWine(context: ToolContext): Promise<Launcher> {
  requireLinux();
  if (process.arch !== "x64") throw new NotHere("wine: only on x64");
  const packages = ["wine64", "libwine", "wine", "libunwind8", "libz-mingw-w64"];
  const folder = await ensureDebian(context, "wine-x64", packages, mendWine);
  const libraries = join(folder, "usr", "lib", "x86_64-linux-gnu");
  return {
    command: [join(folder, "usr", "lib", "wine", "wine64")],
    env: { LD_LIBRARY_PATH: libraries, WINEPREFIX: join(context.cache, "tools", "wine-prefix"), WINEDEBUG: "-all" },
  };
}

/** The server's script and a link to a DLL name folders of the system. */
async function mendWine(folder: string): Promise<void> {
  const programs = join(folder, "usr", "lib", "wine");
  await rm(join(programs, "wineserver"));
  await copyFile(join(programs, "wineserver64"), join(programs, "wineserver"));
  const dll = join(folder, "usr", "lib", "x86_64-linux-gnu", "wine", "x86_64-windows", "zlib1.dll");
  await rm(dll, { force: true });
  await copyFile(join(folder, "usr", "x86_64-w64-mingw32", "lib", "zlib1.dll"), dll);
}

/** A DLL for Bun that Windows has and Debian's Wine hasn't; it lies beside the program. */
export async function ensureRandomDll(context: ToolContext): Promise<string> {
  return await buildTool(context, "bcryptprimitives.c", "bcryptprimitives.dll", "x86_64-windows", ["-ladvapi32"]);
}

/** musl's loader and a C++ library for it, by which it runs Bun's build for musl on x64. */
export async function ensureMusl(context: ToolContext): Promise<Launcher> {
  requireLinux();
  if (process.arch !== "x64") throw new NotHere("musl's loader: only on x64");
  const musl = await ensureDebian(context, "musl-x64", ["musl"]);
  const libraries = await ensureTool(
    context,
    "musl-x64-cpp",
    "a C++ library for musl (greenlet of PyPI)",
    async (to, work) => {
      // Its later wheels have relocations that Debian's musl doesn't know.
      const wanted = [
        "--platform",
        "musllinux_1_1_x86_64",
        "--python-version",
        "3.12",
        "--only-binary=:all:",
        "--no-deps",
      ];
      await runPython(["-m", "pip", "download", "-q", ...wanted, "-d", work, "greenlet==3.2.4"], {
        task: "fetching greenlet",
      });
      const wheel = (await readdir(work)).find((file) => file.endsWith(".whl"));
      if (wheel === undefined) throw new NotHere("pip download left no wheel of greenlet");
      await runPython(["-m", "zipfile", "-e", join(work, wheel), join(work, "wheel")], { task: "unpacking greenlet" });
      const from = join(work, "wheel", "greenlet.libs");
      for (const file of await readdir(from)) {
        await copyFile(join(from, file), join(to, file.startsWith("libstdc++") ? "libstdc++.so.6" : file));
      }
      await copyFile(join(musl, "lib", "x86_64-linux-musl", "libc.so"), join(to, "libc.musl-x86_64.so.1"));
    },
  );
  const newer = await buildTool(context, "newer_cpp.c", "libnewer_cpp.so", "x86_64-linux-musl", ["-fPIC"]);
  const loader = join(libraries, "libc.musl-x86_64.so.1");
  await chmod(loader, 0o755);
  return { command: [loader, "--library-path", libraries, "--preload", newer], env: {} };
}

/** A small C file of tests/targets/, built for a target. */
async function buildTool(
  context: ToolContext,
  source: string,
  name: string,
  target: string,
  flags: readonly string[],
): Promise<string> {
  const from = join(context.root, "tests", "targets", source);
  const folder = await ensureTool(context, name, `${name} (built)`, async (temporary) => {
    const zig = await context.zig();
    await run(zig, ["cc", "-target", target, "-shared", "-Os", "-s", "-o", join(temporary, name), from, ...flags], {
      env: { ZIG_GLOBAL_CACHE_DIR: join(context.cache, "zig-cache", "global") },
      task: `building ${name}`,
    });
  });
  return join(folder, name);
}

/** A copy of a program's folder with one more file in it. */
export async function withFile(context: ToolContext, name: string, folder: string, file: string): Promise<string> {
  return await ensureTool(context, name, `${name} (copied)`, async (temporary) => {
    const inner = `${temporary}-copy`;
    await cp(folder, inner, { recursive: true });
    await copyFile(file, join(inner, "bin", basename(file)));
    await rm(temporary, { recursive: true });
    await rename(inner, temporary);
  });
}

function requireLinux(): void {
  if (process.platform !== "linux") throw new NotHere("emulators are fetched on Linux only");
}
