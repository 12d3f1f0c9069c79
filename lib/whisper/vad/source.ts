import { messageOf } from "../../../base/error.ts";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { rethrowDenied } from "../../../base/permission.ts";
import { ModelAccessError, ModelNotFoundError } from "../../errors.ts";
import { cacheFolder } from "../../../ffi/runtime/cache_folder.ts";
import { WhisperFormatError } from "../errors.ts";
import { MemoryModel, ModelCursor } from "../model_file/source.ts";
import { readVadModel } from "../model_file/vad_model.ts";
import type { ModelInput, VadModelInput } from "../thread/protocol.ts";

/** File name of the default model for voice activity detection: Silero 6.2.3, MIT. */
export const DEFAULT_VAD_FILE = "ggml-silero-v6.2.3.bin";
/** A model has less than a million bytes. */
const MOST = 1 << 24;

/** Reads a model for voice activity and checks it; `undefined` where none was given and set-up brought none. */
export async function readVad(given: ModelInput | undefined): Promise<VadModelInput | undefined> {
  if (given === undefined) {
    const path = defaultVadPath();
    const isThere = path !== undefined && await stat(path).then(() => true, () => false);
    return isThere ? await readVad({ path }) : undefined;
  }
  const { name, bytes } = "path" in given
    ? { name: given.path, bytes: await read(given.path) }
    : { name: "vadModel", bytes: given.bytes };
  if (bytes.length > MOST) throw tooLarge(name, bytes.length);
  readVadModel(new ModelCursor(new MemoryModel(bytes, name)));
  return { name, bytes };
}

/** The default model's path; `undefined` where Deno doesn't permit to know the cache folder. */
function defaultVadPath(): string | undefined {
  try {
    return join(cacheFolder(), "models", DEFAULT_VAD_FILE);
  } catch {
    return undefined;
  }
}

function tooLarge(name: string, bytes: number): WhisperFormatError {
  return new WhisperFormatError(
    `${name} has ${bytes} bytes, too many for a model for voice activity; give a Silero model in whisper.cpp's format`,
    { value: bytes, expected: `at most ${MOST} bytes` },
  );
}

async function read(path: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    // Before it is read: devices and pipes have no end, and another model may be large.
    const status = await stat(path);
    if (!status.isFile()) throw Object.assign(new Error("it is not a file"), { code: "EISDIR" });
    if (status.size > MOST) throw tooLarge(path, status.size);
    return new Uint8Array(await readFile(path));
  } catch (cause) {
    if (cause instanceof WhisperFormatError) throw cause;
    rethrowDenied(cause, `reading ${path}`, `--allow-read=${path}`);
    const { code } = cause as { code?: unknown };
    const details = { value: path, expected: "a Silero model in whisper.cpp's format", cause };
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") {
      throw new ModelNotFoundError(`there is no file ${path}; check vadModel`, details);
    }
    const words = messageOf(cause);
    throw new ModelAccessError(
      `${path} can't be read (${words}); check its permissions`,
      details,
    );
  }
}
