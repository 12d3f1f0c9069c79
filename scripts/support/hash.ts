import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { SetupError } from "./errors.ts";

/** The SHA-256 of a file, in hexadecimal. */
export async function sha256(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Uint8Array);
  return hash.digest("hex");
}

/** Throws SetupError that names both values when a file isn't the pinned one. */
export async function checkSha256(path: string, expected: string, name: string): Promise<void> {
  const found = await sha256(path);
  if (found === expected) return;
  throw new SetupError(`${name} isn't what is pinned.\n  pinned: ${expected}\n  came:   ${found}`);
}
