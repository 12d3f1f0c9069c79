import { messageOf } from "../../../base/error.ts";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import process from "node:process";
import { BackendLoadError } from "../../errors.ts";

/** Identification in the first bytes of a library's file. */
interface FileWords {
  readonly format: "ELF" | "Mach-O" | "PE";
  readonly machine: string;
  /** Whether it is a shared library, and not a program or an object file. */
  readonly isShared: boolean;
}

/** Enough for the headers of any format. */
const HEAD = 4096;

const elfMachines: Readonly<Record<number, string>> = {
  3: "x86",
  40: "arm",
  62: "x86_64",
  183: "aarch64",
  243: "riscv",
};
const machMachines: Readonly<Record<number, string>> = { 0x01000007: "x86_64", 0x0100000c: "aarch64" };
const peMachines: Readonly<Record<number, string>> = { 0x14c: "x86", 0x8664: "x86_64", 0xaa64: "aarch64" };

/** Throws BackendLoadError unless a file is a shared library for this system and processor. Runs nothing of it. */
export function checkModuleFile(path: string): void {
  const head = readHead(path);
  const words = wordsOf(head);
  const [format, machine] = [hostFormat(), hostMachine()];
  const refuse = (what: string, value: unknown, expected: string): never => {
    throw new BackendLoadError(`${path} is no backend for this system: ${what}; it needs ${expected}`, {
      value,
      expected,
    });
  };
  if (words === undefined) {
    const first = [...head.subarray(0, 4)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    return refuse(head.length === 0 ? "it is empty" : `it starts with ${first}`, first, `a shared library (${format})`);
  }
  if (words.format !== format) refuse(`it is of the format ${words.format}`, words.format, format);
  if (words.machine !== machine) refuse(`it is for ${words.machine}`, words.machine, `one for ${machine}`);
  if (!words.isShared) refuse("it is no shared library", path, "a shared library");
}

function readHead(path: string): Uint8Array {
  let file: number;
  try {
    if (!statSync(path).isFile()) throw new Error("it is no file");
    file = openSync(path, "r");
  } catch (cause) {
    throw new BackendLoadError(
      `${path} can't be read: ${messageOf(cause)}; give the path of a backend`,
      {
        value: path,
        expected: "a file that can be read",
        cause,
      },
    );
  }
  try {
    const bytes = new Uint8Array(HEAD);
    return bytes.subarray(0, readSync(file, bytes, 0, HEAD, 0));
  } finally {
    closeSync(file);
  }
}

function wordsOf(head: Uint8Array): FileWords | undefined {
  if (head.length < 64) return undefined;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const first = view.getUint32(0);
  if (first === 0x7f454c46) return elfWords(view);
  if (first === 0xcffaedfe) {
    const machine = view.getUint32(4, true);
    const kind = view.getUint32(12, true);
    return {
      format: "Mach-O",
      machine: machMachines[machine] ?? `machine ${machine}`,
      isShared: kind === 6 || kind === 8,
    };
  }
  return view.getUint16(0) === 0x4d5a ? peWords(view) : undefined;
}

function elfWords(view: DataView): FileWords | undefined {
  // Of 64 bits, the low byte first.
  if (view.getUint8(4) !== 2 || view.getUint8(5) !== 1) {
    return { format: "ELF", machine: "another width or byte order", isShared: false };
  }
  const machine = view.getUint16(18, true);
  return {
    format: "ELF",
    machine: elfMachines[machine] ?? `machine ${machine}`,
    isShared: view.getUint16(16, true) === 3,
  };
}

function peWords(view: DataView): FileWords | undefined {
  const at = view.getUint32(60, true);
  if (at + 24 > view.byteLength || view.getUint32(at) !== 0x50450000) return undefined;
  const machine = view.getUint16(at + 4, true);
  return {
    format: "PE",
    machine: peMachines[machine] ?? `machine ${machine}`,
    isShared: (view.getUint16(at + 22, true) & 0x2000) !== 0,
  };
}

function hostFormat(): FileWords["format"] {
  return ({ darwin: "Mach-O", win32: "PE" } as const)[process.platform as "darwin" | "win32"] ?? "ELF";
}

function hostMachine(): string {
  return ({ x64: "x86_64", arm64: "aarch64" } as Record<string, string>)[process.arch] ?? process.arch;
}
