import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { readBinary } from "./binaries/mod.ts";
import { runCommand } from "./support/command.ts";
import { SetupError } from "./support/errors.ts";
import { ROOT } from "./support/root.ts";
import { otherExports, problemsOf, systemDependencies, type TargetFile } from "./targets/rules.ts";

const help =
  `Checks the built libraries of each target by their files, without running them: exports, dependencies, run paths, the oldest system that takes
them. Without arguments, all targets that native/ has. Ends with 1 when anything is wrong.

Usage: deno run -A scripts/check_targets.ts [options] [TARGET[=FOLDER]…]
       bun scripts/check_targets.ts [options] [TARGET[=FOLDER]…]

  -h, --help   this text
`;

const native = join(ROOT, "native");

function main(targets: readonly string[]): number {
  const wanted = targets.length > 0 ? targets : builtTargets();
  if (wanted.length === 0) {
    throw new SetupError("native/ has no libraries: build some by npm run build -- --target TARGET");
  }
  const problems = wanted.flatMap((argument) => {
    const [target = "", folder = join(native, target)] = argument.split("=");
    return check(target, folder);
  });
  for (const problem of problems) process.stdout.write(`WRONG: ${problem}\n`);
  process.stdout.write(`${wanted.length} targets, ${problems.length} problems.\n`);
  return problems.length === 0 ? 0 : 1;
}

function builtTargets(): string[] {
  return existsSync(native) ? readdirSync(native).filter((name) => !name.startsWith(".")).sort() : [];
}

function check(target: string, folder: string): string[] {
  if (!existsSync(folder)) return [`${target}: there is no folder ${folder}`];
  const files = readdirSync(folder).filter((name) => /\.(so|dylib|dll)$/.test(name)).sort().map((name): TargetFile => {
    const path = join(folder, name);
    return { name, size: statSync(path).size, binary: readBinary(readFileSync(path)) };
  });
  const megabytes = (size: number): string => `${(size / 1e6).toFixed(2)} MB`;
  const total = files.reduce((sum, { size }) => sum + size, 0);
  process.stdout.write(`${target}: ${files.length} libraries, ${megabytes(total)}\n`);
  for (const file of files) {
    const other = otherExports(file).length;
    const { minimum, runPaths, exports } = file.binary;
    process.stdout.write(
      `  ${file.name.padEnd(34)} ${megabytes(file.size).padStart(8)}  ${
        exports.length - other
      } in the table + ${other} exported; ` +
        `needs ${systemDependencies(file, files).join(" ") || "nothing of the system"}; ` +
        `run path ${runPaths.join(" ") || "none"}; minimum ${minimum?.join(".") ?? "none named"}\n`,
    );
  }
  return problemsOf(target, files);
}

await runCommand({ help, allowPositionals: true }, (_, targets) => main(targets));
