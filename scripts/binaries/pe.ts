import { type Binary, type Import, textAt, viewOf } from "./binary.ts";

const machines: Readonly<Record<number, string>> = { 0x8664: "x86_64", 0xaa64: "aarch64" };
const directories = { exports: 0, imports: 1, delayedImports: 13 };

/** Reads a 64-bit DLL. Throws Error for anything else. */
export function readPe(file: Uint8Array): Binary {
  const view = viewOf(file);
  if (view.byteLength < 64 || view.getUint16(0, true) !== 0x5a4d) throw new Error("not a PE file");
  const header = view.getUint32(60, true);
  if (view.getUint32(header, true) !== 0x4550) throw new Error("not a PE file");
  const optional = header + 24;
  if (view.getUint16(optional, true) !== 0x20b) throw new Error("not a 64-bit PE file");
  const image = new Image(file, header);
  const tables = [
    ...image.importTables(directories.imports, 20),
    ...image.importTables(directories.delayedImports, 32),
  ];
  const machine = view.getUint16(header + 4, true);
  return {
    format: "PE",
    machine: machines[machine] ?? `machine ${machine}`,
    ...image.exports(),
    dependencies: tables.map(({ library }) => library),
    runPaths: [],
    imports: tables.flatMap(({ library, names }) => names.map((name): Import => ({ name, library }))),
    minimum: [view.getUint16(optional + 48, true), view.getUint16(optional + 50, true)],
    isSigned: false,
  };
}

/** The file as the system would lay it out in memory: what points in it counts from the start of the image. */
class Image {
  private readonly view: DataView;
  private readonly sections: readonly { address: number; size: number; offset: number }[];

  constructor(private readonly file: Uint8Array, private readonly header: number) {
    this.view = viewOf(file);
    const first = header + 24 + this.view.getUint16(header + 20, true);
    this.sections = Array.from({ length: this.view.getUint16(header + 6, true) }, (_, index) => {
      const at = first + index * 40;
      return {
        address: this.view.getUint32(at + 12, true),
        size: this.view.getUint32(at + 16, true),
        offset: this.view.getUint32(at + 20, true),
      };
    });
  }

  exports(): { identity: string | undefined; exports: string[] } {
    const address = this.directory(directories.exports);
    if (address === 0) return { identity: undefined, exports: [] };
    const at = this.offset(address);
    const names = this.offset(this.view.getUint32(at + 32, true));
    const exports = Array.from(
      { length: this.view.getUint32(at + 24, true) },
      (_, index) => this.text(this.view.getUint32(names + index * 4, true)),
    );
    return { identity: this.text(this.view.getUint32(at + 12, true)), exports: exports.sort() };
  }

  /** Both kinds of import have a table of entries that a zero entry ends; they differ in where the fields lie. */
  importTables(directory: number, entrySize: number): { library: string; names: string[] }[] {
    const address = this.directory(directory);
    if (address === 0) return [];
    const [nameField, listField] = directory === directories.imports ? [12, 0] : [4, 16];
    const found: { library: string; names: string[] }[] = [];
    for (let at = this.offset(address); this.view.getUint32(at + nameField, true) !== 0; at += entrySize) {
      const list = this.view.getUint32(at + listField, true);
      found.push({ library: this.text(this.view.getUint32(at + nameField, true)), names: this.importedNames(list) });
    }
    return found;
  }

  private importedNames(list: number): string[] {
    const names: string[] = [];
    for (let at = this.offset(list);; at += 8) {
      const entry = this.view.getBigUint64(at, true);
      if (entry === 0n) return names;
      const byNumber = entry >> 63n === 1n;
      names.push(byNumber ? `number ${entry & 0xffffn}` : this.text(Number(entry) + 2));
    }
  }

  private directory(index: number): number {
    const optional = this.header + 24;
    const count = this.view.getUint32(optional + 108, true);
    return index < count ? this.view.getUint32(optional + 112 + index * 8, true) : 0;
  }

  private offset(address: number): number {
    const section = this.sections.find((one) => address >= one.address && address < one.address + one.size);
    if (section === undefined) throw new Error(`no section of the PE file holds address ${address}`);
    return address - section.address + section.offset;
  }

  private text(address: number): string {
    return textAt(this.file, this.offset(address));
  }
}
