import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { benchFolder, runTool } from "./places.ts";

const VERSION = "3.22.1";

/**
 * Fetches node-llama-cpp with its prebuilt libraries for the CPU into the cache, unless it is there, and gives the folder. No install
 * script is run, and no GPU library fetched.
 */
export function ensurePeer(): string {
  const folder = benchFolder(`node-llama-cpp-${VERSION}`);
  const platform = `@node-llama-cpp/${process.platform === "darwin" ? "mac" : process.platform}-${process.arch}`;
  if (existsSync(join(folder, "node_modules", platform, "package.json"))) return folder;
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const install = ["npm", "install", "--ignore-scripts", "--omit=optional", "--no-save", "--no-audit", "--no-fund"];
  runTool([...install, `node-llama-cpp@${VERSION}`, `${platform}@${VERSION}`], { cwd: folder });
  return folder;
}
