import process from "node:process";
import { cString } from "../memory/c_string.ts";
import type { AbiSignature, NativeRuntime, RawFunction } from "../runtime/types.ts";
import type { System } from "../runtime/system.ts";

const decoder = new TextDecoder();
const PR_SET_NAME = 15;
const SIGABRT = 6;
/** The numbers of system calls that the C library has no function for, or not since long. */
const CALLS = process.arch === "arm64"
  ? { gettid: 178n, tgkill: 131n, getdents64: 61n }
  : { gettid: 186n, tgkill: 234n, getdents64: 217n };

/**
 * The state of threads as Linux has it. By the C library and not by the runtime's own file functions: those ask for permissions that a program with
 * `--allow-ffi` may not have.
 */
export class Linux {
  readonly #runtime: NativeRuntime;
  readonly #libc: (name: string, signature: AbiSignature) => RawFunction;
  readonly #functions = new Map<string, RawFunction>();
  readonly #buffer = new Uint8Array(16384);

  /** Linux, as seen through a runtime. */
  constructor(runtime: NativeRuntime, system: System) {
    this.#runtime = runtime;
    this.#libc = (name, signature) => system.libc(name, signature);
  }

  /** The number of the thread that asks. */
  threadNumber(): number {
    return Number(this.#syscall(CALLS.gettid));
  }

  /** Names the thread that asks; fifteen bytes at most. Threads that it starts get the name too. */
  nameThread(name: string): void {
    const text = cString(name);
    const prctl = this.#bind("prctl", { parameters: ["i64", "u64", "u64", "u64", "u64"], result: "i32" });
    prctl(PR_SET_NAME, this.#runtime.addressOf(text), 0n, 0n, 0n);
  }

  /** The name of a thread of this process; `""` when there is no such thread. */
  nameOf(tid: number): string {
    return this.#read(`/proc/self/task/${tid}/comm`).trimEnd();
  }

  /** Nanoseconds that a thread of this process has run; `undefined` when there is no such thread. Not from `/proc`: not every kernel counts there. */
  runtimeOf(tid: number): number | undefined {
    const clock = this.#bind("clock_gettime", { parameters: ["i32", "u64"], result: "i32" });
    const time = new BigInt64Array(2);
    // The number of the clock of a thread's use of the processor.
    if (clock(~tid << 3 | 6, this.#runtime.addressOf(time)) !== 0) return undefined;
    return Number(time[0]) * 1e9 + Number(time[1]);
  }

  /** Sends SIGABRT to one thread of this process. */
  abort(tid: number): void {
    this.#syscall(CALLS.tgkill, BigInt(process.pid), BigInt(tid), BigInt(SIGABRT));
  }

  /** The numbers of all threads of this process. */
  threads(): number[] {
    const fd = this.#open("/proc/self/task");
    if (fd < 0) return [];
    const tids: number[] = [];
    const buffer = this.#buffer;
    const view = new DataView(buffer.buffer);
    for (;;) {
      const length = Number(
        this.#syscall(CALLS.getdents64, BigInt(fd), this.#runtime.addressOf(buffer), BigInt(buffer.length)),
      );
      if (length <= 0) break;
      for (let at = 0; at < length; at += view.getUint16(at + 16, true)) {
        const tid = Number.parseInt(decoder.decode(buffer.subarray(at + 19, buffer.indexOf(0, at + 19))));
        if (Number.isInteger(tid)) tids.push(tid);
      }
    }
    this.#close(fd);
    return tids;
  }

  /** A copy of memory of this process, shorter where it ends; `undefined` where there is none. Never faults: the system reads. */
  peek(address: bigint, byteLength: number): Uint8Array<ArrayBuffer> | undefined {
    const read = this.#bind("process_vm_readv", {
      parameters: ["i32", "u64", "u64", "u64", "u64", "u64"],
      result: "i64",
    });
    const bytes = new Uint8Array(byteLength);
    const [into, from] = [
      new BigUint64Array([this.#runtime.addressOf(bytes), BigInt(byteLength)]),
      new BigUint64Array([address, BigInt(byteLength)]),
    ];
    const { addressOf } = this.#runtime;
    const count = Number(read(process.pid, addressOf(into), 1n, addressOf(from), 1n, 0n));
    return count <= 0 ? undefined : bytes.subarray(0, count);
  }

  /** The address of SIGABRT's handler; 0 for the default. */
  abortHandler(): bigint {
    const old = new BigUint64Array(19);
    this.#sigaction(0n, this.#runtime.addressOf(old));
    return old[0] ?? 0n;
  }

  /** Sets SIGABRT's handler; while it runs every other signal waits. Whether the system took it. */
  handleAbort(handler: bigint): boolean {
    // glibc and musl, x86-64 and AArch64 alike: the handler, 1024 bits of signals, flags, a field of the library's own.
    const action = new BigUint64Array(19).fill(~0n, 1, 17);
    action[0] = handler;
    return this.#sigaction(this.#runtime.addressOf(action), 0n) === 0;
  }

  #sigaction(action: bigint, old: bigint): number {
    const sigaction = this.#bind("sigaction", { parameters: ["i32", "u64", "u64"], result: "i32" });
    return sigaction(SIGABRT, action, old) as number;
  }

  #syscall(number: bigint, a = 0n, b = 0n, c = 0n): bigint {
    const syscall = this.#bind("syscall", { parameters: ["i64", "u64", "u64", "u64"], result: "i64" });
    return BigInt(syscall(number, a, b, c) as bigint);
  }

  #read(path: string): string {
    const fd = this.#open(path);
    if (fd < 0) return "";
    const read = this.#bind("read", { parameters: ["i32", "u64", "u64"], result: "i64" });
    const length = Number(read(fd, this.#runtime.addressOf(this.#buffer), 256n));
    this.#close(fd);
    return decoder.decode(this.#buffer.subarray(0, Math.max(0, length)));
  }

  #open(path: string): number {
    const text = cString(path);
    const closeOnExec = 0o2000000;
    const open = this.#bind("open", { parameters: ["u64", "i32", "i32"], result: "i32" });
    return open(this.#runtime.addressOf(text), closeOnExec, 0) as number;
  }

  #close(fd: number): void {
    this.#bind("close", { parameters: ["i32"], result: "i32" })(fd);
  }

  #bind(name: string, signature: AbiSignature): RawFunction {
    let bound = this.#functions.get(name);
    if (bound === undefined) {
      bound = this.#libc(name, signature);
      this.#functions.set(name, bound);
    }
    return bound;
  }
}
