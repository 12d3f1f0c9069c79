/**
 * Writing converted models.
 *
 * @module
 */

import { messageOf } from "../../../base/error.ts";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
import { rethrowDenied } from "../../../base/permission.ts";
import { ModelAccessError } from "../../errors.ts";
import { replaceablePath } from "../../gguf/file_system.ts";
import { checkText, isAsyncIterable, isInstance, refuse } from "../../../base/check.ts";
import { options as declare, type RulesOf, signal as signalRule } from "../../../base/options.ts";

/** Options of `writeModel`. */
export interface WriteModelOptions {
  /** Ends the writing: it then rejects with the signal's reason, and leaves no file. */
  signal?: AbortSignal | undefined;
}

const writeModelSpec = declare("writeModel", { signal: signalRule() } satisfies RulesOf<WriteModelOptions>);

/**
 * Writes the output of a converter to a file, which appears under its name once it is complete.
 *
 * Throws what the converter throws, ModelAccessError when the file can't be written. Returns the file's length in bytes.
 */
export async function writeModel(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  options?: WriteModelOptions,
): Promise<number> {
  const { signal } = writeModelSpec.check(options);
  checkText("path", path);
  checkPieces(pieces);
  signal?.throwIfAborted();
  const refused = (cause: unknown): never => {
    rethrowDenied(cause, `writing ${path}`, `--allow-write=${dirname(path)}`);
    const words = messageOf(cause);
    throw new ModelAccessError(`${path} can't be written (${words}); give a path in a folder that may be written to`, {
      value: path,
      expected: "a file that may be written",
      cause,
    });
  };
  const target = await replaceablePath(path).catch(refused);
  const part = `${target}.${process.pid}.part`;
  const handle = await open(part, "w").catch(refused);
  let length = 0;
  try {
    try {
      for await (const piece of pieces) {
        signal?.throwIfAborted();
        if (!isInstance(piece, Uint8Array)) refuse("a piece of the model", piece, "a Uint8Array");
        await handle.writeFile(piece).catch(refused);
        length += piece.length;
      }
    } finally {
      await handle.close();
    }
    await rename(part, target).catch(refused);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return length;
}

function checkPieces(pieces: unknown): void {
  if (!isAsyncIterable(pieces)) {
    refuse("pieces", pieces, "an async iterable of Uint8Array, as the converters return it");
  }
}
