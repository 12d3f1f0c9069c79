import { functionEntry, functionNames } from "../../ffi/tables.ts";
import { type Binary, compareVersions, type Version } from "../binaries/mod.ts";
import { libraryOf, moduleEntries } from "../check_tables/symbols.ts";
import { windowsImports } from "./windows_imports.ts";

/** One library of a target, read. */
export interface TargetFile {
  readonly name: string;
  readonly size: number;
  readonly binary: Binary;
}

/** The rules for the libraries of a target. */
interface Rules {
  readonly format: Binary["format"];
  readonly machine: string;
  /** Libraries of the system. */
  readonly system: (name: string) => boolean;
  readonly runPath: string | undefined;
  /** The oldest system that must do. */
  readonly minimum: Version | undefined;
  /** Whether its exports are named one by one. */
  readonly exportsAreNamed: boolean;
}

const glibc = /^(libc\.so\.6|lib(m|pthread|dl|rt)\.so\.\d|ld-linux-(x86-64|aarch64)\.so\.\d)$/;

function rulesOf(target: string): Rules {
  const machine = target.split("-")[0]!;
  const common = { machine, exportsAreNamed: false };
  if (target.endsWith("windows")) {
    const system = (name: string): boolean => windowsImports(name) !== undefined;
    return { ...common, format: "PE", system, runPath: undefined, minimum: [10, 0], exportsAreNamed: true };
  }
  if (target.endsWith("macos")) {
    const system = (name: string): boolean => name === "/usr/lib/libSystem.B.dylib";
    return { ...common, format: "Mach-O", system, runPath: "@loader_path", minimum: [11, 0] };
  }
  const isMusl = target.endsWith("musl");
  const system = (name: string): boolean => isMusl ? name === "libc.so" : glibc.test(name);
  return { ...common, format: "ELF", system, runPath: "$ORIGIN", minimum: isMusl ? undefined : [2, 17] };
}

/** The problems of a target's libraries; empty if there are none. */
export function problemsOf(target: string, files: readonly TargetFile[]): string[] {
  const rules = rulesOf(target);
  const problems: string[] = [];
  for (const file of files) {
    const report = (what: string): number => problems.push(`${target}/${file.name}: ${what}`);
    checkKind(file.binary, rules, report);
    checkExports(file, files, rules, report);
    checkDependencies(file.binary, files, rules, report);
    checkMinimum(file.binary, rules, report);
  }
  for (const library of new Set(functionNames().map((name) => functionEntry(name)!.library))) {
    if (!files.some((file) => libraryOf(file.name) === library)) problems.push(`${target}: no library ${library}`);
  }
  return problems;
}

type Problem = (what: string) => void;

function checkKind(binary: Binary, rules: Rules, report: Problem): void {
  if (binary.format !== rules.format) report(`it is ${binary.format}, not ${rules.format}`);
  if (binary.machine !== rules.machine) report(`it is for ${binary.machine}`);
  // macOS on arm64 ends a program that loads unsigned code.
  if (binary.format === "Mach-O" && binary.machine === "aarch64" && !binary.isSigned) report("it has no signature");
}

function checkExports(file: TargetFile, files: readonly TargetFile[], rules: Rules, report: Problem): void {
  const library = libraryOf(file.name);
  const { exports } = file.binary;
  const present = new Set(exports);
  const missing = functionNames().filter((name) => functionEntry(name)!.library === library && !present.has(name));
  if (missing.length > 0) report(`its table has what it doesn't export: ${missing.join(" ")}`);
  if (file.name.includes("ggml-cpu") && moduleEntries.some((name) => !present.has(name))) {
    report(`it lacks an entry point of a backend: ${moduleEntries.join(" ")}`);
  }
  if (!rules.exportsAreNamed) return;
  const wanted = new Set(
    files.flatMap(({ binary }) => binary.imports).filter((one) => one.library === file.binary.identity).map((one) =>
      one.name
    ),
  );
  const needless = otherExports(file).filter((name) => !wanted.has(name) && !moduleEntries.includes(name));
  if (needless.length > 0) report(`it exports what neither its table nor another library names: ${needless.join(" ")}`);
}

/** The exports of a library besides the functions of its table. */
export function otherExports({ name: file, binary }: TargetFile): string[] {
  return binary.exports.filter((name) => functionEntry(name)?.library !== libraryOf(file));
}

/** The libraries that it needs and that aren't ours. */
export function systemDependencies({ binary }: TargetFile, files: readonly TargetFile[]): string[] {
  return binary.dependencies.filter((name) => !files.some((file) => file.binary.identity === name));
}

function checkDependencies(
  binary: Binary,
  files: readonly TargetFile[],
  rules: Rules,
  report: Problem,
): void {
  for (const dependency of binary.dependencies) {
    const sibling = files.find((file) => file.binary.identity === dependency);
    if (sibling === undefined && !rules.system(dependency)) {
      report(`it needs ${dependency}, which is no part of the system`);
    }
    const taken = binary.imports.filter((one) => one.library === dependency).map((one) => one.name);
    const given = sibling === undefined ? windowsImports(dependency) : new Set(sibling.binary.exports);
    const absent = given === undefined ? [] : taken.filter((name) => !given.has(name));
    if (absent.length > 0) report(`${dependency} isn't known to have ${absent.join(" ")}`);
  }
  const wanted = rules.runPath === undefined ? [] : [rules.runPath];
  if (binary.runPaths.join() !== wanted.join()) {
    report(`its run paths are ${JSON.stringify(binary.runPaths)}, not ${JSON.stringify(wanted)}`);
  }
}

function checkMinimum({ minimum, format }: Binary, rules: Rules, report: Problem): void {
  if (rules.minimum === undefined) return;
  if (minimum === undefined) {
    // Without a versioned symbol there is nothing that an old glibc lacks.
    if (format !== "ELF") report("it names no oldest system");
  } else if (compareVersions(minimum, rules.minimum) > 0) {
    report(`it needs ${minimum.join(".")}, which is newer than ${rules.minimum.join(".")}`);
  }
}
