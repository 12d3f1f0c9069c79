import { gunzipSync } from "node:zlib";
import { LibraryDownloadError } from "../../base/errors.ts";

/** A file of a package. */
export interface PackedFile {
  /** Its path in the package. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

const BLOCK = 512;
const MAX_BYTES = 1 << 29;
const decoder = new TextDecoder();

/** Yields the files of an npm tarball, which are all in one folder. Throws LibraryDownloadError for what isn't one, and for paths that lead elsewhere. */
export function* unpackTarball(tgz: Uint8Array): Generator<PackedFile> {
  const tar = unzip(tgz);
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0;) {
    const header = tar.subarray(at, at + BLOCK);
    const size = Number.parseInt(text(header.subarray(124, 136)).trim() || "0", 8);
    const bytes = tar.subarray(at + BLOCK, at + BLOCK + size);
    const prefix = text(header.subarray(345, 500));
    const path = (prefix === "" ? "" : `${prefix}/`) + text(header.subarray(0, 100));
    if (!(bytes.length === size)) throw damaged(`it ends inside ${path}`);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    const type = header[156];
    // Folders, links and long names: a platform package has none of the latter two.
    if (type !== 0x30 && type !== 0) continue;
    const [, inside = ""] = /^[^/\\]+\/((?:[\w.-]+\/)*[\w.-]+)$/.exec(path) ?? [];
    if (inside === "" || inside.split("/").includes("..")) throw damaged(`${path} is not a valid path in it`);
    yield { path: inside, bytes };
  }
}

function unzip(tgz: Uint8Array): Uint8Array {
  try {
    return gunzipSync(tgz, { maxOutputLength: MAX_BYTES });
  } catch (cause) {
    throw damaged("it isn't gzip", cause);
  }
}

function text(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return decoder.decode(end < 0 ? bytes : bytes.subarray(0, end));
}

function damaged(reason: string, cause?: unknown): LibraryDownloadError {
  return new LibraryDownloadError(`the package of the libraries can't be unpacked: ${reason}; run it again`, {
    expected: "a tarball of npm",
    cause,
  });
}
