import type { Stats } from "node:fs";
import { runtimeModule } from "./file_system.ts";

/** Closes files that were forgotten. */
const forgotten = new FinalizationRegistry<number>((descriptor) => {
  runtimeModule("node:fs").close(descriptor, () => {});
});

/** A file that is open for reading. By its descriptor: a FileHandle that is forgotten ends the program in Bun. */
export class OpenFile {
  readonly #descriptor: number;
  readonly #reads = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
    forgotten.register(this, descriptor, this);
  }

  /** Opens a file. Rejects as the system refuses it. */
  static async open(path: string): Promise<OpenFile> {
    return new OpenFile(await settled<number>((done) => runtimeModule("node:fs").open(path, "r", done)));
  }

  /** Its kind and size. */
  stat(): Promise<Stats> {
    return settled((done) => runtimeModule("node:fs").fstat(this.#descriptor, done));
  }

  /** Reads bytes into an array, beginning at `offset` there; returns their number, which is 0 at the end. */
  async read(into: Uint8Array, offset: number, position: number): Promise<number> {
    if (this.#closed !== undefined) throw new RangeError("the file was closed");
    const read = settled<number>((done) => {
      runtimeModule("node:fs").read(this.#descriptor, into, offset, into.length - offset, position, done);
    });
    this.#reads.add(read);
    try {
      return await read;
    } finally {
      this.#reads.delete(read);
    }
  }

  /** Closes it once what is read has been read: its descriptor may be another file's then. */
  close(): Promise<void> {
    return this.#closed ??= this.#close();
  }

  async #close(): Promise<void> {
    forgotten.unregister(this);
    await Promise.allSettled(this.#reads);
    await settled<void>((done) => runtimeModule("node:fs").close(this.#descriptor, done));
  }
}

function settled<T>(work: (done: (error: Error | null | undefined, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    work((error, value) => error === null || error === undefined ? resolve(value as T) : reject(error));
  });
}
