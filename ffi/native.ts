import { type FileStream, type MemoryFile, memoryFile, openStream } from "./runtime/file_stream.ts";
import { availableParallelism } from "node:os";
import { Binder, notExported } from "./call/binder.ts";
import { type NativeCallback, nativeCallback } from "./call/callback.ts";
import type { LibFunction } from "./call/caller.ts";
import { lazyFunctions, tracing } from "./call/lazy_functions.ts";
import { InvalidArgumentError, LibraryOpenError } from "../base/errors.ts";
import { Guard, guardCallbacks } from "./containment/guard.ts";
import { isAtLeast, type LogLine } from "./containment/log.ts";
import { checkVersions, Libraries, type OpenedLibraries } from "./library/libraries.ts";
import { loadPackages, locateLibraries, type OpenOptions } from "./library/locate.ts";
import type { LibrarySet } from "./library/manifest.ts";
import { cString, readCBytes, readCString } from "./memory/c_string.ts";
import { makePool, type Pool } from "./memory/pool.ts";
import type { NativeBuffer, Pointer } from "./types/pointer.ts";
import { type NativeRuntime, nativeRuntime } from "./runtime/types.ts";
import { bytesOf, type Owner, StructFactory } from "./memory/struct_factory.ts";
import type { StructView } from "./types/struct_view.ts";
import type { Signature } from "./types/signature.ts";
import { freeMemory } from "./runtime/free_memory.ts";
import { type System, systemOf } from "./runtime/system.ts";
import {
  type CallbackName,
  functionEntry,
  type Lib,
  type LibraryName,
  structLayout,
  type StructName,
} from "./tables.ts";
import type { Callbacks } from "./tables/callbacks.ts";
import { type DefaultsName, structDefaults } from "./tables/defaults.ts";
import type { Structs } from "./tables/structs.ts";
import { tableVersions } from "./tables/versions.ts";
import { traced } from "./runtime/trace.ts";

/** An argument of a function of {@linkcode Native.functionAt}: a number as the C type wants it (bigint for 64 bits), and for pointers memory or text too. */
export type FunctionArgument = number | bigint | boolean | string | null | NativeBuffer | StructView<object>;

/** A library that isn't part of the set. */
export interface NativeModule {
  /** Its path. */
  readonly path: string;
  /** The address of an exported symbol; `null` when there is none. */
  symbol(name: string): Pointer | null;
}

let readGuard: (native: Native) => Guard | undefined;

/** The opened libraries, as one thread sees them. */
export class Native {
  static {
    readGuard = (native) => native.#guard;
  }

  /**
   * Every function of every library. A function is bound on its first use; one that the libraries don't export, or that this runtime can't express,
   * throws SymbolNotFoundError or UnsupportedSignatureError when it is called.
   */
  readonly lib: Lib;
  /** Whether calls are checked before they are made: the option `checked` of {@linkcode open}. */
  readonly isChecked: boolean;
  readonly #runtime: NativeRuntime;
  readonly #system: System;
  readonly #libraries: Libraries;
  readonly #structs: StructFactory;
  readonly #binder: Binder;
  readonly #guard: Guard | undefined;
  /** The libraries whose own log was taken over. */
  readonly #loggingLibraries = new Set<LibraryName>();
  /** Functions by address and signature. */
  readonly #functions = new Map<string, LibFunction>();

  private constructor(
    runtime: NativeRuntime,
    libraries: Libraries,
    guard: Guard | undefined,
    checker?: new (native: Native, plain: Lib) => { readonly lib: Lib },
  ) {
    this.#guard = guard;
    this.#system = systemOf(runtime);
    this.#runtime = runtime;
    this.#libraries = libraries;
    this.#structs = new StructFactory(runtime, structLayout);
    this.#binder = new Binder(runtime, this.#structs, structLayout);
    this.isChecked = checker !== undefined;
    const plain = lazyFunctions((name) => this.#bind(name)) as unknown as Lib;
    this.lib = checker === undefined ? plain : new checker(this, plain).lib;
  }

  /** Finds, checks and opens the libraries: what {@linkcode open} does the first time. */
  static async open(options: OpenOptions): Promise<Native> {
    const [runtime] = await Promise.all([nativeRuntime(), loadPackages()]);
    const system = systemOf(runtime);
    const libraries = new Libraries(system, locateLibraries(options));
    // Without it an abort starts a debugger.
    system.setEnvironment("GGML_NO_BACKTRACE", "1");
    checkVersions(libraries, runtime, tableVersions);
    const native = new Native(runtime, libraries, Guard.install(runtime, system));
    native.#listen();
    native.#loadCpu();
    return native;
  }

  /** The same libraries on another thread of the process, from what `opened` gave there. */
  static async attach(opened: OpenedLibraries): Promise<Native> {
    const runtime = await nativeRuntime();
    const system = systemOf(runtime);
    const guard = opened.guard === undefined ? undefined : Guard.at(runtime, system, opened.guard);
    return new Native(runtime, new Libraries(system, opened.set, opened), guard);
  }

  /** The same libraries with functions that check each call before it is made. */
  async withChecks(): Promise<Native> {
    const { Checker } = await import("./checked/checker.ts");
    return new Native(this.#runtime, this.#libraries, this.#guard, Checker);
  }

  /** Returns what {@linkcode Native.attach} needs, as plain data. */
  opened(): OpenedLibraries {
    return { ...this.#libraries.opened(), guard: this.#guard?.place };
  }

  /** The set of libraries in use. */
  get set(): LibrarySet {
    return this.#libraries.set;
  }

  /** The runtime that this program runs on. */
  get runtime(): "deno" | "bun" {
    return this.#runtime.name;
  }

  /** A place in the log of native code: {@linkcode Native.logSince} gives what comes after it. */
  logMark(): number {
    return this.#guard?.lineCount ?? 0;
  }

  /** Warnings and errors that native code wrote on this thread since a mark; the last few hundred of the process are kept. On Linux only, else none. */
  logSince(mark: number): LogLine[] {
    const lines = this.#guard?.lines(mark, this.#guard.linux.threadNumber()) ?? [];
    return lines.filter((line) => isAtLeast(line, "warn"));
  }

  /** The process-wide function that takes the log of native code, for libraries with a log of their own; no JavaScript runs in it. */
  get logCallback(): Pointer<"ggml_log_callback"> {
    if (this.#guard !== undefined) return guardCallbacks(this.#guard.place).log;
    // Any function that does nothing.
    return this.symbol("llama_supports_mmap");
  }

  /**
   * Bytes of main memory that this process may still take: those that the system has, or what the limits of its control groups (containers) leave, if less.
   * `undefined` where it can't be known, as on macOS in Deno without `--allow-sys`.
   */
  freeMemory(): number | undefined {
    return freeMemory(this.#system.readText);
  }

  /** A zeroed struct in JavaScript memory. */
  struct<N extends StructName>(name: N): StructView<Structs[N]> {
    return this.#structs.make(name) as unknown as StructView<Structs[N]>;
  }

  /** `count` zeroed structs in a row in JavaScript memory; hand the first one to C as the array. */
  structArray<N extends StructName>(name: N, count: number): StructView<Structs[N]>[] {
    return this.#structs.makeArray(name, count) as unknown as StructView<Structs[N]>[];
  }

  /** A view of a struct in native memory, valid as long as that memory. With an owner each access asks it first. */
  structAt<N extends StructName>(name: N, pointer: Pointer<N>, owner?: Owner): StructView<Structs[N]> {
    return this.#structs.at(name, pointer, owner) as unknown as StructView<Structs[N]>;
  }

  /** A struct in JavaScript memory that holds a copy of these bytes. Throws InvalidArgumentError when their count is wrong. */
  structFrom<N extends StructName>(name: N, bytes: Uint8Array): StructView<Structs[N]> {
    return this.#structs.from(name, bytes) as unknown as StructView<Structs[N]>;
  }

  /** The default parameters that the library's own function gives; fields that hold that function's arguments are zero. */
  defaults<N extends DefaultsName>(name: N): StructView<Structs[N]> {
    if (!Object.hasOwn(structDefaults, name)) {
      throw new InvalidArgumentError(`no function of the headers gives defaults of ${String(name)}; use struct()`, {
        value: name,
        expected: Object.keys(structDefaults).join(", "),
      });
    }
    const { bytes, pointers, machine } = structDefaults[name];
    const view = this.#structs.make(name);
    bytesOf(view).setFromHex(bytes);
    for (const [field, pointee] of Object.entries(pointers ?? {})) Reflect.set(view, field, this.#pointee(pointee));
    for (const [field, most] of Object.entries(machine ?? {})) {
      Reflect.set(view, field, Math.min(most, availableParallelism()));
    }
    return view as unknown as StructView<Structs[N]>;
  }

  /** Returns the target of a default pointer: `symbol NAME` is an address, `result NAME` what that function returns, `text TEXT` a string. */
  #pointee(text: string): bigint | Uint8Array | null {
    const [kind, name] = text.split(" ") as [string, keyof Lib];
    if (kind === "text") return cString(name);
    return kind === "symbol" ? this.symbol(name) : (this.lib[name] as () => bigint | null)();
  }

  /** Sets fields of a struct. A pointer field also takes a typed array or a view, which then live as long as the struct's view. */
  assign<T extends object>(view: StructView<T>, fields: StructFields<T>): StructView<T> {
    return Object.assign(view, fields);
  }

  /** The address of a typed array or a struct view: right as long as you keep it. */
  addressOf<T extends string = "void">(memory: NativeBuffer | StructView<object>): Pointer<T> {
    return this.#structs.addressOfValue(memory) as Pointer<T>;
  }

  /** The bytes of a struct view, not copied. */
  bytesOf(view: StructView<object>): Uint8Array<ArrayBuffer> {
    return bytesOf(view);
  }

  /** The address of an exported function. Throws SymbolNotFoundError. */
  symbol<T extends string = "function">(name: keyof Lib): Pointer<T> {
    const entry = functionEntry(name);
    if (entry === undefined) {
      throw new InvalidArgumentError(`the headers declare no ${name}`, { value: name, expected: "a C function" });
    }
    const library = this.#libraries.library(entry.library);
    const address = library.symbol(name);
    if (address === null) throw notExported(name, library.path);
    return address as Pointer<T>;
  }

  /**
   * The C function at an address, such as one that `ggml_backend_reg_get_proc_address` gave. Pointers among its arguments may be typed arrays and
   * strings, which live until it returns. A signature that isn't the function's own ends the process. Throws UnsupportedSignatureError.
   */
  functionAt(pointer: Pointer, signature: Signature): (...values: readonly FunctionArgument[]) => unknown {
    // Making one is expensive, in Bun a compilation.
    const key = `${pointer} ${JSON.stringify(signature)}`;
    let made = this.#functions.get(key);
    if (made === undefined) this.#functions.set(key, made = this.#binder.bindAt(pointer, signature));
    return made as (...values: readonly FunctionArgument[]) => unknown;
  }

  /** Opens a library that isn't of the set, such as a backend from elsewhere; it stays open. Throws LibraryOpenError with the system's message. */
  openModule(path: string): NativeModule {
    const opened = this.#system.open(path);
    return { path, symbol: (name) => opened.symbol(name) as Pointer | null };
  }

  /** Opens a stream of the C library over an open file, which stays the caller's. Throws UnsupportedPlatformError on Windows. */
  openStream(fd: number, offset: number): FileStream {
    return openStream(this.#runtime, this.#system, fd, offset);
  }

  /** Makes an empty file in memory. Throws UnsupportedPlatformError where there is none. */
  memoryFile(): MemoryFile {
    return memoryFile(this.#runtime, this.#system);
  }

  /** Zeroed JavaScript memory whose first byte is at a multiple of `alignment`, a power of two. Throws RangeError when there isn't that much. */
  allocate(byteLength: number, alignment: number): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(new ArrayBuffer(byteLength + alignment));
    const past = Number(this.addressOf(whole) % BigInt(alignment));
    return whole.subarray(past === 0 ? 0 : alignment - past).subarray(0, byteLength);
  }

  /** Zeroed memory that other threads use, until it is released; aligned to 64 bytes. Throws RangeError when there isn't that much. */
  pool(byteLength: number): Pool {
    return makePool(this.#runtime, this.#system, byteLength);
  }

  /** Native memory as bytes, not copied: valid as long as that memory. */
  view(pointer: Pointer, byteLength: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#memory(pointer, byteLength), 0, byteLength);
  }

  /** The address so many bytes behind another one. */
  offset<T extends string>(pointer: Pointer, byteOffset: number): Pointer<T> {
    return pointer + BigInt(byteOffset) as Pointer<T>;
  }

  /** The pointers of an array that ends with NULL. */
  pointersAt(list: Pointer): Pointer[] {
    const found: Pointer[] = [];
    for (let at: bigint = list;; at += 8n) {
      const [value] = new BigUint64Array(this.#memory(at, 8), 0, 1);
      if (value === undefined || value === 0n) return found;
      found.push(value as Pointer);
    }
  }

  /** A view of one struct of an array in native memory, valid as long as that memory. */
  structElement<N extends StructName>(name: N, array: Pointer, index: number): StructView<Structs[N]> {
    return this.structAt(name, array + BigInt(index * structLayout(name).size) as Pointer<N>);
  }

  /** Native memory as 32-bit floats, not copied. */
  viewFloat32(pointer: Pointer, length: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.#memory(pointer, length * 4), 0, length);
  }

  /** Native memory as 32-bit integers, not copied. */
  viewInt32(pointer: Pointer, length: number): Int32Array<ArrayBuffer> {
    return new Int32Array(this.#memory(pointer, length * 4), 0, length);
  }

  /** A copy of native memory. */
  copy(pointer: Pointer, byteLength: number): Uint8Array<ArrayBuffer> {
    return this.view(pointer, byteLength).slice();
  }

  /** The NUL-terminated UTF-8 string at a pointer; bad bytes become U+FFFD; `""` for null. */
  readCString(pointer: Pointer | null): string {
    return pointer === null ? "" : readCString(this.#runtime, pointer);
  }

  /** A copy of the bytes at a pointer up to the first NUL; none for null. */
  readCBytes(pointer: Pointer | null): Uint8Array<ArrayBuffer> {
    return pointer === null ? new Uint8Array(0) : readCBytes(this.#runtime, pointer);
  }

  /** Makes a C function from a JavaScript one, for calls on this thread only. Throws InvalidArgumentError for a type that isn't in the headers. */
  callback<N extends CallbackName>(type: N, fn: Callbacks[N]): NativeCallback<N> {
    return nativeCallback(this.#runtime, this.#binder, type, fn);
  }

  #memory(pointer: bigint, byteLength: number): ArrayBuffer {
    if (byteLength < 0 || !Number.isSafeInteger(byteLength)) {
      throw new InvalidArgumentError(`${byteLength} is not a valid length`, {
        value: byteLength,
        expected: "an integer of at least 0",
      });
    }
    return byteLength === 0 ? new ArrayBuffer(0) : this.#runtime.memory(pointer, byteLength);
  }

  /** Takes over the log, which upstream writes to stderr, and aborts, which end the process; no JavaScript runs for either. */
  #listen(): void {
    if (this.#guard !== undefined) this.lib.ggml_set_abort_callback(guardCallbacks(this.#guard.place).abort);
    if (!traced("load")) this.lib.llama_log_set(this.logCallback, 0n as Pointer);
  }

  /** Some libraries have their own log, which goes to stderr until its target is set. Done when such a library is first used. */
  #listenTo(library: LibraryName): void {
    const setter = ownLogs[library];
    if (setter === undefined || this.#loggingLibraries.has(library) || traced("load")) return;
    this.#loggingLibraries.add(library);
    this.lib[setter](this.logCallback, 0n as Pointer);
  }

  #loadCpu(): void {
    const { lib } = this;
    const path = this.#libraries.library("ggml-cpu").path;
    if (lib.ggml_backend_load(path) === null) {
      throw new LibraryOpenError(`ggml refused the CPU backend ${path}`, {
        value: path,
        expected: "a backend of the same release",
      });
    }
  }

  #bind(name: string): LibFunction | undefined {
    const entry = functionEntry(name);
    if (entry === undefined) return undefined;
    const bound = this.#binder.bind(this.#libraries.library(entry.library), name, entry.signature);
    this.#listenTo(entry.library);
    return traced("calls") ? tracing(name, bound) : bound;
  }
}

/** The second argument of {@linkcode Native.assign}: fields of the struct, pointers also as JavaScript memory. */
export type StructFields<T> = {
  [K in keyof T]?: T[K] extends Pointer | null ? T[K] | NativeBuffer | StructView<object> : T[K];
};

/** The functions by which libraries with a log of their own get its target. */
const ownLogs: Partial<Record<LibraryName, "mtmd_log_set" | "whisper_log_set" | "parakeet_log_set">> = {
  "mtmd": "mtmd_log_set",
  "whisper": "whisper_log_set",
  "parakeet": "parakeet_log_set",
};

/** Returns the guard of native code, for `ffi/` only; `undefined` where there can be none. */
export function guardOf(native: Native): Guard | undefined {
  return readGuard(native);
}
