import { GgufFormatError } from "../../errors.ts";
import { type GgufHeader, readGgufHeader } from "../../gguf/header.ts";
import { readSplitHeaders } from "../../gguf/split_files.ts";

/** llama.cpp's maximum number of layers. C: `LLAMA_MAX_LAYERS`. */
const MAX_LAYERS = 512;
/** Counts of some layers, which llama.cpp asserts to be at most the count of all layers. */
const partialCounts = ["nextn_predict_layers", "posnet.block_count", "convnext.block_count"];

/**
 * Reads the header of a model and checks what llama.cpp asserts, and would abort at. One assertion isn't checked: that no token occurs twice. It would take
 * decoding the whole vocabulary, three times as long as all other checks; that abort is contained.
 *
 * Of a model in several files it reads all their headers, and returns the first one's with the tensors of all.
 *
 * Throws what {@linkcode readGgufHeader} and {@linkcode readSplitHeaders} throw, and {@linkcode GgufFormatError}.
 */
export async function readModelHeader(path: string): Promise<GgufHeader> {
  const first = await readGgufHeader(path);
  const tensors = (await readSplitHeaders(path, first)).flatMap((part) => part.tensors);
  const header = { ...first, tensors };
  checkModelHeader(header, path);
  return header;
}

/** Checks the numbers of a model that were read. Throws {@linkcode GgufFormatError}. */
export function checkModelHeader({ metadata, tensors }: GgufHeader, path: string): void {
  const architecture = metadata.get("general.architecture");
  for (const [key, value] of metadata) {
    if (typeof value !== "number" || !key.startsWith(`${architecture}.`)) continue;
    if (!Number.isFinite(value)) refuse(path, key, value, "a finite number");
    // ggml's norms assert it when they compute.
    if (key.endsWith("_epsilon") && value < 0) refuse(path, key, value, "0 or more");
  }
  const layers = metadata.get(`${architecture}.block_count`);
  // llama.cpp ignores these in a file with a vocabulary alone.
  if (tensors.length === 0 || architecture === "clip" || !isCount(layers)) return;
  if (layers < 1 || layers > MAX_LAYERS) {
    refuse(path, `${architecture}.block_count`, layers, `a number from 1 to ${MAX_LAYERS}`);
  }
  for (const name of partialCounts) {
    const key = `${architecture}.${name}`;
    const count = metadata.get(key);
    if (isCount(count) && count > layers) refuse(path, key, count, `at most ${layers}, the number of all layers`);
  }
}

function isCount(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

function refuse(path: string, key: string, value: number | bigint, expected: string): never {
  throw new GgufFormatError(`${path} can't be right: ${key} is ${value}, not ${expected}; get or convert it again`, {
    value,
    expected,
  });
}
