import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { UnsupportedPlatformError } from "../../base/errors.ts";
import { cString } from "../memory/c_string.ts";
import type { Pointer } from "../types/pointer.ts";
import type { System } from "./system.ts";
import type { NativeRuntime, RawFunction } from "./types.ts";

/** An open file as C's library has it, until it is disposed. */
export interface FileStream extends Disposable {
  /** The `FILE *`. */
  readonly pointer: Pointer<"FILE">;
}

/** Bytes in memory, or in a file without a name, that native code can map, until it is disposed. */
export interface MemoryFile extends Disposable {
  /** The system's number of the open file. */
  readonly fd: number;
  /** Appends bytes. Throws UnsupportedPlatformError when there is no room. */
  write(bytes: Uint8Array): void;
}

const CLOSE_ON_EXEC = 0o2000000;
const SEEK_SET = 0;
const SEEK_CUR = 1;

/** The functions of the C library for open files. */
class Files {
  readonly #runtime: NativeRuntime;
  readonly #system: System;
  readonly #bound = new Map<string, RawFunction>();

  constructor(runtime: NativeRuntime, system: System) {
    if (process.platform === "win32") {
      throw new UnsupportedPlatformError(
        "on Windows each C runtime has open files of its own, so native code can't use one of this program's; give the path of the file",
        { value: process.platform, expected: "a path" },
      );
    }
    this.#runtime = runtime;
    this.#system = system;
  }

  #call(name: string, parameters: ("i32" | "i64" | "u64")[], result: "i32" | "i64" | "u64", ...values: unknown[]) {
    let bound = this.#bound.get(name);
    if (bound === undefined) {
      bound = this.#system.libc(name, { parameters, result });
      this.#bound.set(name, bound);
    }
    return bound(...values as never[]) as number | bigint;
  }

  address(bytes: Uint8Array): bigint {
    return this.#runtime.addressOf(bytes);
  }

  /** A descriptor with a position of its own, where the system has that. */
  reopen(fd: number): { fd: number; isShared: boolean } {
    if (process.platform === "linux") {
      const name = cString(`/proc/self/fd/${fd}`);
      const own = Number(this.#call("open", ["u64", "i32", "i32"], "i32", this.address(name), CLOSE_ON_EXEC, 0));
      if (own >= 0) return { fd: own, isShared: false };
    }
    return { fd: Number(this.#call("dup", ["i32"], "i32", fd)), isShared: true };
  }

  seek(fd: number, offset: bigint, whence: number): bigint {
    return BigInt(this.#call("lseek", ["i32", "i64", "i32"], "i64", fd, offset, whence));
  }

  open(fd: number, offset: number): bigint {
    const mode = cString("rb");
    const file = BigInt(this.#call("fdopen", ["i32", "u64"], "u64", fd, this.address(mode)));
    if (file !== 0n) this.#call("fseeko", ["u64", "i64", "i32"], "i32", file, BigInt(offset), SEEK_SET);
    return file;
  }

  closeStream(file: bigint): void {
    this.#call("fclose", ["u64"], "i32", file);
  }

  close(fd: number): void {
    this.#call("close", ["i32"], "i32", fd);
  }

  write(fd: number, bytes: Uint8Array): number {
    return Number(
      this.#call("write", ["i32", "u64", "u64"], "i64", fd, this.address(bytes), BigInt(bytes.length)),
    );
  }

  memory(): number {
    const name = cString("ggml-ffi-model");
    const closeOnExec = 1;
    if (process.platform === "linux") {
      try {
        const fd = Number(this.#call("memfd_create", ["u64", "i32"], "i32", this.address(name), closeOnExec));
        if (fd >= 0) return fd;
      } catch {
        // An old C library has no such function.
      }
    }
    const path = cString(join(tmpdir(), "ggml-ffi-XXXXXX"));
    const fd = Number(this.#call("mkstemp", ["u64"], "i32", this.address(path)));
    if (fd >= 0) this.#call("unlink", ["u64"], "i32", this.address(path));
    return fd;
  }
}

/** Opens a stream of the C library over an open file, at an offset. The file stays the caller's, and its position as it is. Throws UnsupportedPlatformError. */
export function openStream(runtime: NativeRuntime, system: System, fd: number, offset: number): FileStream {
  const files = new Files(runtime, system);
  const { fd: own, isShared } = files.reopen(fd);
  const position = isShared ? files.seek(fd, 0n, SEEK_CUR) : -1n;
  const pointer = own < 0 ? 0n : files.open(own, offset);
  if (pointer === 0n) {
    if (own >= 0) files.close(own);
    throw new UnsupportedPlatformError(`the system can't open descriptor ${fd} once more`, {
      value: fd,
      expected: "a descriptor of a file that may be read",
    });
  }
  return {
    pointer: pointer as Pointer<"FILE">,
    [Symbol.dispose]: () => {
      files.closeStream(pointer);
      if (position >= 0n) files.seek(fd, position, SEEK_SET);
    },
  };
}

/** Makes an empty file in memory or, where the system has none, one on the disk without a name. Throws UnsupportedPlatformError. */
export function memoryFile(runtime: NativeRuntime, system: System): MemoryFile {
  const files = new Files(runtime, system);
  const fd = files.memory();
  const refuse = (what: string): never => {
    throw new UnsupportedPlatformError(`the system ${what}; write the model to a file and give its path`, {
      value: fd,
      expected: "room for the model",
    });
  };
  if (fd < 0) refuse("gives no file in memory");
  return {
    fd,
    write: (bytes) => {
      for (let at = 0; at < bytes.length;) {
        const count = files.write(fd, bytes.subarray(at));
        if (count <= 0) refuse("has no room for the model");
        at += count;
      }
    },
    [Symbol.dispose]: () => files.close(fd),
  };
}
