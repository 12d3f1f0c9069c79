import type { Stats } from "node:fs";
import { ModelAccessError } from "../errors.ts";
import type { ByteSource } from "./byte_source.ts";

/** A Blob, read in parts. */
export class BlobSource implements ByteSource {
  readonly name = "the model's Blob";
  readonly size: number;
  readonly #blob: Blob;

  constructor(blob: Blob) {
    this.#blob = blob;
    this.size = blob.size;
  }

  async read(into: Uint8Array, position: number): Promise<void> {
    into.set(new Uint8Array(await this.#blob.slice(position, position + into.length).arrayBuffer()));
  }
}

/** An open file of the caller, from an offset on. Its position stays as it is. Throws {@linkcode ModelAccessError}. */
export class DescriptorFile implements ByteSource {
  readonly name: string;
  readonly size: number;
  readonly #fd: number;
  readonly #offset: number;

  constructor(fd: number, offset: number) {
    this.#fd = fd;
    this.#offset = offset;
    this.name = offset === 0 ? `descriptor ${fd}` : `descriptor ${fd} from byte ${offset}`;
    const status = this.#try(() => files().fstatSync(fd)) as Stats;
    if (!status.isFile()) this.#refuse("isn't a regular file");
    if (status.size < offset) this.#refuse(`has ${status.size} bytes`);
    this.size = status.size - offset;
    this.#try(() => files().readSync(fd, new Uint8Array(1), 0, 1, offset));
  }

  async read(into: Uint8Array, position: number): Promise<void> {
    let done = 0;
    while (done < into.length) {
      const at = this.#offset + position + done;
      const count = this.#try(() => files().readSync(this.#fd, into, done, into.length - done, at)) as number;
      if (count === 0) this.#refuse("became shorter while it was read");
      done += count;
    }
    await Promise.resolve();
  }

  #try(work: () => unknown): unknown {
    try {
      return work();
    } catch (cause) {
      return this.#refuse(`can't be read (${cause instanceof Error ? cause.message : String(cause)})`, cause);
    }
  }

  #refuse(what: string, cause?: unknown): never {
    throw new ModelAccessError(`${this.name} ${what}; give an open file that may be read`, {
      value: this.#fd,
      expected: "a descriptor of a regular file, opened for reading",
      ...(cause === undefined ? {} : { cause }),
    });
  }
}

interface Process {
  getBuiltinModule?(name: "node:fs"): typeof import("node:fs");
}

/** The runtime's functions for files: not imported, so that a bundle for a browser needs none. */
function files(): typeof import("node:fs") {
  const found = (globalThis as { process?: Process }).process?.getBuiltinModule?.("node:fs");
  if (found === undefined) throw new Error("this runtime has no files");
  return found;
}
