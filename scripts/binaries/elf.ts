import { type Binary, compareVersions, type Import, textAt, type Version, viewOf } from "./binary.ts";

const machines: Readonly<Record<number, string>> = { 62: "x86_64", 183: "aarch64" };
const kinds = { dynamic: 6, symbols: 11, versionsNeeded: 0x6ffffffe };
const tags = { needed: 1n, identity: 14n, runPathOld: 15n, runPath: 29n };

/** Reads a 64-bit little-endian ELF library. Throws Error for anything else. */
export function readElf(file: Uint8Array): Binary {
  const view = viewOf(file);
  if (view.byteLength < 64 || view.getUint32(0) !== 0x7f454c46) throw new Error("not an ELF file");
  if (file[4] !== 2 || file[5] !== 1) throw new Error("not a 64-bit little-endian ELF file");
  const sections = readSections(view);
  const symbols = readSymbols(file, sections);
  const dynamic = readDynamic(file, sections);
  const of = (...wanted: readonly bigint[]): string[] =>
    dynamic.filter(([tag]) => wanted.includes(tag)).map(([, text]) => text);
  const machine = view.getUint16(18, true);
  return {
    format: "ELF",
    machine: machines[machine] ?? `machine ${machine}`,
    identity: of(tags.identity)[0],
    exports: symbols.filter((symbol) => symbol.isDefined).map((symbol) => symbol.name).sort(),
    dependencies: of(tags.needed),
    runPaths: of(tags.runPath, tags.runPathOld).flatMap((paths) => paths.split(":")),
    imports: symbols.filter((symbol) => !symbol.isDefined).map(({ name }): Import => ({ name, library: undefined })),
    minimum: highestGlibc(file, sections),
    isSigned: false,
  };
}

/** The names that an ELF library exports: `.dynsym`'s defined global and weak symbols, sorted. */
export function exportedSymbols(file: Uint8Array): string[] {
  return [...readElf(file).exports];
}

interface Section {
  readonly type: number;
  readonly offset: number;
  readonly size: number;
  readonly link: number;
  readonly info: number;
}

function readSections(view: DataView): Section[] {
  const start = Number(view.getBigUint64(40, true));
  const size = view.getUint16(58, true);
  return Array.from({ length: view.getUint16(60, true) }, (_, index) => {
    const at = start + index * size;
    return {
      type: view.getUint32(at + 4, true),
      offset: Number(view.getBigUint64(at + 24, true)),
      size: Number(view.getBigUint64(at + 32, true)),
      link: view.getUint32(at + 40, true),
      info: view.getUint32(at + 44, true),
    };
  });
}

function stringsOf(sections: readonly Section[], section: Section): Section {
  const strings = sections[section.link];
  if (strings === undefined) throw new Error("a section of the ELF file names no strings");
  return strings;
}

function readSymbols(file: Uint8Array, sections: readonly Section[]): { name: string; isDefined: boolean }[] {
  const table = sections.find((section) => section.type === kinds.symbols);
  if (table === undefined) throw new Error("the ELF file has no .dynsym");
  const strings = stringsOf(sections, table);
  const view = viewOf(file);
  const found: { name: string; isDefined: boolean }[] = [];
  for (let at = table.offset; at < table.offset + table.size; at += 24) {
    const binding = view.getUint8(at + 4) >> 4;
    if (binding !== 1 && binding !== 2) continue;
    const name = textAt(file, strings.offset + view.getUint32(at, true));
    found.push({ name, isDefined: view.getUint16(at + 6, true) !== 0 });
  }
  return found;
}

/** The entries of `.dynamic` whose values are texts. */
function readDynamic(file: Uint8Array, sections: readonly Section[]): [bigint, string][] {
  const table = sections.find((section) => section.type === kinds.dynamic);
  if (table === undefined) throw new Error("the ELF file has no .dynamic");
  const strings = stringsOf(sections, table);
  const view = viewOf(file);
  const found: [bigint, string][] = [];
  for (let at = table.offset; at < table.offset + table.size; at += 16) {
    const tag = view.getBigUint64(at, true);
    if (!Object.values(tags).includes(tag)) continue;
    found.push([tag, textAt(file, strings.offset + Number(view.getBigUint64(at + 8, true)))]);
  }
  return found;
}

/** The highest `GLIBC_2.x` among the symbol versions that it needs. */
function highestGlibc(file: Uint8Array, sections: readonly Section[]): Version | undefined {
  const table = sections.find((section) => section.type === kinds.versionsNeeded);
  if (table === undefined) return undefined;
  const strings = stringsOf(sections, table);
  const view = viewOf(file);
  const found: Version[] = [];
  let library = table.offset;
  for (let left = table.info; left > 0; left--) {
    let entry = library + view.getUint32(library + 8, true);
    for (let count = view.getUint16(library + 2, true); count > 0; count--) {
      const name = textAt(file, strings.offset + view.getUint32(entry + 8, true));
      if (name.startsWith("GLIBC_")) found.push(name.slice(6).split(".").map(Number));
      entry += view.getUint32(entry + 12, true);
    }
    library += view.getUint32(library + 12, true);
  }
  return found.sort(compareVersions).at(-1);
}
