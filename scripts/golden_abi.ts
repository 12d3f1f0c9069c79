import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { probeDeclarations, probeLayouts, toStructLayout } from "../csrc/probe/layouts.ts";
import { type Abi, place, registerPieces } from "../ffi/call/abi.ts";
import { isStruct, type LayoutOf, type Signature, type StructLayout } from "../ffi/types/signature.ts";
import { functionEntry, structLayout } from "../ffi/tables.ts";
import { abis, byValueFunctions, goldenText } from "../tests/ffi/golden/abi.ts";
import { findZig } from "./bindgen/clang.ts";
import { headers, includeFolders } from "./bindgen/headers.ts";
import { runCommand } from "./support/command.ts";
import { ROOT } from "./support/root.ts";

const help =
  `Writes tests/ffi/golden/*.json: the placement of each argument of every function of the tables that takes or returns a struct by value, for each calling convention.

Usage: deno run -A scripts/golden_abi.ts [options]

  --clang             write nothing; compare the placements of those functions, and of the probe's, with clang's LLVM IR
  --upstream FOLDER   the checkout of llama.cpp (default: csrc/upstream/llama.cpp)
  -h, --help          this text
`;

const targets: Readonly<Record<Abi, string>> = {
  "sysv": "x86_64-linux-gnu",
  "aapcs64": "aarch64-linux-gnu",
  "apple-arm64": "aarch64-macos",
  "win64": "x86_64-windows-gnu",
};

/** A function as a list of register classes: `i` integer, `f` float, `d` double, `ff` two floats in one, `m` memory on the stack; then the result's. */
type Classes = string;

/** The classes that our placement gives. */
function ownClasses(signature: Signature, abi: Abi, layoutOf: LayoutOf): Classes {
  const placement = place(signature, abi, layoutOf);
  const scalar = (type: string): string => type === "f32" ? "f" : type === "f64" ? "d" : "i";
  const ofStruct = (layout: StructLayout): string => {
    const pieces = registerPieces(layout, abi, layoutOf);
    if (pieces === null) return abi === "sysv" ? "m" : "i";
    return pieces.map((piece) => piece.packed ? "ff" : scalar(piece.type)).join(" ");
  };
  const args = signature.parameters.map((type, index) => {
    if (!isStruct(type)) return scalar(type);
    // AArch64's IR doesn't say when registers have run out, SysV's does.
    return abi === "sysv" && placement.arguments[index]?.kind === "stack" ? "m" : ofStruct(layoutOf(type.struct));
  });
  const { result } = signature;
  const hidden = placement.result.kind === "hidden" || placement.result.kind === "x8";
  const given = result === "void"
    ? "v"
    : hidden
    ? "sret"
    : isStruct(result)
    ? ofStruct(layoutOf(result.struct))
    : scalar(result);
  return `${args.join(" ")} -> ${given}`;
}

/** The classes of each function that a module of LLVM IR declares. */
function irClasses(ir: string): Map<string, Classes> {
  const found = new Map<string, Classes>();
  const named: NamedTypes = new Map([...ir.matchAll(/^(%\S+) = type (.*)$/gm)].map(([, name, type]) => [name!, type!]));
  for (const line of ir.split("\n")) {
    const match = /^declare (?:dso_local |noundef |zeroext |signext |nonnull )*(.+?) @(\w+)\((.*)\)/.exec(line);
    if (match === null) continue;
    const [, result = "", name = "", text = ""] = match;
    const params = splitTop(text);
    const sret = params[0]?.includes(" sret(") === true;
    const args = params.slice(sret ? 1 : 0).map((param) => param.includes(" byval(") ? "m" : typeClasses(param, named));
    found.set(name, `${args.join(" ")} -> ${sret ? "sret" : result === "void" ? "v" : typeClasses(result, named)}`);
  }
  return found;
}

function splitTop(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = "";
  for (const letter of text) {
    if ("([{<".includes(letter)) depth++;
    if (")]}>".includes(letter)) depth--;
    if (letter === "," && depth === 0) {
      parts.push(part.trim());
      part = "";
    } else part += letter;
  }
  if (part.trim() !== "") parts.push(part.trim());
  return parts;
}

type NamedTypes = ReadonlyMap<string, string>;

function typeClasses(text: string, named: NamedTypes): string {
  const array = /^\[(\d+) x (.+?)\](?: |$)/.exec(text);
  if (array !== null) return Array.from({ length: Number(array[1]) }, () => typeClasses(array[2]!, named)).join(" ");
  if (text.startsWith("<2 x float>")) return "ff";
  const group = /^\{ (.*) \}/.exec(text);
  if (group !== null) return splitTop(group[1]!).map((part) => typeClasses(part, named)).join(" ");
  const name = /^%\S+/.exec(text)?.[0];
  if (name !== undefined) return typeClasses(named.get(name)!, named);
  if (/^i128\b/.test(text)) return "i i";
  if (/^(i\d+|ptr)\b/.test(text)) return "i";
  if (/^float\b/.test(text)) return "f";
  if (/^double\b/.test(text)) return "d";
  throw new Error(`an LLVM type that isn't known here: ${text}`);
}

/** Clang's IR of a C text. */
function compile(zig: readonly string[], target: string, text: string, include: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "golden-"));
  try {
    const source = join(folder, "all.c");
    writeFileSync(source, text);
    const [command, ...before] = zig;
    const out = join(folder, "all.ll");
    const args = [...before, "cc", "-target", target, "-S", "-emit-llvm", "-w", ...include, "-o", out, source];
    const done = spawnSync(command!, args, { encoding: "utf8" });
    if (done.status !== 0) throw new Error(`zig cc failed for ${target}:\n${done.stderr}`);
    return readFileSync(out, "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function compare(what: string, abi: Abi, wanted: Map<string, Classes>, found: ReadonlyMap<string, Classes>): number {
  let wrong = 0;
  for (const [name, own] of wanted) {
    const clang = found.get(name);
    if (clang === own) continue;
    wrong++;
    console.log(`${abi} ${name}: ours ${own}; clang's ${clang ?? "nothing"}`);
  }
  console.log(`${abi} (${targets[abi]}): ${wanted.size - wrong} of ${wanted.size} ${what} as clang has them`);
  return wrong;
}

async function checkClang(upstream: string): Promise<number> {
  const zig = await findZig();
  const names = byValueFunctions();
  const includes = headers.map((header) => `#include "${header.name}"\n`).join("");
  const tableText = `${includes}void *all[] = {\n${names.map((name) => `(void *)${name},\n`).join("")}};\n`;
  const folders = includeFolders.map((folder) => `-I${join(upstream, folder)}`);
  const layouts = probeLayouts();
  const byName = new Map(layouts.map((layout) => [layout.name, toStructLayout(layout)]));
  const { text, functions } = probeDeclarations(layouts);
  let wrong = 0;
  for (const abi of abis) {
    const table = new Map(names.map((name) => [name, ownClasses(functionEntry(name)!.signature, abi, structLayout)]));
    wrong += compare("functions of the tables", abi, table, irClasses(compile(zig, targets[abi], tableText, folders)));
    const probe = new Map(
      functions.map(({ name, signature }) => [
        name,
        ownClasses(signature, abi, (struct) => byName.get(struct)!),
      ]),
    );
    wrong += compare("functions of the probe", abi, probe, irClasses(compile(zig, targets[abi], text, [])));
  }
  return wrong;
}

const options = { clang: { type: "boolean" }, upstream: { type: "string" } } as const;

await runCommand({ help, options }, async ({ clang, upstream }) => {
  if (clang === true) return await checkClang(upstream ?? join(ROOT, "csrc", "upstream", "llama.cpp")) === 0 ? 0 : 1;
  for (const abi of abis) writeFileSync(join(ROOT, "tests", "ffi", "golden", `${abi}.json`), goldenText(abi));
});
