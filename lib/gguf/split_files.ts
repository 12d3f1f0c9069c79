/**
 * The files of a split model: their names, and whether they belong together.
 *
 * @module
 */

import { checkInteger, checkText, show } from "../../base/check.ts";
import { GgufFormatError, ModelNotFoundError, ModelPartError } from "../errors.ts";
import { type GgufHeader, readGgufHeader } from "./header.ts";

/** Kept in 16 bits. */
export const MAX_FILES: number = 0xffff;

/**
 * Returns the path of one file of a split model: `prefix-00001-of-00003.gguf`. C: `llama_split_path`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { ggufSplitPath } from "./split_files.ts";
 *
 * assert.equal(ggufSplitPath("model", 0, 3), "model-00001-of-00003.gguf");
 * ```
 */
export function ggufSplitPath(prefix: string, index: number, count: number): string {
  checkInteger("count", count, { min: 1, max: MAX_FILES });
  checkInteger("index", index, { min: 0, max: count - 1 });
  const digits = (value: number): string => String(value).padStart(5, "0");
  return `${checkText("the prefix", prefix)}-${digits(index + 1)}-of-${digits(count)}.gguf`;
}

/** Returns the prefix of the paths of a split model, from the path of one file; `undefined` where the path's number or count differs. C: `llama_split_prefix`. */
export function ggufSplitPrefix(path: string, index: number, count: number): string | undefined {
  const end = ggufSplitPath("", index, count);
  return checkText("the path", path).endsWith(end) && path.length > end.length ? path.slice(0, -end.length) : undefined;
}

/**
 * Reads the headers of all files of a model, from that of its first file; of a model in one file, that alone. Each is checked before native code opens it.
 *
 * Throws {@linkcode ModelPartError} for a file that isn't the first and for one that is missing, {@linkcode GgufFormatError} for names that say otherwise than the files and for files that
 * don't belong together, and what readGgufHeader throws.
 */
export async function readSplitHeaders(path: string, first: GgufHeader): Promise<readonly GgufHeader[]> {
  if (!first.metadata.has("split.count")) return [first];
  const count = numberOf(first, "split.count", path, 0);
  if (count <= 1) return [first];
  const number = numberOf(first, "split.no", path);
  if (number !== 0) throw notFirst(path, number + 1, count);
  const headers = [first];
  for (const [index, one] of pathsOf(path, count).entries()) {
    if (index === 0) continue;
    const header = await readGgufHeader(one).catch((cause: unknown) => {
      if (!(cause instanceof ModelNotFoundError)) throw cause;
      throw new ModelPartError(`${path} is part 1 of ${count}, but there is no ${one}; get all parts`, {
        value: one,
        expected: `${count} parts in one folder`,
        cause,
      });
    });
    checkPart(header, one, index, count);
    headers.push(header);
  }
  checkTensorCount(path, first, headers.reduce((sum, { tensors }) => sum + tensors.length, 0));
  return headers;
}

/** Checks that a file is the one of this index among so many. Throws {@linkcode GgufFormatError}. */
export function checkPart(header: GgufHeader, path: string, index: number, count: number): void {
  const number = numberOf(header, "split.no", path);
  if (number !== index) refuse(path, `is file ${number + 1} of the model, not ${index + 1}`, number, String(index));
  const announced = header.metadata.get("split.count");
  if (announced === undefined || announced === count) return;
  refuse(path, `belongs to a model in ${show(announced)} files, not ${count}`, announced, String(count));
}

/** Checks the number of tensors that the first file announces. Throws {@linkcode GgufFormatError}. */
export function checkTensorCount(path: string, first: GgufHeader, count: number): void {
  const announced = first.metadata.get("split.tensors.count");
  if (announced === undefined || announced === count) return;
  refuse(path, `announces ${show(announced)} tensors; the files have ${count}`, announced, String(count));
}

/** Returns the paths of all files, from the first one. Throws {@linkcode GgufFormatError} when it is named otherwise. */
export function pathsOf(first: string, count: number): string[] {
  const prefix = ggufSplitPrefix(first, 0, count);
  if (prefix !== undefined) return Array.from({ length: count }, (_, index) => ggufSplitPath(prefix, index, count));
  return refuse(first, "isn't named as the first file of a split model", first, ggufSplitPath("NAME", 0, count));
}

/** Returns one of the numbers that say how a model is split. Throws {@linkcode GgufFormatError} when it is missing or wrong. */
export function numberOf(file: Pick<GgufHeader, "metadata">, key: string, path: string, least = 0): number {
  const value = file.metadata.get(key);
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= MAX_FILES) return value;
  return refuse(
    path,
    `has ${value === undefined ? "no" : `${show(value)} as`} ${key}`,
    value,
    "a file of a split model",
  );
}

/** The error for a part that isn't the first. */
export function notFirst(name: string, number: number, count: number, first?: string): ModelPartError {
  return new ModelPartError(
    `${name} is part ${number} of ${count} of a model in several files; give the first${
      first === undefined ? "" : `, ${first}`
    }`,
    { value: number, expected: "part 1" },
  );
}

function refuse(path: string, problem: string, value: unknown, expected: string): never {
  throw new GgufFormatError(`${path} ${problem}; give the files of one model as they were written`, {
    value,
    expected,
  });
}
