import process from "node:process";
import { LibraryOpenError, PermissionError, UnsupportedPlatformError } from "../../base/errors.ts";
import { cString, readCString } from "../memory/c_string.ts";
import type { AbiSignature, NativeRuntime, RawFunction } from "./types.ts";

/** An opened library. It is never closed: code of it may be running on any thread. */
export interface NativeLibrary {
  /** Its path. */
  readonly path: string;
  /** The address of an exported symbol; `null` when there is none. */
  symbol(name: string): bigint | null;
  /** Binds an exported function; `null` when there is none of that name. */
  bind(name: string, signature: AbiSignature): RawFunction | null;
}

/** The few functions of the operating system that are needed beside the libraries. */
export interface System {
  /** Opens a library. Throws LibraryOpenError with the system's message. */
  open(path: string): NativeLibrary;
  /** Sets a variable of the environment that C code reads (in Bun `process.env` doesn't reach it). */
  setEnvironment(name: string, value: string): void;
  /** Binds a function of the C library. Throws where there is none. */
  libc(name: string, signature: AbiSignature): RawFunction;
  /** Reads a small file of the system, by the C library: the runtime's own functions ask for permissions. On Linux only. */
  readonly readText: ((path: string) => string | undefined) | undefined;
  /** Zeroed pages; returns their address. Throws UnsupportedPlatformError where the system refuses. */
  memory(byteLength: number): bigint;
  /** Gives pages back. */
  freeMemory(address: bigint, byteLength: number): void;
  /** Puts machine code into memory that can be run; returns its address. Throws UnsupportedPlatformError where the system refuses. */
  executable(code: Uint8Array): bigint;
  /** Ends the process at once: no handler and no destructor runs. */
  exitNow(code: number): never;
}

const systems = new WeakMap<NativeRuntime, System>();

/** The operating system as seen through a runtime. Throws PermissionError. */
export function systemOf(runtime: NativeRuntime): System {
  let system = systems.get(runtime);
  if (system === undefined) {
    if (!runtime.mayCall()) {
      throw new PermissionError("calling native code isn't permitted: run with --allow-ffi, without paths", {
        expected: "--allow-ffi",
      });
    }
    system = process.platform === "win32" ? windows(runtime) : posix(runtime);
    systems.set(runtime, system);
  }
  return system;
}

function openError(path: string, message: string): LibraryOpenError {
  return new LibraryOpenError(`the library ${path} can't be opened: ${message}`, {
    value: path,
    expected: "a shared library for this system and processor",
  });
}

function library(
  runtime: NativeRuntime,
  path: string,
  find: (name: string) => bigint,
): NativeLibrary {
  const symbol = (name: string): bigint | null => {
    const address = find(name);
    return address === 0n ? null : address;
  };
  return {
    path,
    symbol,
    bind: (name, signature) => symbol(name) === null ? null : runtime.bind(path, name, signature),
  };
}

/** The C library's file: the first name that answers. */
function libcPath(runtime: NativeRuntime): string {
  const machine = process.arch === "arm64" ? "aarch64" : "x86_64";
  const names = process.platform === "darwin"
    ? ["libSystem.B.dylib"]
    : ["libc.so.6", `libc.musl-${machine}.so.1`, `/lib/ld-musl-${machine}.so.1`];
  let last: unknown;
  for (const name of names) {
    try {
      runtime.bind(name, "getpid", { parameters: [], result: "i32" });
      return name;
    } catch (error) {
      last = error;
    }
  }
  throw new UnsupportedPlatformError(`no C library was found under ${names.join(", ")}`, {
    value: process.platform,
    expected: "Linux with glibc or musl, macOS, or Windows",
    cause: last,
  });
}

function posix(runtime: NativeRuntime): System {
  const libc = libcPath(runtime);
  const dlopen = runtime.bind(libc, "dlopen", { parameters: ["u64", "i32"], result: "u64" });
  const dlsym = runtime.bind(libc, "dlsym", { parameters: ["u64", "u64"], result: "u64" });
  const dlerror = runtime.bind(libc, "dlerror", { parameters: [], result: "u64" });
  const now = 2;
  return {
    open(path: string): NativeLibrary {
      const text = cString(path);
      const handle = dlopen(runtime.addressOf(text), now) as bigint;
      if (handle === 0n) throw openError(path, readCString(runtime, dlerror() as bigint));
      return library(runtime, path, (name) => {
        const symbol = cString(name);
        return dlsym(handle, runtime.addressOf(symbol)) as bigint;
      });
    },
    setEnvironment(name: string, value: string): void {
      const setenv = runtime.bind(libc, "setenv", { parameters: ["u64", "u64", "i32"], result: "i32" });
      const texts = [cString(name), cString(value)] as const;
      setenv(runtime.addressOf(texts[0]), runtime.addressOf(texts[1]), 1);
    },
    libc: (name, signature) => runtime.bind(libc, name, signature),
    readText: process.platform === "linux" ? (path) => posixText(runtime, libc, path) : undefined,
    memory: (byteLength) => posixMemory(runtime, libc, byteLength),
    freeMemory(address: bigint, byteLength: number): void {
      boundOnce(runtime, libc, "munmap", { parameters: ["u64", "u64"], result: "i32" })(address, BigInt(byteLength));
    },
    executable: (code) => posixExecutable(runtime, libc, code),
    exitNow(code: number): never {
      runtime.bind(libc, "_exit", { parameters: ["i32"], result: "void" })(code);
      throw new Error("unreachable");
    },
  };
}

/** The text of a file as the system gives it; `undefined` when it can't be read. */
function posixText(runtime: NativeRuntime, libc: string, path: string): string | undefined {
  const closeOnExec = 0o2000000;
  const name = cString(path);
  const open = runtime.bind(libc, "open", { parameters: ["u64", "i32", "i32"], result: "i32" });
  const fd = open(runtime.addressOf(name), closeOnExec, 0) as number;
  if (fd < 0) return undefined;
  const read = runtime.bind(libc, "read", { parameters: ["i32", "u64", "u64"], result: "i64" });
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(16_384);
  let text = "";
  for (;;) {
    const length = Number(read(fd, runtime.addressOf(buffer), BigInt(buffer.length)));
    if (length <= 0) break;
    text += decoder.decode(buffer.subarray(0, length), { stream: true });
  }
  runtime.bind(libc, "close", { parameters: ["i32"], result: "i32" })(fd);
  return text;
}

const bound = new Map<string, RawFunction>();

/** Binds a function once: contexts and graphs come and go by the thousand. */
function boundOnce(runtime: NativeRuntime, libc: string, name: string, signature: AbiSignature): RawFunction {
  let known = bound.get(name);
  if (known === undefined) bound.set(name, known = runtime.bind(libc, name, signature));
  return known;
}

function mmapOf(runtime: NativeRuntime, libc: string): RawFunction {
  return boundOnce(runtime, libc, "mmap", { parameters: ["u64", "u64", "i32", "i32", "i32", "i64"], result: "i64" });
}

/** Zeroed pages that can be read and written. */
function posixMemory(runtime: NativeRuntime, libc: string, byteLength: number): bigint {
  const readWrite = 3;
  const privateAnonymous = process.platform === "darwin" ? 0x1002 : 0x22;
  const address = mmapOf(runtime, libc)(0n, BigInt(byteLength), readWrite, privateAnonymous, -1, 0n) as bigint;
  if (address !== -1n) return address;
  throw new UnsupportedPlatformError(`the system gives no ${byteLength} bytes of memory`, {
    value: byteLength,
    expected: "memory that is free",
  });
}

/** Memory that is written first and made executable after: at no time both. */
function posixExecutable(runtime: NativeRuntime, libc: string, code: Uint8Array): bigint {
  const size = BigInt(Math.ceil(code.length / 16384) * 16384);
  const readExecute = 5;
  const mprotect = runtime.bind(libc, "mprotect", { parameters: ["u64", "u64", "i32"], result: "i32" });
  const address = posixMemory(runtime, libc, Number(size));
  new Uint8Array(runtime.memory(address, Number(size))).set(code);
  if (mprotect(address, size, readExecute) === 0) {
    if (process.platform === "darwin") {
      runtime.bind(libc, "sys_icache_invalidate", { parameters: ["u64", "u64"], result: "void" })(address, size);
    }
    return address;
  }
  throw new UnsupportedPlatformError("the system allows no memory that is made executable", {
    value: process.platform,
    expected: "a system where mmap and mprotect give executable memory",
  });
}

function wideString(text: string): Uint16Array<ArrayBuffer> {
  return Uint16Array.from({ length: text.length + 1 }, (_, index) => index < text.length ? text.charCodeAt(index) : 0);
}

function windows(runtime: NativeRuntime): System {
  const kernel = "kernel32.dll";
  const bind = (name: string, signature: AbiSignature): RawFunction => runtime.bind(kernel, name, signature);
  const load = bind("LoadLibraryExW", { parameters: ["u64", "u64", "u32"], result: "u64" });
  const find = bind("GetProcAddress", { parameters: ["u64", "u64"], result: "u64" });
  const alteredSearchPath = 8;
  return {
    open(path: string): NativeLibrary {
      const text = wideString(path);
      const handle = load(runtime.addressOf(text), 0n, alteredSearchPath) as bigint;
      if (handle === 0n) throw openError(path, "LoadLibraryExW refused it");
      return library(runtime, path, (name) => {
        const symbol = cString(name);
        return find(handle, runtime.addressOf(symbol)) as bigint;
      });
    },
    setEnvironment(name: string, value: string): void {
      // The C runtime keeps a copy of its own: both are set.
      const put = runtime.bind("ucrtbase.dll", "_putenv_s", { parameters: ["u64", "u64"], result: "i32" });
      const texts = [cString(name), cString(value)] as const;
      put(runtime.addressOf(texts[0]), runtime.addressOf(texts[1]));
    },
    libc: (name, signature) => runtime.bind("ucrtbase.dll", name, signature),
    readText: undefined,
    memory(byteLength: number): bigint {
      const [commitAndReserve, readWrite] = [0x3000, 4];
      const allocate = boundOnce(runtime, kernel, "VirtualAlloc", {
        parameters: ["u64", "u64", "u32", "u32"],
        result: "u64",
      });
      const address = allocate(0n, BigInt(byteLength), commitAndReserve, readWrite) as bigint;
      if (address !== 0n) return address;
      throw new UnsupportedPlatformError(`the system gives no ${byteLength} bytes of memory`, {
        value: byteLength,
        expected: "memory that is free",
      });
    },
    freeMemory(address: bigint): void {
      const release = 0x8000;
      boundOnce(runtime, kernel, "VirtualFree", { parameters: ["u64", "u64", "u32"], result: "i32" })(
        address,
        0n,
        release,
      );
    },
    executable(): bigint {
      throw new UnsupportedPlatformError("no machine code is made on Windows", {
        value: process.platform,
        expected: "Linux or macOS",
      });
    },
    exitNow(code: number): never {
      const terminate = bind("TerminateProcess", { parameters: ["i64", "u32"], result: "i32" });
      const self = -1n;
      terminate(self, code);
      throw new Error("unreachable");
    },
  };
}
