// What runs programs of another target here: emulators and runtimes, brought into the cache. Nothing is installed.
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { produce } from "../setup/cache.mjs";
import { answer, run } from "../setup/exec.mjs";
import { step } from "../setup/progress.mjs";
import { runPython } from "../setup/python.mjs";
import { checkIntegrity } from "../setup/sources.mjs";
import { filesOf } from "../setup/tar.mjs";

/** Says that something can't be had here: a reason to skip, not a failure. */
export class NotHere extends Error {}

/** A folder of the cache that `make(temporary)` fills once. With `cachedOnly` it isn't made: NotHere. */
async function bring({ cache, cachedOnly }, name, title, make) {
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

/** A runtime that package-lock.json names for another platform: its folder. */
export async function bringRuntime(context, name) {
  const lock = JSON.parse(await readFile(join(context.root, "package-lock.json"), "utf8"));
  const entry = lock.packages[`node_modules/${name}`];
  if (entry === undefined) throw new NotHere(`package-lock.json has no ${name}`);
  const { version, integrity } = entry;
  const folder = `${name.replace("@", "").replace("/", "-")}-${version}`;
  return await bring(context, folder, `${name} ${version}`, async (temporary, work) => {
    const args = ["pack", `${name}@${version}`, "--ignore-scripts", "--pack-destination", work];
    await run("npm", [...args, "--cache", join(work, "npm")], { cwd: work, task: `fetching ${name}` });
    const tgz = await readFile(join(work, (await readdir(work)).find((file) => file.endsWith(".tgz"))));
    checkIntegrity(tgz, { package: name, version, integrity });
    for (const { path, bytes } of filesOf(tgz)) {
      const to = join(temporary, path.slice(path.indexOf("/") + 1));
      await mkdir(dirname(to), { recursive: true });
      await writeFile(to, bytes, { mode: 0o755 });
    }
  });
}

/** Debian packages, unpacked together into one folder; `then(folder)` mends what they expect at its own place. */
async function bringDebian(context, name, packages, then = async () => {}) {
  return await bring(context, name, `${packages.join(", ")} of Debian`, async (temporary, work) => {
    if (await answer("apt-get", ["--version"]) === undefined) {
      throw new NotHere(`${packages.join(", ")}: only where there is apt-get`);
    }
    const task = `apt-get download (its lists are brought by: apt-get update)`;
    await run("apt-get", ["download", "-q", ...packages], { cwd: work, task });
    for (const file of (await readdir(work)).filter((one) => one.endsWith(".deb"))) {
      await run("dpkg-deb", ["-x", join(work, file), temporary], { task: `unpacking ${file}` });
    }
    await then(temporary);
  });
}

/** QEMU that runs arm64 programs of Linux, with the C and C++ libraries that they need. */
export async function bringQemu(context) {
  requireLinux();
  const packages = ["qemu-user-static", "libc6-arm64-cross", "libstdc++6-arm64-cross", "libgcc-s1-arm64-cross"];
  const folder = await bringDebian(context, "qemu-arm64", packages);
  return {
    command: [join(folder, "usr", "bin", "qemu-aarch64-static")],
    env: { QEMU_LD_PREFIX: join(folder, "usr", "aarch64-linux-gnu") },
  };
}

/** Wine, and a folder for its system that is filled on the first run. */
export async function bringWine(context) {
  requireLinux();
  if (process.arch !== "x64") throw new NotHere("wine: only on x64");
  const packages = ["wine64", "libwine", "wine", "libunwind8", "libz-mingw-w64"];
  const folder = await bringDebian(context, "wine-x64", packages, mendWine);
  const libraries = join(folder, "usr", "lib", "x86_64-linux-gnu");
  return {
    command: [join(folder, "usr", "lib", "wine", "wine64")],
    env: { LD_LIBRARY_PATH: libraries, WINEPREFIX: join(context.cache, "tools", "wine-prefix"), WINEDEBUG: "-all" },
  };
}

/** The server's script and a link to a DLL name folders of the system. */
async function mendWine(folder) {
  const programs = join(folder, "usr", "lib", "wine");
  await rm(join(programs, "wineserver"));
  await copyFile(join(programs, "wineserver64"), join(programs, "wineserver"));
  const dll = join(folder, "usr", "lib", "x86_64-linux-gnu", "wine", "x86_64-windows", "zlib1.dll");
  await rm(dll, { force: true });
  await copyFile(join(folder, "usr", "x86_64-w64-mingw32", "lib", "zlib1.dll"), dll);
}

/** A DLL for Bun that Windows has and Debian's Wine hasn't; it lies beside the program. */
export async function bringRandomDll(context) {
  return await buildTool(context, "bcryptprimitives.c", "bcryptprimitives.dll", "x86_64-windows", ["-ladvapi32"]);
}

/** musl's loader and a C++ library for it, by which it runs Bun's build for musl on x64. */
export async function bringMusl(context) {
  requireLinux();
  if (process.arch !== "x64") throw new NotHere("musl's loader: only on x64");
  const musl = await bringDebian(context, "musl-x64", ["musl"]);
  const libraries = await bring(
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
async function buildTool(context, source, name, target, flags) {
  const from = join(context.root, "tests", "targets", source);
  const folder = await bring(context, name, `${name} (built)`, async (temporary) => {
    const zig = await context.zig();
    await run(zig, ["cc", "-target", target, "-shared", "-Os", "-s", "-o", join(temporary, name), from, ...flags], {
      env: { ZIG_GLOBAL_CACHE_DIR: join(context.cache, "zig-cache", "global") },
      task: `building ${name}`,
    });
  });
  return join(folder, name);
}

/** A copy of a program's folder with one more file in it. */
export async function withFile(context, name, folder, file) {
  return await bring(context, name, `${name} (copied)`, async (temporary) => {
    const inner = `${temporary}-copy`;
    await cp(folder, inner, { recursive: true });
    await copyFile(file, join(inner, "bin", file.split("/").at(-1)));
    await rm(temporary, { recursive: true });
    await rename(inner, temporary);
  });
}

function requireLinux() {
  if (process.platform !== "linux") throw new NotHere("emulators are brought on Linux only");
}
