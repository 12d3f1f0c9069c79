import { isNonNullResult, isNullableParam, isRetainedParam } from "./annotation_check.ts";
import type { CType } from "./ctype.ts";
import type { FunctionDecl } from "./model.ts";
import { flagEnums, nativeOnlyStructs } from "./nullability.ts";
import { isVoid, type Types } from "./types.ts";

/** One parameter or result: the code for run time and the type for compile time. */
export interface Lowered {
  readonly code: string;
  readonly ts: string;
}

/** A field's or element's type as it is read: pointers are nullable. */
export function valueType(types: Types, type: CType, callbackName: string): Lowered {
  const resolved = types.resolve(type);
  switch (resolved.kind) {
    case "void":
      return { code: "v", ts: "void" };
    case "scalar":
      return { code: resolved.code, ts: resolved.ts };
    case "enum":
      return { code: "i32", ts: flagEnums.includes(resolved.name) ? "number" : resolved.name };
    case "record":
      return { code: `{${resolved.name}}`, ts: resolved.name };
    case "callback":
      return { code: "c", ts: `Pointer<"${resolved.name ?? callbackName}"> | null` };
    case "pointer":
      return { code: "p", ts: `Pointer<"${resolved.alias ?? types.pointee(resolved.to)}"> | null` };
    case "array": {
      const element = types.resolve(resolved.of);
      const inner = valueType(types, resolved.of, callbackName);
      const ts = element.kind === "scalar"
        ? element.array
        : element.kind === "enum"
        ? "Int32Array"
        : element.kind === "record"
        ? `readonly ${inner.ts}[]`
        : "BigUint64Array";
      return { code: `${inner.code}[${resolved.length}]`, ts };
    }
  }
}

/** The result of a function. */
export function resultType(types: Types, fn: FunctionDecl): Lowered {
  const lowered = valueType(types, fn.result, fn.name);
  if (lowered.code.startsWith("{")) return { code: lowered.code, ts: `StructView<${lowered.ts}>` };
  if (!lowered.ts.endsWith(" | null")) return lowered;
  return isNonNullResult(fn) ? { code: lowered.code, ts: lowered.ts.slice(0, -" | null".length) } : lowered;
}

/** A parameter of a function. */
export function paramType(types: Types, fn: FunctionDecl, name: string, type: CType): Lowered {
  const lowered = argumentType(types, fn.name, name, type);
  return isNullableParam(fn.name, name) && /Pointer/.test(lowered.ts)
    ? { code: lowered.code, ts: `${lowered.ts} | null` }
    : lowered;
}

function argumentType(types: Types, fn: string, name: string, type: CType): Lowered {
  const resolved = types.resolve(type);
  if (resolved.kind === "record") return { code: `{${resolved.name}}`, ts: `StructView<${resolved.name}>` };
  if (resolved.kind === "callback") return { code: "c", ts: `Pointer<"${resolved.name ?? `${fn}.${name}`}">` };
  if (resolved.kind === "array") {
    return argumentType(types, fn, name, { kind: "pointer", to: resolved.of, isConst: false });
  }
  if (resolved.kind !== "pointer") return valueType(types, type, `${fn}.${name}`);
  if (resolved.alias !== undefined) return { code: "p", ts: `Pointer<"${resolved.alias}">` };
  const pointer = `Pointer<"${types.pointee(resolved.to)}">`;
  const isText = resolved.isConst && resolved.to.kind === "name" && resolved.to.name === "char";
  const isKept = isRetainedParam(fn, name);
  if (isText) return isKept ? { code: "p", ts: pointer } : { code: "s", ts: `string | Uint8Array | ${pointer}` };
  if (isVoid(resolved.to)) return isKept ? { code: "p", ts: "Pointer" } : { code: "d", ts: "NativeBuffer | Pointer" };
  const array = bufferType(types, resolved.to);
  return array === undefined || isKept ? { code: "p", ts: pointer } : { code: "d", ts: `${array} | ${pointer}` };
}

/** The JavaScript memory that may stand for a pointer to this type, if any. */
function bufferType(types: Types, to: CType): string | undefined {
  const target = types.resolve(to);
  switch (target.kind) {
    case "scalar":
      return target.array;
    case "enum":
      return "Int32Array";
    case "pointer":
    case "callback":
      return "BigUint64Array";
    case "array":
      return bufferType(types, target.of);
    case "record":
      if (types.record(target.name) === undefined || nativeOnlyStructs.test(target.name)) return undefined;
      return `StructView<${target.name}> | Uint8Array`;
    case "void":
      return undefined;
  }
}
