/** Small shared libraries, byte by byte, of the three formats. */

/** Writes numbers and texts at places of a file that grows as needed. */
class Bytes {
  private readonly bytes = new Uint8Array(8192);
  private readonly view = new DataView(this.bytes.buffer);

  u8(at: number, ...values: readonly number[]): void {
    this.bytes.set(values, at);
  }

  u16(at: number, ...values: readonly number[]): void {
    values.forEach((value, index) => this.view.setUint16(at + index * 2, value, true));
  }

  u32(at: number, ...values: readonly number[]): void {
    values.forEach((value, index) => this.view.setUint32(at + index * 4, value, true));
  }

  u64(at: number, ...values: readonly number[]): void {
    values.forEach((value, index) => this.view.setBigUint64(at + index * 8, BigInt(value), true));
  }

  /** A text and the zero byte that ends it. */
  text(at: number, value: string): void {
    this.bytes.set(new TextEncoder().encode(`${value}\0`), at);
  }

  done(): Uint8Array {
    return this.bytes;
  }
}

/** An ELF library of x86-64: exports `a_function`, takes `malloc` of GLIBC_2.17 and needs GLIBC_2.9 too. */
export function elfFile(): Uint8Array {
  const file = new Bytes();
  file.u8(0, 0x7f, 0x45, 0x4c, 0x46, 2, 1);
  file.u16(18, 62);
  file.u64(40, 4096); // section headers
  file.u16(58, 64, 5);
  const strings = 1024;
  const texts = ["", "a_function", "malloc", "libc.so.6", "$ORIGIN", "libown.so", "GLIBC_2.9", "GLIBC_2.17"];
  const places = texts.map((_, index) => texts.slice(0, index).reduce((sum, text) => sum + text.length + 1, 0));
  texts.forEach((text, index) => file.text(strings + places[index]!, text));
  const place = (text: string): number => places[texts.indexOf(text)]!;

  const symbols = 512;
  file.u32(symbols + 24, place("a_function"));
  file.u8(symbols + 28, 0x12);
  file.u16(symbols + 30, 7);
  file.u32(symbols + 48, place("malloc"));
  file.u8(symbols + 52, 0x12);

  const dynamic = 640;
  file.u64(dynamic, 1, place("libc.so.6"), 14, place("libown.so"), 29, place("$ORIGIN"), 0, 0);

  const versions = 768;
  file.u16(versions, 1, 2);
  file.u32(versions + 4, place("libc.so.6"), 16, 0);
  file.u32(versions + 24, place("GLIBC_2.17"), 16);
  file.u32(versions + 40, place("GLIBC_2.9"), 0);

  const section = (index: number, type: number, offset: number, size: number, link: number, info = 0): void => {
    const at = 4096 + index * 64;
    file.u32(at + 4, type);
    file.u64(at + 24, offset, size);
    file.u32(at + 40, link, info);
  };
  section(1, 11, symbols, 72, 4);
  section(2, 6, dynamic, 64, 4);
  section(3, 0x6ffffffe, versions, 56, 4, 1);
  section(4, 3, strings, 256, 0);
  return file.done();
}

/** A Mach-O library of arm64: exports `_one`, `_one_more` and `_two`, takes `_malloc` of libSystem, is for macOS 11.0 and signed. */
export function machOFile(): Uint8Array {
  const file = new Bytes();
  file.u32(0, 0xfeedfacf, 0x0100000c, 0, 6, 7, 0, 0, 0);
  let at = 32;
  const command = (kind: number, size: number, write: (at: number) => void): void => {
    file.u32(at, kind, size);
    write(at);
    at += size;
  };
  const named = (kind: number, name: string, header: number): void =>
    command(kind, 64, (start) => {
      file.u32(start + 8, header);
      file.text(start + header, name);
    });
  named(0xd, "@rpath/libown.dylib", 24);
  named(0xc, "/usr/lib/libSystem.B.dylib", 24);
  named(0x8000001c, "@loader_path", 12);
  command(0x32, 24, (start) => file.u32(start + 8, 1, 11 << 16, 14 << 16, 0));
  command(0x2, 24, (start) => file.u32(start + 8, 2048, 2, 2304, 64));
  command(0x1d, 16, (start) => file.u32(start + 8, 4000, 16));
  command(0x80000033, 16, (start) => file.u32(start + 8, 3000, 64));
  // Two symbols: one that is defined, one that is taken of the first library.
  file.u32(2048, 1);
  file.u8(2052, 0x0f, 1);
  file.u32(2064, 8);
  file.u8(2068, 0x01, 0);
  file.u16(2070, 1 << 8);
  file.text(2305, "_one");
  file.text(2312, "_malloc");
  // The trie, its nodes at 0, 5, 20, 32 and 40 of it: _ to { one (an export, which goes on to _more), two }.
  file.u8(3000, 0, 1);
  file.text(3002, "_");
  file.u8(3004, 5);
  file.u8(3005, 0, 2);
  file.text(3007, "one");
  file.u8(3011, 20);
  file.text(3012, "two");
  file.u8(3016, 40);
  file.u8(3020, 2, 0, 16, 1);
  file.text(3024, "_more");
  file.u8(3030, 32);
  file.u8(3032, 2, 0, 32, 0);
  file.u8(3040, 2, 0, 48, 0);
  return file.done();
}

/** A DLL of x86-64: exports `alpha` and `beta`, takes `Sleep` of KERNEL32.dll and entry 7 of WS2_32.dll, is for Windows 6.0. */
export function peFile(): Uint8Array {
  const file = new Bytes();
  file.u16(0, 0x5a4d);
  file.u32(60, 128);
  file.u32(128, 0x4550);
  file.u16(132, 0x8664, 1);
  file.u16(148, 240);
  const optional = 152;
  file.u16(optional, 0x20b);
  file.u16(optional + 48, 6, 0);
  file.u32(optional + 108, 16);
  file.u32(optional + 112, 0x1000, 64, 0x1100, 60);
  file.u32(optional + 240 + 8, 0x1000, 0x1000, 0x1000, 512);
  // What lies at 0x1000 in memory is at 512 in the file.
  const at = (address: number): number => address - 0x1000 + 512;
  file.u32(at(0x1000) + 12, 0x1200, 1, 2, 2, 0x1300, 0x1310, 0x1320);
  file.text(at(0x1200), "own.dll");
  file.u32(at(0x1310), 0x1210, 0x1220);
  file.text(at(0x1210), "beta");
  file.text(at(0x1220), "alpha");
  file.u32(at(0x1100), 0x1400, 0, 0, 0x1230, 0x1400);
  file.u32(at(0x1114), 0x1420, 0, 0, 0x1240, 0x1420);
  file.text(at(0x1230), "KERNEL32.dll");
  file.text(at(0x1240), "WS2_32.dll");
  file.u64(at(0x1400), 0x1260, 0);
  file.text(at(0x1262), "Sleep");
  file.u32(at(0x1420), 7, 0x80000000);
  return file.done();
}
