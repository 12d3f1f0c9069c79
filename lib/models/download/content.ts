import { open } from "node:fs/promises";
import { fileKind, KIND_BYTES } from "../../gguf/file_kind.ts";
import { downloadError } from "./errors.ts";

/** Kinds that a server gives in place of a model. */
const NOT_A_MODEL = /HTML|LFS|XML|JSON|gzip/;

/** Throws {@linkcode ModelDownloadError} for a file that is a page or a pointer; it isn't kept. */
export async function refuseOtherKinds(url: URL, path: string, remove: () => Promise<void>): Promise<void> {
  const start = new Uint8Array(KIND_BYTES);
  let bytesRead: number;
  {
    await using file = await open(path, "r");
    ({ bytesRead } = await file.read(start, 0, start.length, 0));
  }
  const kind = bytesRead === 0 ? { what: "empty", cure: "check the address" } : fileKind(start.subarray(0, bytesRead));
  if (kind === undefined || (bytesRead > 0 && !NOT_A_MODEL.test(kind.what))) return;
  await remove();
  throw downloadError(url, `it is ${kind.what}`, { value: kind.what, expected: "a model", cure: kind.cure });
}
