// Reads npm's tarballs: POSIX tar in gzip.
import { gunzipSync } from "node:zlib";
import { SetupError } from "./errors.mjs";

const block = 512;

/** The files of a .tgz: yields `{ path, bytes }`. */
export function* filesOf(tgz) {
  const tar = gunzipSync(tgz);
  let longName;
  for (let at = 0; at + block <= tar.length;) {
    const header = tar.subarray(at, at + block);
    if (header[0] === 0) return;
    const size = octal(header.subarray(124, 136));
    const bytes = tar.subarray(at + block, at + block + size);
    if (bytes.length !== size) throw new SetupError(`the tarball ends inside ${text(header.subarray(0, 100))}`);
    const type = String.fromCharCode(header[156]);
    at += block + Math.ceil(size / block) * block;
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

function text(bytes) {
  const end = bytes.indexOf(0);
  return bytes.subarray(0, end < 0 ? bytes.length : end).toString("utf8");
}

function octal(bytes) {
  return parseInt(text(bytes).trim() || "0", 8);
}
