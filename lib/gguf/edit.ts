/**
 * Changes to GGUF files: metadata and tensors.
 *
 * @module
 */

import { InvalidArgumentError } from "../errors.ts";
import { checkArray, isArray, isPlainObject, show } from "../../base/check.ts";
import { custom, deferred, integer, oneOf, options, type RulesOf } from "../../base/options.ts";
import { GgufFile } from "./file.ts";
import { fileSystem } from "./file_system.ts";
import { checkAlignment, encodeHeader, placeTensors } from "./layout.ts";
import { encodeEntry, FILLER_KEY, fillerEntry, fillerOverhead, type GgufInput } from "./values.ts";
import {
  checkWrite,
  filePath,
  type GgufTensorInput,
  type GgufWriteOptions,
  MAX_RESERVED,
  type PreparedFile,
  refuseWrite,
  writePrepared,
} from "./writer.ts";

/** Changes of a GGUF file. */
export interface GgufEdit {
  /** Metadata that is set: a key that is there keeps its place, a new one comes behind. */
  readonly set?: Readonly<Record<string, GgufInput>> | undefined;
  /** Keys that are removed. */
  readonly remove?: readonly string[] | undefined;
  /** Tensors that are added behind those that are there. */
  readonly addTensors?: readonly GgufTensorInput[] | undefined;
  /** Tensors that are removed; one that is also added is replaced. */
  readonly removeTensors?: readonly string[] | undefined;
  /** The file that is written; default is the one that is edited. */
  readonly output?: string | URL | undefined;
  /**
   * `"auto"` (the default) writes the header alone where the new one fits; `"never"` writes a new file and renames it, so that there is always a whole
   * one; `"require"` refuses where the new header doesn't fit.
   */
  readonly inPlace?: "auto" | "never" | "require" | undefined;
  /** Room kept in the header for later edits where a new file is written, in bytes: default 0. */
  readonly reserve?: number | undefined;
}

/** Result of an edit. */
export interface GgufEditResult {
  /** Whether the header alone was written. */
  readonly inPlace: boolean;
}

/** {@linkcode GgufEdit}, declared. */
const editSpec = options(
  "editGguf",
  {
    set: deferred<NonNullable<GgufEdit["set"]>>("an object"),
    remove: deferred<readonly string[]>("an array of names"),
    addTensors: deferred<readonly GgufTensorInput[]>("an array of { name, type, shape, data }"),
    removeTensors: deferred<readonly string[]>("an array of names"),
    output: custom<string, Record<never, never>>("a path, or a file: URL", (_, value) => filePath(value as string)),
    inPlace: oneOf(["auto", "never", "require"], { default: "auto" }),
    reserve: integer({ min: 0, max: MAX_RESERVED, default: 0 }),
  } satisfies RulesOf<GgufEdit>,
);

/**
 * Changes a GGUF file. Metadata alone is changed in the file itself where the new header fits into the old one's room, in a few milliseconds however large
 * the file is; else the file is written anew beside the old one and renamed. What isn't changed is copied byte by byte.
 *
 * Throws {@linkcode InvalidArgumentError} for a bad edit, GgufWriteError when the system refuses, what GgufFile.open throws, and the signal's reason.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { rm } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { editGguf } from "./edit.ts";
 * import { readGgufHeader } from "./header.ts";
 * import { writeGguf } from "./writer.ts";
 *
 * const path = `${tmpdir()}/${crypto.randomUUID()}.gguf`;
 * await writeGguf(path, {
 *   metadata: { "general.name": "a long name" },
 *   tensors: [{ name: "t", type: "f32", shape: [1], data: Float32Array.of(1) }],
 * });
 * const { inPlace } = await editGguf(path, { set: { "general.name": "a name" } });
 * assert.ok(inPlace);
 * assert.equal((await readGgufHeader(path)).metadata.get("general.name"), "a name");
 * await rm(path);
 * ```
 */
export async function editGguf(
  path: string | URL,
  edit: GgufEdit,
  options?: Omit<GgufWriteOptions, "overwrite">,
): Promise<GgufEditResult> {
  const settings = checkWrite(options);
  const given = editSpec.check(edit);
  const { inPlace, reserve } = given;
  const source = filePath(path);
  await using file = await GgufFile.open(source);
  const plan = await planEdit(file, given);
  const header = inPlace === "never" || given.output !== undefined ? undefined : fittingHeader(file, plan);
  if (header !== undefined) {
    settings.signal?.throwIfAborted();
    await replaceHeader(source, header);
    return { inPlace: true };
  }
  if (inPlace === "require") {
    throw new InvalidArgumentError(`the new header doesn't fit into the room of ${source}; leave inPlace out`, {
      value: "require",
      expected: "an edit of metadata that takes no more room than there is",
    });
  }
  if (reserve > 0) plan.entries.push(fillerEntry(reserve));
  const places = placeTensors(plan.tensors, plan.alignment);
  const prepared: PreparedFile = {
    header: encodeHeader(plan.entries, places, plan.alignment),
    places,
    data: plan.tensors.map(({ data }) => data),
    alignment: plan.alignment,
    // Some systems don't rename over a file that is open.
    ready: () => file[Symbol.asyncDispose](),
  };
  await writePrepared(
    given.output ?? await fileSystem().realpath(source),
    prepared,
    settings,
  );
  return { inPlace: false };
}

/** Content of a file to write. */
interface Plan {
  /** The metadata's entries as bytes, without a filler. */
  readonly entries: Uint8Array[];
  /** All tensors. */
  readonly tensors: readonly GgufTensorInput[];
  /** Whether the tensors are those that are there. */
  readonly sameTensors: boolean;
  /** Alignment of the data in bytes. */
  readonly alignment: number;
}

async function planEdit(file: GgufFile, edit: GgufEdit): Promise<Plan> {
  if (edit.set !== undefined && !isPlainObject(edit.set)) {
    refuse(`set is ${show(edit.set)}`, edit.set, "an object with a value for each key");
  }
  const set = new Map(Object.entries(edit.set ?? {}));
  const remove = namesOf("remove", edit.remove, (key) => file.metadata.has(key));
  const both = remove.find((key) => set.has(key));
  if (both !== undefined) refuse(`the key ${show(both)} is both set and removed`, both, "one of the two");
  const wanted = set.get("general.alignment");
  const alignment = remove.includes("general.alignment")
    ? 32
    : wanted === undefined
    ? file.header.alignment
    : checkAlignment(isPlainObject(wanted) ? wanted["value"] : wanted);
  if (wanted !== undefined) set.set("general.alignment", { type: "uint32", value: alignment });
  const removed = namesOf("removeTensors", edit.removeTensors, (name) => file.tensors.some((one) => one.name === name));
  const added = checkArray("addTensors", edit.addTensors ?? [], (_, one) => one as GgufTensorInput);
  const kept = file.tensors.filter(({ name }) => !removed.includes(name));
  const tensors = [
    ...kept.map(({ name, type, shape }) => ({ name, type, shape, data: () => file.tensorChunks(name) })),
    ...added,
  ];
  const sameTensors = added.length === 0 && removed.length === 0;
  return { entries: await entriesOf(file, set, remove), tensors, sameTensors, alignment };
}

async function entriesOf(
  file: GgufFile,
  set: ReadonlyMap<string, GgufInput>,
  remove: readonly string[],
): Promise<Uint8Array[]> {
  const entries: Uint8Array[] = [];
  for (const key of file.metadata.keys()) {
    const value = set.get(key);
    if (value !== undefined) entries.push(encodeEntry(key, value));
    else if (key !== FILLER_KEY && !remove.includes(key)) entries.push(await file.readEntry(key));
  }
  for (const [key, value] of set) if (!file.metadata.has(key)) entries.push(encodeEntry(key, value));
  return entries;
}

function namesOf(
  option: string,
  given: readonly string[] | undefined,
  has: (name: string) => boolean,
): readonly string[] {
  if (given === undefined) return [];
  if (!isArray(given)) refuse(`${option} is ${show(given)}`, given, "an array of names");
  const unknown = given.find((name) => !has(name));
  if (unknown !== undefined) {
    refuse(`${option} names ${show(unknown)}, which isn't in the file`, unknown, "a name that is");
  }
  return given;
}

function refuse(problem: string, value: unknown, expected: string): never {
  throw new InvalidArgumentError(`${problem}; give ${expected}`, { value, expected });
}

/** The new header where it takes exactly the old one's room, with a filler where that is needed. */
function fittingHeader(file: GgufFile, { entries, sameTensors, alignment }: Plan): Uint8Array | undefined {
  const { header, tensors } = file;
  if (!sameTensors || alignment !== header.alignment || tensors.length === 0) return undefined;
  const places = placeTensors(tensors, alignment);
  const { dataOffset, version } = header;
  const fits = (list: readonly Uint8Array[]): Uint8Array | undefined => {
    const bytes = encodeHeader(list, places, alignment, version);
    return bytes.length === dataOffset ? bytes : undefined;
  };
  const plain = encodeHeader(entries, places, alignment, version);
  if (plain.length >= dataOffset) return plain.length === dataOffset ? plain : undefined;
  const unpadded = encodeHeader(entries, places, 1, version).length;
  const spaces = dataOffset - unpadded - fillerOverhead;
  return spaces < 0 ? undefined : fits([...entries, fillerEntry(spaces)]);
}

async function replaceHeader(path: string, header: Uint8Array): Promise<void> {
  try {
    const handle = await fileSystem().open(path, "r+");
    try {
      let done = 0;
      while (done < header.length) done += (await handle.write(header, done, header.length - done, done)).bytesWritten;
      await handle.datasync();
    } finally {
      await handle.close();
    }
  } catch (cause) {
    refuseWrite(path, cause);
  }
}
