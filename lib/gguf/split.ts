/**
 * GGUF models in several files, as llama.cpp reads them.
 *
 * @module
 */

import { boolean, integer, options, type RulesOf } from "../../base/options.ts";
import { InvalidArgumentError } from "../errors.ts";
import { isArray, show } from "../../base/check.ts";
import { GgufFile } from "./file.ts";
import { fileSystem } from "./file_system.ts";
import type { GgufTensorInfo } from "./header.ts";
import { encodeHeader, padded, placeTensors } from "./layout.ts";
import { checkPart, checkTensorCount, ggufSplitPath, MAX_FILES, numberOf, pathsOf } from "./split_files.ts";
import { encodeEntry } from "./values.ts";
import { checkWrite, filePath, type GgufWriteOptions, type PreparedFile, writePrepared, writeRules } from "./writer.ts";

/** Options of `splitGguf`. */
export interface GgufSplitOptions extends GgufWriteOptions {
  /** The most tensors in a file: default 128, unless `maxBytes` is given. */
  readonly maxTensors?: number | undefined;
  /** The most bytes of tensors in a file; one tensor alone may be larger. */
  readonly maxBytes?: number | undefined;
  /** Leave the first file without tensors, so that the metadata can be had alone. Default false. */
  readonly emptyFirst?: boolean | undefined;
}

const splitKeys = ["split.no", "split.count", "split.tensors.count"] as const;
/** Tensors in a file where no limit is given. */
const DEFAULT_TENSORS = 128;
const LARGEST = Number.MAX_SAFE_INTEGER;

const splitSpec = options(
  "splitGguf",
  {
    ...writeRules,
    maxTensors: integer({ min: 1, max: LARGEST }),
    maxBytes: integer({ min: 1, max: LARGEST }),
    emptyFirst: boolean({ default: false }),
  } satisfies RulesOf<GgufSplitOptions>,
);

/**
 * Writes a model as several files, `prefix-00001-of-0000N.gguf` and so on, and gives their paths. The first one has the metadata; loading it loads all.
 *
 * Throws {@linkcode InvalidArgumentError}, what GgufFile.open throws, GgufWriteError, and the signal's reason; no file is left then.
 */
export async function splitGguf(path: string | URL, prefix: string, options?: GgufSplitOptions): Promise<string[]> {
  const { maxTensors, maxBytes, emptyFirst, ...settings } = splitSpec.check(options);
  const limits = {
    tensors: maxTensors ?? (maxBytes === undefined ? DEFAULT_TENSORS : LARGEST),
    bytes: maxBytes ?? LARGEST,
  };
  await using file = await GgufFile.open(filePath(path));
  refuseSplit(file);
  const groups = cut(file, limits);
  if (emptyFirst) groups.unshift([]);
  if (groups.length > MAX_FILES) {
    throw new InvalidArgumentError(`that would be ${groups.length} files; allow more in each`, {
      value: groups.length,
      expected: `at most ${MAX_FILES} files`,
    });
  }
  const metadata = await entriesOf(file);
  const paths = groups.map((_, index) => ggufSplitPath(prefix, index, groups.length));
  const written: string[] = [];
  try {
    for (const [index, group] of groups.entries()) {
      const own = index === 0 ? metadata : alignmentOf(file);
      const onProgress = (part: number): void => settings.onProgress?.((index + part) / groups.length);
      await writePrepared(
        paths[index] as string,
        prepare(file, [...own, ...splitEntries(index, groups.length, file.tensors.length)], group),
        { ...settings, onProgress },
      );
      written.push(paths[index] as string);
    }
  } catch (error) {
    for (const one of written) await fileSystem().rm(one, { force: true });
    throw error;
  }
  return paths;
}

function refuseSplit(file: GgufFile): void {
  const count = file.metadata.get("split.count");
  if (count === undefined || Number(count) <= 1) return;
  throw new InvalidArgumentError(`the file is one of ${count} files of a split model; merge them first`, {
    value: count,
    expected: "a model in one file",
  });
}

/** The tensors of each file. */
function cut({ tensors, header }: GgufFile, limits: { tensors: number; bytes: number }): GgufTensorInfo[][] {
  const groups: GgufTensorInfo[][] = [[]];
  let bytes = 0;
  for (const tensor of tensors) {
    const size = padded(tensor.byteLength, header.alignment);
    const last = groups.at(-1) as GgufTensorInfo[];
    if (last.length > 0 && (last.length >= limits.tensors || bytes + size > limits.bytes)) {
      groups.push([tensor]);
      bytes = size;
    } else {
      last.push(tensor);
      bytes += size;
    }
  }
  return groups;
}

/** The metadata as it is, without what says how the model is split. */
async function entriesOf(file: GgufFile): Promise<Uint8Array[]> {
  const entries: Uint8Array[] = [];
  for (const key of file.metadata.keys()) {
    if (!(splitKeys as readonly string[]).includes(key)) entries.push(await file.readEntry(key));
  }
  return entries;
}

function alignmentOf({ header: { alignment } }: GgufFile): Uint8Array[] {
  return alignment === 32 ? [] : [encodeEntry("general.alignment", { type: "uint32", value: alignment })];
}

function splitEntries(index: number, count: number, tensors: number): Uint8Array[] {
  return [
    encodeEntry("split.no", { type: "uint16", value: index }),
    encodeEntry("split.count", { type: "uint16", value: count }),
    encodeEntry("split.tensors.count", { type: "int32", value: tensors }),
  ];
}

function prepare(file: GgufFile, entries: readonly Uint8Array[], tensors: readonly GgufTensorInfo[]): PreparedFile {
  const { alignment } = file.header;
  const places = placeTensors(tensors, alignment);
  const data = tensors.map(({ name }) => () => file.tensorChunks(name));
  return { header: encodeHeader(entries, places, alignment), places, data, alignment };
}

/**
 * Writes the files of a split model as one. Give the path of its first file, whose name says where the others are, or the paths of all in order.
 *
 * Throws {@linkcode GgufFormatError} for files that don't belong together, {@linkcode InvalidArgumentError}, ModelNotFoundError for a file that is missing,
 * what GgufFile.open throws, GgufWriteError, and the signal's reason.
 */
export async function mergeGguf(
  source: string | readonly string[],
  output: string | URL,
  options?: GgufWriteOptions,
): Promise<void> {
  const settings = checkWrite(options);
  const target = filePath(output);
  if (typeof source !== "string" && !isArray(source)) {
    throw new InvalidArgumentError(
      `the files to merge are ${show(source)}; give the path of the first, or of all in order`,
      {
        value: source,
        expected: "a path, or an array of paths",
      },
    );
  }
  await using opened = new AsyncDisposableStack();
  const first = opened.use(await GgufFile.open(filePath(typeof source === "string" ? source : source[0] ?? "")));
  const count = numberOf(first, "split.count", typeof source === "string" ? source : "the first file", 1);
  const paths = typeof source === "string" ? pathsOf(source, count) : source;
  if (paths.length !== count) {
    throw new InvalidArgumentError(`${paths.length} files were given of a model in ${count}; give all in order`, {
      value: paths.length,
      expected: `${count} paths`,
    });
  }
  if (paths.includes(target)) {
    throw new InvalidArgumentError(`${target} is one of the files that are merged; give another path`, {
      value: target,
      expected: "another path",
    });
  }
  const files = [first];
  for (const path of paths.slice(1)) files.push(opened.use(await GgufFile.open(filePath(path))));
  files.forEach(({ header }, index) => checkPart(header, paths[index] as string, index, count));
  const tensors = files.flatMap((file) => file.tensors.map((tensor) => ({ file, tensor })));
  checkTensorCount(paths[0] as string, first.header, tensors.length);
  const { alignment } = first.header;
  const places = placeTensors(tensors.map(({ tensor }) => tensor), alignment);
  await writePrepared(target, {
    header: encodeHeader(await entriesOf(first), places, alignment),
    places,
    data: tensors.map(({ file, tensor }) => () => file.tensorChunks(tensor.name)),
    alignment,
  }, settings);
}
