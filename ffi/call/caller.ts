import type { Placement } from "./abi.ts";
import { InvalidArgumentError } from "../../base/errors.ts";
import type { Lowered, Source } from "./lower.ts";
import { cString } from "../memory/c_string.ts";
import type { NativeRuntime, RawFunction } from "../runtime/types.ts";
import { type CValue, isStruct, type Signature } from "../types/signature.ts";
import { type AnyStruct, bytesOf, isView, type StructFactory, wordsOf } from "../memory/struct_factory.ts";

/** A function of `lib`: takes and gives values as its declared type says. */
export type LibFunction = (...values: never[]) => unknown;

/** The functions that generated callers use; one object for each thread. */
export interface CallSupport {
  /** Memory that must live until the running call returns. */
  readonly retained: unknown[];
  /** The address of whatever stands for a pointer. */
  readonly address: (value: unknown) => bigint;
  /** A struct's bytes. */
  readonly bytes: (view: unknown, struct: string) => Uint8Array;
  /** A struct's words. */
  readonly words: (view: unknown, struct: string) => BigUint64Array;
  /** A struct's bytes as a DataView. */
  readonly data: (view: unknown, struct: string) => DataView;
  /** The address of a copy of a struct, which C may write to. */
  readonly copy: (view: unknown, struct: string) => bigint;
  /** A zeroed struct. */
  readonly make: (struct: string) => AnyStruct;
  /** A struct that holds these bytes. */
  readonly from: (struct: string, bytes: Uint8Array) => AnyStruct;
  /** The address of a struct's memory. */
  readonly at: (view: AnyStruct) => bigint;
}

/** Returns what callers need, over one runtime. */
export function callSupport(runtime: NativeRuntime, structs: StructFactory): CallSupport {
  const retained: unknown[] = [];
  return {
    retained,
    address(value) {
      if (typeof value === "string") {
        const text = cString(value);
        retained.push(text);
        return runtime.addressOf(text);
      }
      if (typeof value === "object" && value !== null) retained.push(value);
      return structs.addressOfValue(value);
    },
    bytes(view, struct) {
      retained.push(view);
      return bytesOf(view, struct);
    },
    words(view, struct) {
      retained.push(view);
      return wordsOf(view, struct);
    },
    data(view, struct) {
      const bytes = bytesOf(view, struct);
      return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    copy(view, struct) {
      const bytes = bytesOf(view, struct).slice();
      retained.push(view, bytes);
      return runtime.addressOf(bytes);
    },
    make: (struct) => structs.make(struct),
    from: (struct, bytes) => structs.from(struct, bytes),
    at: (view) => structs.addressOf(view),
  };
}

/**
 * Writes out a caller: JavaScript source made for one signature, several times faster than a loop over parameter kinds. Only names from the tables
 * and numbers get into the source.
 */
function writeOut(parameters: readonly string[], body: string, raw: RawFunction, support: CallSupport): LibFunction {
  const made = new Function(
    "raw",
    "s",
    `const { retained, address, bytes, words, data, copy, make, from, at } = s;\n` +
      `return function (${parameters.join(", ")}) {\n${body}\n};`,
  ) as (raw: RawFunction, support: CallSupport) => LibFunction;
  return made(raw, support);
}

const guarded = (body: string): string =>
  `const mark = retained.length;\ntry {\n${body}\n} finally { if (retained.length !== mark) retained.length = mark; }`;

const pointer = (name: string): string => `typeof ${name} === "bigint" ? ${name} : address(${name})`;

/** A caller for a runtime that takes structs as they are. */
export function directCaller(signature: Signature, raw: RawFunction, support: CallSupport): LibFunction {
  const plain = (type: CValue | "void"): boolean => !isStruct(type) && type !== "pointer";
  if (signature.parameters.every(plain) && plain(signature.result)) return raw as LibFunction;
  const names = signature.parameters.map((_, index) => `a${index}`);
  const values = signature.parameters.map((type, index) => {
    if (isStruct(type)) return `bytes(a${index}, ${JSON.stringify(type.struct)})`;
    return type === "pointer" ? pointer(`a${index}`) : `a${index}`;
  });
  const call = `raw(${values.join(", ")})`;
  const body = `${resultOf(signature.result, call)}`;
  return writeOut(names, signature.parameters.every(plain) ? body : guarded(body), raw, support);
}

function resultOf(type: CValue | "void", call: string): string {
  if (type === "void") return `${call};`;
  if (type === "pointer") return `const r = ${call}; return r === 0n ? null : r;`;
  if (isStruct(type)) return `return from(${JSON.stringify(type.struct)}, ${call});`;
  return `return ${call};`;
}

/** A caller for a runtime that takes scalars only. */
export function loweredCaller(
  signature: Signature,
  placement: Placement,
  lowered: Lowered,
  raw: RawFunction,
  support: CallSupport,
): LibFunction {
  const names = signature.parameters.map((_, index) => `a${index}`);
  const lines: string[] = [];
  for (const [index, type] of signature.parameters.entries()) {
    if (!isStruct(type) || placement.arguments[index]?.kind === "address") continue;
    const used = lowered.parameters.flatMap(({ source }) =>
      source.from === "piece" && source.index === index ? [source.piece] : []
    );
    const struct = JSON.stringify(type.struct);
    if (used.some((piece) => piece.type === "u64")) lines.push(`const w${index} = words(a${index}, ${struct});`);
    if (used.some((piece) => piece.type !== "u64")) lines.push(`const d${index} = data(a${index}, ${struct});`);
  }
  const { result } = signature;
  if (isStruct(result)) lines.push(`const result = make(${JSON.stringify(result.struct)});`);
  const call = `raw(${lowered.parameters.map(({ source, type }) => fill(source, type, signature)).join(", ")})`;
  lines.push(loweredResult(signature, placement, call));
  return writeOut(names, guarded(lines.join("\n")), raw, support);
}

function fill(source: Source, type: string, signature: Signature): string {
  switch (source.from) {
    case "filler":
      return type === "f64" ? "0" : "0n";
    case "value":
      return signature.parameters[source.index] === "pointer" ? pointer(`a${source.index}`) : `a${source.index}`;
    case "copy": {
      const struct = signature.parameters[source.index];
      if (struct === undefined || !isStruct(struct)) throw new InvalidArgumentError("no struct to copy");
      return `copy(a${source.index}, ${JSON.stringify(struct.struct)})`;
    }
    case "result":
      return "at(result)";
    case "piece": {
      const { offset } = source.piece;
      if (source.piece.type === "u64") return `w${source.index}[${offset / 8}]`;
      return `d${source.index}.${source.piece.type === "f32" ? "getFloat32" : "getFloat64"}(${offset}, true)`;
    }
  }
}

function loweredResult({ result }: Signature, placement: Placement, call: string): string {
  if (!isStruct(result)) return resultOf(result, call);
  const struct = JSON.stringify(result.struct);
  const piece = placement.result.pieces?.[0];
  if (piece === undefined) return `${call}; return result;`;
  if (piece.type === "u64") return `words(result, ${struct})[0] = ${call}; return result;`;
  return `data(result, ${struct}).${
    piece.type === "f32" ? "setFloat32" : "setFloat64"
  }(0, ${call}, true); return result;`;
}

/** Whether a value can stand for a pointer without being copied. */
export function isMemory(value: unknown): value is ArrayBufferView | AnyStruct {
  return ArrayBuffer.isView(value) || isView(value);
}
