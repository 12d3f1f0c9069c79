/**
 * What a model is loaded from, as this machine has it: its header, and how native code gets it.
 *
 * @module
 */

import type { Native } from "../../../ffi/native.ts";
import { ModelPartError } from "../../errors.ts";
import { type ByteSource, MemorySource } from "../../gguf/byte_source.ts";
import { BlobSource, DescriptorFile } from "../../gguf/open_sources.ts";
import { type GgufHeader, parseGgufHeader } from "../../gguf/header.ts";
import type { LocalSource } from "../../models/resolve.ts";
import { checkModelHeader, readModelHeader } from "./header.ts";

/** The header of a model, and its name in messages. */
export interface ModelInput {
  readonly path: string;
  readonly header: GgufHeader;
}

/** An open file for native code, until it is disposed. */
export interface OpenInput extends Disposable {
  readonly fd: number;
  readonly offset: number;
}

/** What is written into memory at once. */
const CHUNK = 1 << 24;

/** Reads and checks the header. Throws as `readModelHeader` does, and {@linkcode ModelPartError}. */
export async function readInput(local: LocalSource): Promise<ModelInput> {
  if (local.kind === "file") return { path: local.path, header: await readModelHeader(local.path) };
  const source = sourceOf(local);
  const header = await parseGgufHeader(source);
  checkModelHeader(header, source.name);
  const count = header.metadata.get("split.count");
  if (typeof count === "number" && count > 1) {
    throw new ModelPartError(`${source.name} is one of ${count} parts of a model; give the path of the first file`, {
      value: count,
      expected: "a model in one file",
    });
  }
  return { path: source.name, header };
}

function sourceOf(local: Exclude<LocalSource, { kind: "file" }>): ByteSource {
  if (local.kind === "bytes") return new MemorySource(local.bytes, "the model's bytes");
  return local.kind === "blob" ? new BlobSource(local.blob) : new DescriptorFile(local.fd, local.offset);
}

/** Gives native code a model that isn't a file with a path: bytes are put into memory that it maps, copied once. Throws the signal's reason. */
export async function openInput(
  local: LocalSource,
  native: Native,
  signal: AbortSignal | undefined,
): Promise<OpenInput | undefined> {
  if (local.kind === "file") return undefined;
  if (local.kind === "descriptor") return { fd: local.fd, offset: local.offset, [Symbol.dispose]: () => {} };
  const file = native.memoryFile();
  try {
    for await (const bytes of chunksOf(local)) {
      signal?.throwIfAborted();
      file.write(bytes);
    }
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }
  return { fd: file.fd, offset: 0, [Symbol.dispose]: () => file[Symbol.dispose]() };
}

async function* chunksOf(local: Extract<LocalSource, { kind: "bytes" | "blob" }>): AsyncGenerator<Uint8Array> {
  const size = local.kind === "bytes" ? local.bytes.length : local.blob.size;
  for (let at = 0; at < size; at += CHUNK) {
    // Between two of them the event loop goes on.
    if (local.kind === "bytes") yield await Promise.resolve(local.bytes.subarray(at, at + CHUNK));
    else yield new Uint8Array(await local.blob.slice(at, at + CHUNK).arrayBuffer());
  }
}
