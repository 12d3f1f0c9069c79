import { statfs } from "node:fs/promises";
import { ModelCacheError } from "../../errors.ts";

/** What a disk keeps free beside a download. */
const RESERVE = 1 << 24;

/** Throws {@linkcode ModelCacheError} when a folder's disk has no room. What can't be asked, in Deno without `--allow-sys`, is left to the system. */
export async function checkSpace(folder: string, bytes: number): Promise<void> {
  const free = await freeBytes(folder);
  if (free === undefined || bytes + RESERVE <= free) return;
  const megabytes = (count: number): string => `${Math.round(count / 1e6)} MB`;
  throw new ModelCacheError(
    `${megabytes(bytes)} don't fit into ${folder}, whose disk has ${
      megabytes(free)
    } free; make room, or set GGML_FFI_CACHE to another folder`,
    { value: free, expected: `${bytes + RESERVE} bytes` },
  );
}

async function freeBytes(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}
