import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { benchFolder, ROOT, runTool } from "./places.ts";
import { headerFolders, zigCommand } from "./toolchain.ts";

/** Builds `bench/c_loop.c`, or another program of that folder, against the built libraries, unless that was done before, and gives the program's path. */
export async function buildCLoop(libraries: string, name = "c_loop"): Promise<string> {
  const source = join(ROOT, "bench", `${name}.c`);
  const key = createHash("sha256").update(readFileSync(source)).update(libraries)
    .update(readFileSync(join(libraries, "libllama.so"))).digest("hex").slice(0, 16);
  const program = join(benchFolder(name), key);
  if (existsSync(program)) return program;
  const command = await zigCommand();
  const includes = headerFolders().map((folder) => `-I${folder}`);
  const flags = ["-O2", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"];
  const link = [`-L${libraries}`, "-lllama", "-lggml", "-lggml-base", `-Wl,-rpath,${libraries}`, "-lm"];
  runTool([...command, "cc", ...flags, ...includes, source, ...link, "-o", `${program}.new`]);
  renameSync(`${program}.new`, program);
  return program;
}
