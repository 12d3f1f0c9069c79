// Links from the source tree into the cache.
import { existsSync, readlinkSync } from "node:fs";
import { lstat, mkdir, rename, rm, symlink } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { SetupError } from "../support/errors.ts";

/** Makes `link` point to `folder`, whatever link was there before. Throws SetupError when something else is there. */
export async function linkTo(folder: string, link: string): Promise<void> {
  const to = resolve(folder);
  if (isLinkTo(link, to)) return;
  const present = await lstat(link).catch(() => undefined);
  if (present !== undefined && !present.isSymbolicLink()) {
    throw new SetupError(`${link} is in the way: set-up would put a link there. Move it elsewhere.`);
  }
  await mkdir(dirname(link), { recursive: true });
  const temporary = `${link}.tmp-${process.pid}`;
  await rm(temporary, { force: true });
  await symlink(to, temporary, "junction");
  if (process.platform === "win32") await rm(link, { force: true });
  await rename(temporary, link);
}

function isLinkTo(link: string, folder: string): boolean {
  try {
    return resolve(readlinkSync(link)) === folder && existsSync(folder);
  } catch {
    return false;
  }
}
