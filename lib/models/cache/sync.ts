import { randomBytes } from "node:crypto";
import { open, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";

/** Waits until a file is on the disk. */
export async function syncFile(path: string): Promise<void> {
  // Windows flushes only what is open for writing.
  await using file = await open(path, process.platform === "win32" ? "r+" : "r");
  await file.sync();
}

/** Waits until the names in a folder are on the disk. Windows has no way to ask for it. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform !== "win32") await syncFile(path);
}

/** Writes a small file so that readers see the old text or the new one, whatever stops the program or the machine. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = `${path}.tmp-${process.pid}-${randomBytes(4).toString("hex")}`;
  await writeFile(temporary, text, { flush: true });
  await rename(temporary, path);
  await syncFolder(dirname(path));
}
