/**
 * Model files that come in parts.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { InvalidArgumentError } from "../../errors.ts";
import { type ByteSource, FileSource, MemorySource } from "../../gguf/byte_source.ts";
import { isArray, isInstance, show } from "../../../base/check.ts";
import { ConversionError } from "./errors.ts";

/** A file: its path, its file URL, or its bytes. */
export type FilePart = string | URL | Uint8Array;

/** A file, whole or in parts that follow one another. */
export type FileParts = FilePart | readonly FilePart[];

/** Files that were opened as one, until they are disposed. */
export class JoinedSource implements ByteSource, AsyncDisposable {
  readonly size: number;
  readonly name: string;
  readonly #parts: readonly ByteSource[];

  private constructor(parts: readonly ByteSource[]) {
    this.#parts = parts;
    this.size = parts.reduce((sum, part) => sum + part.size, 0);
    this.name = parts[0]?.name ?? "no file";
  }

  /** Opens the parts. Throws ModelNotFoundError, ModelAccessError, InvalidArgumentError. */
  static async open(what: string, parts: FileParts): Promise<JoinedSource> {
    const list = isArray(parts) ? parts as readonly FilePart[] : [parts as FilePart];
    const expected = "a path, a file URL, bytes, or an array of them";
    if (list.length === 0) {
      throw new InvalidArgumentError(`${what} has no parts; expected ${expected}`, { value: parts, expected });
    }
    const opened: ByteSource[] = [];
    try {
      for (const part of list) {
        if (isInstance(part, Uint8Array)) opened.push(new MemorySource(part, what));
        else if (typeof part === "string" && part !== "" || isInstance(part, URL)) {
          opened.push(await FileSource.open(pathOf(part)));
        } else {throw new InvalidArgumentError(`${what} is ${show(part)}; expected ${expected}`, {
            value: part,
            expected,
          });}
      }
    } catch (error) {
      await close(opened);
      throw error;
    }
    return new JoinedSource(opened);
  }

  async read(into: Uint8Array, position: number): Promise<void> {
    let [start, done] = [0, 0];
    for (const part of this.#parts) {
      const at = position + done - start;
      if (done < into.length && at < part.size) {
        const count = Math.min(into.length - done, part.size - at);
        await part.read(into.subarray(done, done + count), at);
        done += count;
      }
      start += part.size;
    }
  }

  /** Bytes of their own memory. Throws {@linkcode ConversionError} past the end. */
  async bytes(position: number, count: number): Promise<Uint8Array<ArrayBuffer>> {
    if (count < 0 || position + count > this.size) {
      throw new ConversionError(
        `${this.name} is cut off or damaged: ${count} bytes are announced at ${position}, it ends at ${this.size}; fetch it again`,
        { value: this.size, expected: `${position + count} bytes` },
      );
    }
    const bytes = new Uint8Array(count);
    await this.read(bytes, position);
    return bytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await close(this.#parts);
  }
}

async function close(sources: readonly ByteSource[]): Promise<void> {
  for (const source of sources) if (source instanceof FileSource) await source[Symbol.asyncDispose]();
}

function pathOf(part: string | URL): string {
  return isInstance(part, URL) || part.startsWith("file:") ? fileURLToPath(part) : part;
}

/** The text of a small file. Throws {@linkcode ConversionError} when it isn't UTF-8 or larger than 64 MB. */
export async function readText(what: string, file: FileParts): Promise<string> {
  await using source = await JoinedSource.open(what, file);
  if (source.size > 64 << 20) {
    throw new ConversionError(`${source.name} has ${source.size} bytes, too many for ${what}; give the right file`, {
      value: source.size,
      expected: "at most 64 MB",
    });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await source.bytes(0, source.size));
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new ConversionError(`${source.name} isn't text; give ${what}`, {
      value: source.name,
      expected: "UTF-8",
      cause,
    });
  }
}
