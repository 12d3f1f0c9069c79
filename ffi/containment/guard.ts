import process from "node:process";
import {
  ABORTS,
  BLOCK_SIZE,
  type GuardCode,
  guardCode,
  LEAST_LEVEL,
  MARK_TEXT,
  NEWLINE,
  PARKED,
  PARKED_COUNT,
  PARKED_SLOTS,
  RECORD_LENGTH,
  RECORD_LEVEL,
  RECORD_SIZE,
  RECORD_SLOTS,
  RECORD_TEXT,
  RECORD_TID,
  RECORDS,
  SEQUENCE,
} from "./guard_code.ts";
import { Linux } from "./linux.ts";
import { type LogLevel, logLevelNumber, logLevelOf, type LogLine } from "./log.ts";
import type { Pointer } from "../types/pointer.ts";
import type { NativeRuntime } from "../runtime/types.ts";
import type { System } from "../runtime/system.ts";

/** The addresses of the guard's block and functions: plain data, for other threads of the process. */
export interface GuardPlace {
  /** The block. */
  readonly data: bigint;
  /** A `ggml_log_callback`. */
  readonly log: bigint;
  /** A `ggml_abort_callback`. */
  readonly abort: bigint;
  /** The handler of SIGABRT. */
  readonly park: bigint;
}

/**
 * Watches over native code without any JavaScript on its threads: its log, the messages of its aborts, and which threads aborted. One per process; see
 * `guard_code.ts`. Only where machine code can be made, on Linux.
 */
export class Guard {
  /** Its addresses. */
  readonly place: GuardPlace;
  readonly #linux: Linux;
  readonly #words: Int32Array<ArrayBuffer>;
  readonly #bytes: Uint8Array<ArrayBuffer>;

  private constructor(runtime: NativeRuntime, linux: Linux, place: GuardPlace) {
    const memory = runtime.memory(place.data, BLOCK_SIZE);
    this.place = place;
    this.#linux = linux;
    this.#words = new Int32Array(memory);
    this.#bytes = new Uint8Array(memory);
  }

  /** Sets the guard up, or finds the one that this process has; `undefined` where there can be none. */
  static install(runtime: NativeRuntime, system: System): Guard | undefined {
    if (process.platform !== "linux") return undefined;
    try {
      const linux = new Linux(runtime, system);
      const known = existing(runtime, linux.abortHandler());
      if (known !== undefined) return new Guard(runtime, linux, known);
      const data = system.memory(BLOCK_SIZE);
      const code = guardCode(process.arch, data);
      if (code === undefined) return undefined;
      const place = placeOf(code, system.executable(code.bytes), data);
      const guard = new Guard(runtime, linux, place);
      guard.#words[LEAST_LEVEL / 4] = logLevelNumber("warn");
      // Each processor's code reads it from another block.
      guard.#bytes[NEWLINE] = guard.#bytes[ABORTS + NEWLINE] = 10;
      if (!linux.handleAbort(place.park)) return undefined;
      return guard;
    } catch {
      // No memory for machine code, no C library by a known name: aborts end the process then, and logs are dropped.
      return undefined;
    }
  }

  /** Returns the guard at addresses that came from another thread. */
  static at(runtime: NativeRuntime, system: System, place: GuardPlace): Guard {
    return new Guard(runtime, new Linux(runtime, system), place);
  }

  /** Linux's own functions. */
  get linux(): Linux {
    return this.#linux;
  }

  /** Makes the thread that asks, and those that it starts from now on, ones that are parked when they abort; or takes that back. */
  contain(tid: number, contained: boolean): void {
    this.#linux.nameThread(contained ? nameOfThreads(tid) : "native thread");
  }

  /** The number of threads that were parked. A read of memory. */
  get parkedCount(): number {
    return Atomics.load(this.#words, PARKED_COUNT / 4);
  }

  /** The parked threads from number `from` on. */
  parked(from: number): number[] {
    const tids: number[] = [];
    for (let at = from; at < this.parkedCount; at++) {
      const tid = Atomics.load(this.#words, PARKED / 4 + at % PARKED_SLOTS);
      if (tid === 0) break;
      tids.push(tid);
    }
    return tids;
  }

  /** Notes lines from this level on; what others want noted stays so. */
  note(level: LogLevel): void {
    const number = logLevelNumber(level);
    if (number < Atomics.load(this.#words, LEAST_LEVEL / 4)) Atomics.store(this.#words, LEAST_LEVEL / 4, number);
  }

  /** The number of the next line. */
  get lineCount(): number {
    return Atomics.load(this.#words, SEQUENCE / 4) >>> 0;
  }

  /** Lines of the log from number `from` on, as far as they are still there; of one thread when it is given. */
  lines(from: number, tid?: number): LogLine[] {
    return this.#records(0, from, (record) => tid === undefined || record.tid === tid);
  }

  /** Returns the message of the last abort of one of these threads; `undefined` when there was none. */
  lastMessage(tids: readonly number[]): string | undefined {
    return this.#records(ABORTS, 0, (record) => tids.includes(record.tid)).at(-1)?.text;
  }

  #records(block: number, from: number, wanted: (record: { tid: number }) => boolean): LogLine[] {
    const end = Atomics.load(this.#words, (block + SEQUENCE) / 4) >>> 0;
    const lines: LogLine[] = [];
    for (let number = Math.max(from, end - RECORD_SLOTS); number < end; number++) {
      const at = block + RECORDS + (number % RECORD_SLOTS) * RECORD_SIZE;
      const word = (offset: number): number => Atomics.load(this.#words, (at + offset) / 4);
      if (word(0) !== (number + 1 | 0)) continue;
      const record = { level: logLevelOf(word(RECORD_LEVEL)), tid: word(RECORD_TID) };
      if (!wanted(record)) continue;
      const start = at + RECORD_TEXT;
      const text = new TextDecoder().decode(this.#bytes.slice(start, start + word(RECORD_LENGTH)));
      lines.push({ ...record, text: text.trimEnd() });
    }
    return lines;
  }
}

/** The name of a native thread that may be parked, and of all that it starts: they are known by it. */
export function nameOfThreads(tid: number): string {
  return `${MARK_TEXT}${tid}`;
}

/** The least size of a page. The code is shorter, and begins one. */
const PAGE_SIZE = 4096n;

/**
 * Returns the guard that another JavaScript thread of this process has set up, known by what handles SIGABRT: code that is the guard's own, byte by byte,
 * for the block whose address stands in it. Nothing else is taken for an address, above all nothing in the environment.
 */
function existing(runtime: NativeRuntime, handler: bigint): GuardPlace | undefined {
  const form = guardCode(process.arch, 0n);
  if (form === undefined) return undefined;
  const at = handler - BigInt(form.park);
  // The handler's page is mapped; what is behind it may not be.
  if (at <= 0n || at % PAGE_SIZE !== 0n || form.bytes.length > PAGE_SIZE) return undefined;
  const found = new Uint8Array(runtime.memory(at, form.bytes.length)).slice();
  const data = new DataView(found.buffer).getBigUint64(form.data, true);
  const code = guardCode(process.arch, data);
  const isOurs = data !== 0n && code !== undefined && code.bytes.every((byte, index) => byte === found[index]);
  return isOurs ? placeOf(code, at, data) : undefined;
}

function placeOf({ log, abort, park }: GuardCode, at: bigint, data: bigint): GuardPlace {
  return { data, log: at + BigInt(log), abort: at + BigInt(abort), park: at + BigInt(park) };
}

/** The guard's functions as the callbacks that they are. */
export function guardCallbacks(
  place: GuardPlace,
): { log: Pointer<"ggml_log_callback">; abort: Pointer<"ggml_abort_callback_t"> } {
  return { log: place.log as Pointer<"ggml_log_callback">, abort: place.abort as Pointer<"ggml_abort_callback_t"> };
}
