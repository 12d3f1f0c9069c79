import { createHash } from "node:crypto";
import { open } from "node:fs/promises";

const CHUNK = 1 << 20;

/** Returns the SHA-256 of a file in hex. */
export async function sha256OfFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  const buffer = new Uint8Array(CHUNK);
  await using file = await open(path, "r");
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return hash.digest("hex");
    hash.update(buffer.subarray(0, bytesRead));
  }
}
