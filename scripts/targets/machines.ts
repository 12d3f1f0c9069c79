// The machines that tests of other targets run on: what each is, and how a program is started there.
import { join } from "node:path";
import { bunProgram, denoProgram } from "../bootstrap/packages.mjs";
import { hostTarget } from "../build/cpu.ts";
import {
  ensureMusl,
  ensureQemu,
  ensureRandomDll,
  ensureRuntime,
  ensureWine,
  type Launcher,
  NotHere,
  type ToolContext,
  withFile,
} from "./tools.ts";

/** A runtime's program with what stands before it, its environment, and how it names files. */
export interface Program extends Launcher {
  readonly path: (path: string) => string;
}

/** A machine, real or emulated, with a runtime. */
export interface Machine {
  readonly title: string;
  readonly target: string;
  readonly runtime: "deno" | "bun" | undefined;
  /** Fetches what is needed. Throws NotHere with the reason where it can't run. */
  readonly prepare: (context: ToolContext) => Promise<Program>;
}

/** A path as programs under Wine see it. */
function windowsPath(path: string): string {
  return `Z:${path.replaceAll("/", "\\")}`;
}

const same = (path: string): string => path;

/** Every machine, those too that can't run, each with its reason. */
export const machines: readonly Machine[] = [
  {
    title: "this machine's Deno",
    target: hostTarget(),
    runtime: "deno",
    prepare: ({ root }) => Promise.resolve({ command: [denoProgram(root)], env: {}, path: same }),
  },
  {
    title: "this machine's Bun",
    target: hostTarget(),
    runtime: "bun",
    prepare: ({ root }) => Promise.resolve({ command: [bunProgram(root)], env: {}, path: same }),
  },
  {
    title: "arm64 Deno under qemu-user",
    target: "aarch64-linux-gnu",
    runtime: "deno",
    prepare: async (context) => {
      const deno = await inQemu(context, await ensureRuntime(context, "@deno/linux-arm64-glibc"), "deno");
      // Deno compiles code for each function that it binds, which takes over 20 minutes for all of the probe's when emulated.
      return { ...deno, env: { ...deno.env, GGML_FFI_PROBE_STEP: "4" } };
    },
  },
  {
    title: "arm64 Bun under qemu-user",
    target: "aarch64-linux-gnu",
    runtime: "bun",
    prepare: async (context) =>
      await inQemu(context, await ensureRuntime(context, "@oven/bun-linux-aarch64"), "bin/bun"),
  },
  {
    title: "Windows Bun under Wine",
    target: "x86_64-windows",
    runtime: "bun",
    prepare: async (context) => {
      const wine = await ensureWine(context);
      const bun = await ensureRuntime(context, "@oven/bun-windows-x64");
      const folder = await withFile(context, "bun-for-wine", bun, await ensureRandomDll(context));
      return { command: [...wine.command, join(folder, "bin", "bun.exe")], env: wine.env, path: windowsPath };
    },
  },
  {
    title: "Bun on musl",
    target: "x86_64-linux-musl",
    runtime: "bun",
    prepare: async (context) => {
      const musl = await ensureMusl(context);
      const bun = await ensureRuntime(context, "@oven/bun-linux-x64-musl");
      return { command: [...musl.command, join(bun, "bin", "bun")], env: musl.env, path: same };
    },
  },
  none("Windows Deno under Wine", "x86_64-windows", "V8 can't reserve its heap in Debian's Wine"),
  none("Deno on musl", "x86_64-linux-musl", "there is no build of Deno for musl on npm"),
  none("Bun on arm64 musl", "aarch64-linux-musl", "Debian's musl for arm64 isn't in an x64 machine's lists"),
  none("arm64 Windows", "aarch64-windows", "nothing on npm or in Debian runs arm64 programs of Windows here"),
  none("macOS on x64", "x86_64-macos", "macOS runs on Apple's machines only: its files are checked"),
  none("macOS on arm64", "aarch64-macos", "macOS runs on Apple's machines only: its files are checked"),
];

async function inQemu(context: ToolContext, folder: string, program: string): Promise<Program> {
  const qemu = await ensureQemu(context);
  return { command: [...qemu.command, join(folder, program)], env: qemu.env, path: same };
}

function none(title: string, target: string, reason: string): Machine {
  return { title, target, runtime: undefined, prepare: () => Promise.reject(new NotHere(reason)) };
}
