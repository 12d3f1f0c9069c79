import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The versions that the tables are made for. */
export interface Versions {
  readonly ggmlVersion: string;
  readonly llamaVersion: string;
  readonly whisperVersion: string;
}

/** Reads the versions where upstream's build has them. */
export function readVersions(root: string): Versions {
  return {
    ggmlVersion: version(join(root, "ggml", "CMakeLists.txt"), "GGML"),
    llamaVersion: version(join(root, "CMakeLists.txt"), "LLAMA"),
    whisperVersion: version(join(root, "../whisper.cpp/CMakeLists.txt"), "WHISPER"),
  };
}

function version(file: string, prefix: string): string {
  const text = readFileSync(file, "utf8");
  const part = (name: string): string => {
    const match = new RegExp(`set\\(${prefix}_VERSION_${name} (\\d+)\\)`).exec(text);
    if (match === null) throw new Error(`${file} has no ${prefix}_VERSION_${name}`);
    return match[1]!;
  };
  return `${part("MAJOR")}.${part("MINOR")}.${part("PATCH")}`;
}
