// npm's tarballs: POSIX tar in gzip.
import { gunzipSync } from "node:zlib";
import { SetupError } from "../support/errors.ts";

const BLOCK = 512;

/** A file in a tarball. */
export interface TarFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Yields the files of a .tgz. */
export function* filesOf(tgz: Uint8Array): Generator<TarFile> {
  const tar: Uint8Array = gunzipSync(tgz);
  let longName: string | undefined;
  for (let at = 0; at + BLOCK <= tar.length;) {
    const header = tar.subarray(at, at + BLOCK);
    if (header[0] === 0) return;
    const size = octal(header.subarray(124, 136));
    const bytes = tar.subarray(at + BLOCK, at + BLOCK + size);
    if (bytes.length !== size) throw new SetupError(`the tarball ends inside ${text(header.subarray(0, 100))}`);
    const type = String.fromCharCode(header[156] ?? 0);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    if (type === "x") longName = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text(bytes))?.[1];
    else if (type === "L") longName = text(bytes);
    else {
      const prefix = text(header.subarray(345, 500));
      const path = longName ?? (prefix ? `${prefix}/` : "") + text(header.subarray(0, 100));
      longName = undefined;
      if (type === "0" || type === "\0") yield { path, bytes };
    }
  }
}

function text(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(bytes.subarray(0, end < 0 ? bytes.length : end));
}

function octal(bytes: Uint8Array): number {
  return parseInt(text(bytes).trim() || "0", 8);
}
