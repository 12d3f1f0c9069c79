import type { CType } from "./ctype.ts";
import type { Api, RecordDecl } from "./model.ts";

/** The integer and float types of C that the headers use: signature code, TypeScript type, array of it. */
interface Scalar {
  readonly code: string;
  readonly ts: string;
  readonly array: string;
}

const scalars: Readonly<Record<string, Scalar>> = {
  "char": { code: "i8", ts: "number", array: "Uint8Array" },
  "signed char": { code: "i8", ts: "number", array: "Int8Array" },
  "int8_t": { code: "i8", ts: "number", array: "Int8Array" },
  "unsigned char": { code: "u8", ts: "number", array: "Uint8Array" },
  "uint8_t": { code: "u8", ts: "number", array: "Uint8Array" },
  "short": { code: "i16", ts: "number", array: "Int16Array" },
  "int16_t": { code: "i16", ts: "number", array: "Int16Array" },
  "unsigned short": { code: "u16", ts: "number", array: "Uint16Array" },
  "uint16_t": { code: "u16", ts: "number", array: "Uint16Array" },
  "int": { code: "i32", ts: "number", array: "Int32Array" },
  "int32_t": { code: "i32", ts: "number", array: "Int32Array" },
  "unsigned int": { code: "u32", ts: "number", array: "Uint32Array" },
  "uint32_t": { code: "u32", ts: "number", array: "Uint32Array" },
  "int64_t": { code: "i64", ts: "bigint", array: "BigInt64Array" },
  "uint64_t": { code: "u64", ts: "bigint", array: "BigUint64Array" },
  "size_t": { code: "u64", ts: "bigint", array: "BigUint64Array" },
  "float": { code: "f32", ts: "number", array: "Float32Array" },
  "double": { code: "f64", ts: "number", array: "Float64Array" },
  "_Bool": { code: "b", ts: "boolean", array: "Uint8Array" },
  "bool": { code: "b", ts: "boolean", array: "Uint8Array" },
};

/** A C type with its typedefs looked through. */
export type Resolved =
  | { readonly kind: "void" }
  | { readonly kind: "scalar"; readonly code: string; readonly ts: string; readonly array: string }
  | { readonly kind: "enum"; readonly name: string }
  | { readonly kind: "record"; readonly name: string }
  | { readonly kind: "callback"; readonly name: string | undefined }
  | { readonly kind: "pointer"; readonly to: CType; readonly isConst: boolean; readonly alias?: string }
  | { readonly kind: "array"; readonly of: CType; readonly length: number };

/** Looks types up in an {@linkcode Api}. */
export class Types {
  private readonly records: ReadonlyMap<string, RecordDecl>;

  /** `api` is what the headers say. */
  constructor(private readonly api: Api) {
    this.records = new Map(api.records.map((record) => [record.name, record]));
  }

  /** The complete record of that name, if there is one. */
  record(name: string): RecordDecl | undefined {
    return this.records.get(name);
  }

  /** A type with its typedefs resolved. */
  resolve(type: CType): Resolved {
    switch (type.kind) {
      case "name":
        return this.resolveName(type.name);
      case "tagged":
        if (type.tag === "enum") return { kind: "enum", name: type.name };
        return { kind: "record", name: type.name };
      case "pointer":
        return type.to.kind === "function"
          ? { kind: "callback", name: undefined }
          : { kind: "pointer", to: type.to, isConst: type.isConst };
      case "array":
        return { kind: "array", of: type.of, length: type.length };
      case "function":
        throw new Error("a function isn't a value");
    }
  }

  private resolveName(name: string): Resolved {
    if (name === "void") return { kind: "void" };
    const scalar = scalars[name];
    if (scalar !== undefined) return { kind: "scalar", ...scalar };
    const typedef = this.api.typedefs.get(name);
    if (typedef === undefined) return { kind: "record", name };
    const resolved = this.resolve(typedef.type);
    if (resolved.kind === "callback") return { kind: "callback", name };
    if (resolved.kind === "scalar") return { ...resolved, ts: name };
    if (resolved.kind === "pointer" && isVoid(resolved.to)) return { ...resolved, alias: name };
    return resolved;
  }

  /** The name in `Pointer<"…">` for a pointer to this type. */
  pointee(type: CType): string {
    if (type.kind === "name") {
      const typedef = this.api.typedefs.get(type.name);
      if (typedef === undefined) return type.name === "_Bool" ? "bool" : type.name;
      const resolved = this.resolve(type);
      if (resolved.kind === "record") return resolved.name;
      if (resolved.kind === "pointer") return `${this.pointee(resolved.to)} *`;
      return type.name;
    }
    if (type.kind === "tagged") return type.name;
    if (type.kind === "pointer") return `${this.pointee(type.to)} *`;
    throw new Error(`no name for a pointer to ${type.kind}`);
  }
}

/** Whether a type is `void`. */
export function isVoid(type: CType): boolean {
  return type.kind === "name" && type.name === "void";
}
