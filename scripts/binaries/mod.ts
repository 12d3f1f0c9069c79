import type { Binary } from "./binary.ts";
import { readElf } from "./elf.ts";
import { readMachO } from "./macho.ts";
import { readPe } from "./pe.ts";

export { type Binary, compareVersions, type Import, type Version } from "./binary.ts";
export { exportedSymbols, readElf } from "./elf.ts";
export { readMachO } from "./macho.ts";
export { readPe } from "./pe.ts";

/** Reads a shared library of any of the three formats, told apart by their first bytes. */
export function readBinary(file: Uint8Array): Binary {
  const [first, second] = file;
  if (first === 0x7f) return readElf(file);
  return first === 0x4d && second === 0x5a ? readPe(file) : readMachO(file);
}
