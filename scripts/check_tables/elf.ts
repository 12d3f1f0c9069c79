/** Reads the names that a 64-bit little-endian ELF library exports, without any tool: `.dynsym`'s defined global and weak symbols, sorted. */
export function exportedSymbols(file: Uint8Array): string[] {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (view.byteLength < 64 || view.getUint32(0) !== 0x7f454c46) throw new Error("not an ELF file");
  if (file[4] !== 2 || file[5] !== 1) throw new Error("not a 64-bit little-endian ELF file");
  const sections = readSections(view);
  const table = sections.find((section) => section.type === 11);
  if (table === undefined) throw new Error("the ELF file has no .dynsym");
  const strings = sections[table.link];
  if (strings === undefined) throw new Error("the ELF file's .dynsym names no strings");
  const names: string[] = [];
  for (let at = table.offset; at < table.offset + table.size; at += 24) {
    const binding = view.getUint8(at + 4) >> 4;
    const isDefined = view.getUint16(at + 6, true) !== 0;
    if (isDefined && (binding === 1 || binding === 2)) {
      names.push(text(file, strings.offset + view.getUint32(at, true)));
    }
  }
  return names.sort();
}

interface Section {
  readonly type: number;
  readonly offset: number;
  readonly size: number;
  readonly link: number;
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
    };
  });
}

function text(file: Uint8Array, start: number): string {
  return new TextDecoder("latin1").decode(file.subarray(start, file.indexOf(0, start)));
}
