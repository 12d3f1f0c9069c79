import { InvalidArgumentError } from "../base/errors.ts";
import type { Scalar } from "./runtime/types.ts";
import type { CValue, FieldLayout, FieldType, Signature, StructLayout } from "./types/signature.ts";
import { ggmlSignatures } from "./tables/ggml.ts";
import { ggmlBaseSignatures } from "./tables/ggml_base.ts";
import { ggmlCpuSignatures } from "./tables/ggml_cpu.ts";
import { ggmlRpcSignatures } from "./tables/ggml_rpc.ts";
import { llamaSignatures } from "./tables/llama.ts";
import { mtmdSignatures } from "./tables/mtmd.ts";
import { parakeetSignatures } from "./tables/parakeet.ts";
import { whisperSignatures } from "./tables/whisper.ts";
import { callbackSignatures } from "./tables/callback_signatures.ts";
import { structLayouts } from "./tables/struct_layouts.ts";
import type { Structs } from "./tables/structs.ts";
import type { Functions } from "./tables/mod.ts";
import type { Callbacks } from "./tables/callbacks.ts";

/** Every function of every library, with its types. */
export type Lib = Functions;

/** The name of a struct. */
export type StructName = keyof Structs & string;

/** The name of a callback type. */
export type CallbackName = keyof Callbacks & string;

/** A library, by the stem of its file's name: `libggml-base.so` is `ggml-base`. */
export type LibraryName = "ggml-base" | "ggml" | "ggml-cpu" | "ggml-rpc" | "llama" | "mtmd" | "whisper" | "parakeet";

const signatures: Readonly<Record<LibraryName, Readonly<Record<string, string>>>> = {
  "ggml-base": ggmlBaseSignatures,
  "ggml": ggmlSignatures,
  "ggml-cpu": ggmlCpuSignatures,
  "ggml-rpc": ggmlRpcSignatures,
  "llama": llamaSignatures,
  "mtmd": mtmdSignatures,
  "whisper": whisperSignatures,
  "parakeet": parakeetSignatures,
};

const libraryNames = Object.keys(signatures) as LibraryName[];

/** A function's entry in the tables. */
export interface FunctionEntry {
  /** Its C name. */
  readonly name: string;
  /** The library that exports it. */
  readonly library: LibraryName;
  /** Its signature. */
  readonly signature: Signature;
}

/** The entry of a function; `undefined` when the headers declare none of that name. */
export function functionEntry(name: string): FunctionEntry | undefined {
  for (const library of libraryNames) {
    const table = signatures[library];
    if (Object.hasOwn(table, name)) return { name, library, signature: parseSignature(table[name] as string) };
  }
  return undefined;
}

/** The names of all functions. */
export function functionNames(): string[] {
  return libraryNames.flatMap((library) => Object.keys(signatures[library]));
}

/** The names of all structs. */
export function structNames(): string[] {
  return Object.keys(structLayouts);
}

/** The signature of a callback type; `undefined` when the headers declare none of that name. */
export function callbackSignature(name: string): Signature | undefined {
  return Object.hasOwn(callbackSignatures, name) ? parseSignature(callbackSignatures[name] as string) : undefined;
}

const layouts = new Map<string, StructLayout>();

/** The layout of a struct. Throws InvalidArgumentError when the headers declare none of that name. */
export function structLayout(name: string): StructLayout {
  let layout = layouts.get(name);
  if (layout === undefined) {
    if (!Object.hasOwn(structLayouts, name)) {
      throw new InvalidArgumentError(`the headers declare no struct ${String(name)}; give the name that it has in C`, {
        value: name,
        expected: "a struct such as llama_batch",
      });
    }
    layout = parseLayout(name, structLayouts[name] as string);
    layouts.set(name, layout);
  }
  return layout;
}

const pointerCodes = new Set(["p", "c", "s", "d"]);

function parseSignature(text: string): Signature {
  const [result = "v", ...parameters] = text.split(" ");
  return { result: result === "v" ? "void" : parseValue(result), parameters: parameters.map(parseValue) };
}

function parseValue(code: string): CValue {
  if (code.startsWith("{")) return { struct: code.slice(1, -1) };
  if (pointerCodes.has(code)) return "pointer";
  return code === "b" ? "bool" : code as Scalar;
}

function parseLayout(name: string, text: string): StructLayout {
  const [size, align, ...fields] = text.split(" ");
  return { name, size: Number(size), align: Number(align), fields: fields.map(parseField) };
}

function parseField(text: string): FieldLayout {
  const [name = "", rest = ""] = text.split(":");
  const [code = "", offset = ""] = rest.split("@");
  return { name, offset: Number(offset), type: parseFieldType(code) };
}

/** `i32[4][2]` is two arrays of four, as clang names it from the inside out. */
function parseFieldType(code: string): FieldType {
  const array = /^(.*)\[(\d+)\]$/.exec(code);
  return array === null ? parseValue(code) : { of: parseFieldType(array[1] as string), length: Number(array[2]) };
}
