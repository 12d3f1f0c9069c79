/** The content of a shared library's file, whatever its format. */
export interface Binary {
  readonly format: "ELF" | "Mach-O" | "PE";
  /** The processor, as targets name it. */
  readonly machine: string;
  /** The name under which others are linked against it. */
  readonly identity: string | undefined;
  /** Its exported symbols, sorted, as C names them. */
  readonly exports: readonly string[];
  /** The libraries that the system loads with it. */
  readonly dependencies: readonly string[];
  /** The folders in which the system looks for them. */
  readonly runPaths: readonly string[];
  /** The symbols that it imports; `library` where the file names it. */
  readonly imports: readonly Import[];
  /** The oldest system that takes it: glibc's highest symbol version, macOS's or the Windows subsystem's version; `undefined` when it names none. */
  readonly minimum: Version | undefined;
  /** Whether it has a code signature, without which macOS runs nothing on arm64. */
  readonly isSigned: boolean;
}

/** A symbol that a library takes from another. */
export interface Import {
  readonly name: string;
  readonly library: string | undefined;
}

/** A version as numbers: `[2, 17]`. */
export type Version = readonly number[];

/** Below zero when `a` is the older one. */
export function compareVersions(a: Version, b: Version): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The text that ends with a zero byte. Throws where the file ends before it does. */
export function textAt(file: Uint8Array, start: number): string {
  const end = file.indexOf(0, start);
  if (start < 0 || start > file.length || end < 0) throw new Error(`no text ends in the file from byte ${start} on`);
  return new TextDecoder("latin1").decode(file.subarray(start, end));
}

/** All of a file as a view. */
export function viewOf(file: Uint8Array): DataView {
  return new DataView(file.buffer, file.byteOffset, file.byteLength);
}
