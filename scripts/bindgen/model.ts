import type { CType } from "./ctype.ts";

/** A function that a header declares. */
export interface FunctionDecl {
  readonly name: string;
  readonly header: string;
  readonly result: CType;
  readonly params: readonly Param[];
  readonly variadic: boolean;
  readonly deprecated: boolean;
}

/** A parameter; `name` is the header's, or `argN` where the header has none. */
export interface Param {
  readonly name: string;
  readonly type: CType;
}

/** A struct or union with its fields in order; anonymous members are flattened into it. */
export interface RecordDecl {
  readonly name: string;
  readonly tag: "struct" | "union";
  readonly header: string;
  readonly size: number;
  readonly align: number;
  readonly fields: readonly Field[];
}

/** A field of a record. */
export interface Field {
  readonly name: string;
  readonly type: CType;
  readonly offset: number;
  /** Names of the parameters, for a field that points to a function. */
  readonly paramNames: readonly string[];
}

/** An enum; values are in the order of the header. */
export interface EnumDecl {
  readonly name: string;
  readonly header: string;
  readonly values: readonly (readonly [string, number])[];
}

/** A type alias. */
export interface TypedefDecl {
  readonly name: string;
  readonly header: string;
  readonly type: CType;
  readonly paramNames: readonly string[];
}

/** A constant: a macro, an anonymous enum's value, or a `static const`. */
export interface ConstantDecl {
  readonly name: string;
  readonly header: string;
  readonly value: number | bigint | string;
}

/** A macro that has no value, and why. */
export interface SkippedMacro {
  readonly name: string;
  readonly header: string;
  readonly reason: string;
}

/** Everything that the headers say. */
export interface Api {
  readonly functions: readonly FunctionDecl[];
  readonly records: readonly RecordDecl[];
  /** Structs that are only declared. */
  readonly opaque: readonly string[];
  readonly enums: readonly EnumDecl[];
  readonly typedefs: ReadonlyMap<string, TypedefDecl>;
  readonly constants: readonly ConstantDecl[];
  readonly skippedMacros: readonly SkippedMacro[];
}
