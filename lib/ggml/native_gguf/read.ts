/**
 * Reading of GGUF files by ggml itself.
 *
 * @module
 */

import { oneOf, options, type RulesOf } from "../../../base/options.ts";
import { adoptContext } from "../tensor/context.ts";
import {
  type gguf_init_params,
  type Native,
  type NativeThread,
  open,
  type Pointer,
  type StructView,
} from "../../../ffi/mod.ts";
import { GgufFormatError } from "../../errors.ts";
import { checkInteger, isInstance, refuse } from "../../../base/check.ts";
import { type ByteSource, FileSource, MemorySource } from "../../gguf/byte_source.ts";
import { ComputeThread } from "../backend/compute_thread.ts";
import type { GgmlContext } from "../tensor/context.ts";
import { parseGgufHeader } from "../../gguf/header.ts";
import { filePath } from "../../gguf/writer.ts";

/** Handling of a file's tensors: none are made, tensors without data, or tensors with their data. C: `gguf_init_params`. */
export type NativeGgufTensors = "none" | "shapes" | "data";

/** Options of reading a native GGUF context. */
export interface NativeGgufOptions {
  /** The tensors of {@linkcode NativeGguf.context}. Default `"none"`. */
  readonly tensors?: NativeGgufTensors | undefined;
}

/** A file's bytes by a function. */
export interface NativeGgufReader {
  /** Length in bytes. */
  readonly size: number;
  /** Returns `length` bytes from `offset` synchronously; fewer end the reading. */
  read(offset: number, length: number): Uint8Array;
}

/** The bytes that were read. */
export interface ReadGguf {
  /** The libraries that read it. */
  readonly native: Native;
  /** The native GGUF context, which the caller owns. */
  readonly pointer: Pointer<"gguf_context">;
  /** The tensors, which the caller owns; `undefined` for `tensors: "none"`. */
  readonly context: GgmlContext | undefined;
}

/** Creates a context from the parameters, by calls on the native thread. */
type Init = (
  call: NativeThread["call"],
  params: StructView<gguf_init_params>,
  native: Native,
) => Promise<Pointer<"gguf_context"> | null>;

/** Reads a file on a native thread. C: `gguf_init_from_file`. */
export async function readGgufFile(path: string | URL, options: NativeGgufOptions | undefined): Promise<ReadGguf> {
  const checked = filePath(path);
  const tensors = checkTensors(options);
  await using source = await FileSource.open(checked);
  return await readSource(source, tensors, (thread, params) => thread("gguf_init_from_file", checked, params));
}

/** Reads bytes, on a native thread. C: `gguf_init_from_buffer`. */
export async function readGgufBytes(bytes: Uint8Array, options: NativeGgufOptions | undefined): Promise<ReadGguf> {
  if (!isInstance(bytes, Uint8Array)) refuse("the bytes", bytes, "a Uint8Array");
  const tensors = checkTensors(options);
  const size = BigInt(bytes.length);
  return await readSource(
    new MemorySource(bytes),
    tensors,
    (thread, params) => thread("gguf_init_from_buffer", bytes, size, params),
  );
}

/** Reads by a function, on the calling thread. C: `gguf_init_from_callback`. */
export async function readGgufByFunction(
  reader: NativeGgufReader,
  options: NativeGgufOptions | undefined,
): Promise<ReadGguf> {
  if (typeof methodOf(reader) !== "function") {
    refuse("the reader", reader, "{ size, read(offset, length) }");
  }
  const size = checkInteger("size", reader.size, { min: 0, max: Number.MAX_SAFE_INTEGER });
  const tensors = checkTensors(options);
  const read: ReadInto = (into, position) => {
    const bytes = reader.read(position, into.length);
    if (!isInstance(bytes, Uint8Array)) refuse("what the reader gave", bytes, "a Uint8Array");
    into.set(bytes.subarray(0, into.length));
    return Math.min(bytes.length, into.length);
  };
  return await readSource(readerSource(read, size), tensors, (_, params, native) => {
    const thrown: unknown[] = [];
    using callback = native.callback("gguf_reader_callback_t", (_data, output, offset, length) => {
      if (output === null || thrown.length > 0) return 0n;
      try {
        return BigInt(read(native.view(output, Number(length)), Number(offset)));
      } catch (error) {
        thrown.push(error);
        return 0n;
      }
    });
    const nothing = 0n as Pointer;
    const made = native.lib.gguf_init_from_callback(callback.pointer, nothing, 0n, BigInt(size), params);
    if (thrown.length > 0) throw thrown[0];
    return Promise.resolve(made);
  });
}

/** Fills memory from a position on; gives how many bytes there were. */
type ReadInto = (into: Uint8Array, position: number) => number;

/** A byte source over a reader function, for the check of the header. */
function readerSource(read: ReadInto, size: number): ByteSource {
  const name = "what the reader gives";
  return {
    size,
    name,
    read(into, position): Promise<void> {
      if (read(into, position) === into.length) return Promise.resolve();
      throw new GgufFormatError(`${name} ended before its size; give all of its ${size} bytes`, {
        value: position,
        expected: `${size} bytes`,
      });
    },
  };
}

async function readSource(source: ByteSource, tensors: NativeGgufTensors, init: Init): Promise<ReadGguf> {
  await parseGgufHeader(source);
  const native = await open();
  const place = new BigUint64Array(1);
  const params = native.struct("gguf_init_params");
  native.assign(params, { no_alloc: tensors !== "data", ...(tensors === "none" ? {} : { ctx: place }) });
  const thread = new ComputeThread(native);
  try {
    const pointer = await thread.run([], (one) => init((name, ...args) => one.call(name, ...args), params, native));
    if (pointer === null) {
      throw new GgufFormatError(
        `ggml refuses ${source.name}, though its header is right: most often its last tensor isn't padded; write it again`,
        { value: source.name, expected: "a file that ggml reads" },
      );
    }
    const made = place[0] === 0n ? null : place[0] as Pointer<"ggml_context">;
    const context = made === null ? undefined : adoptContext(native, made, (one) => native.lib.ggml_free(one));
    return { native, pointer, context };
  } finally {
    thread.end();
  }
}

const readSpec = options(
  "NativeGguf",
  {
    tensors: oneOf(["none", "shapes", "data"], { default: "none" }),
  } satisfies RulesOf<NativeGgufOptions>,
);

function checkTensors(options: NativeGgufOptions | undefined): NativeGgufTensors {
  return readSpec.check(options).tensors;
}

/** A reader's method; `undefined` for what is no reader, such as a Proxy that was revoked. */
function methodOf(reader: unknown): unknown {
  try {
    return (reader as NativeGgufReader).read;
  } catch {
    return undefined;
  }
}
