import { readFileSync } from "node:fs";
import process from "node:process";
import { UnsupportedPlatformError } from "../../base/errors.ts";

/** The target of this process, as the manifests name it. Throws UnsupportedPlatformError where no libraries are made for it. */
export function hostTarget(): string {
  const machine = ({ x64: "x86_64", arm64: "aarch64" } as Record<string, string>)[process.arch];
  const system =
    ({ linux: `linux-${linuxLibc()}`, darwin: "macos", win32: "windows" } as Record<string, string>)[process.platform];
  if (machine === undefined || system === undefined) {
    throw new UnsupportedPlatformError(`there are no libraries for ${process.platform} on ${process.arch}`, {
      value: `${process.platform}-${process.arch}`,
      expected: "Linux, macOS or Windows on x64 or arm64",
    });
  }
  return `${machine}-${system}`;
}

/** The npm package with the libraries of this process's target. */
export function platformPackage(): string {
  const suffix = process.platform === "linux" ? `-${linuxLibc()}` : "";
  return `@ggml-ffi/${process.platform}-${process.arch}${suffix}`;
}

/** The C library of this process: a machine may have the loaders of both. */
function linuxLibc(): "gnu" | "musl" {
  if (process.platform !== "linux") return "gnu";
  const build = (globalThis as { Deno?: { build: { env?: string } } }).Deno?.build;
  if (build?.env !== undefined) return build.env === "musl" ? "musl" : "gnu";
  try {
    return /\/(ld-musl-|libc\.musl-)/.test(readFileSync("/proc/self/maps", "utf8")) ? "musl" : "gnu";
  } catch {
    return "gnu";
  }
}
