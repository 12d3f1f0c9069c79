import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";

const BLOCK = 512;

/** Returns a tarball with one bit of a file changed; with `mendManifest`, its manifest.json has the new hash. */
export function tampered(tgz: Uint8Array, file: string, mendManifest: boolean): Uint8Array {
  const tar = new Uint8Array(gunzipSync(tgz));
  const library = contentOf(tar, file);
  const before = createHash("sha256").update(library).digest("hex");
  library[library.length >> 1]! ^= 1;
  if (mendManifest) {
    const manifest = contentOf(tar, "manifest.json");
    const after = createHash("sha256").update(library).digest("hex");
    manifest.set(new TextEncoder().encode(new TextDecoder().decode(manifest).replace(before, after)));
  }
  return gzipSync(tar);
}

/** The bytes of a file inside a tar, in place. */
function contentOf(tar: Uint8Array, file: string): Uint8Array {
  for (let at = 0; at < tar.length;) {
    const field = (from: number, to: number): string =>
      new TextDecoder().decode(tar.subarray(at + from, at + to)).replace(/\0.*$/s, "");
    const size = Number.parseInt(field(124, 136), 8);
    if (field(0, 100) === `package/${file}`) return tar.subarray(at + BLOCK, at + BLOCK + size);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  throw new Error(`there is no ${file} in the tarball`);
}
