import type { Scalar } from "../runtime/types.ts";

/** A C value as a function or a field holds it. */
export type CValue = Scalar | "pointer" | StructValue;

/** A struct by value, by its name in the tables. */
export interface StructValue {
  /** The struct's C name. */
  readonly struct: string;
}

/** A C function's signature. */
export interface Signature {
  /** The parameters in order. */
  readonly parameters: readonly CValue[];
  /** The result. */
  readonly result: CValue | "void";
}

/** A field's type: a value, or an array of values. */
export type FieldType = CValue | FieldArray;

/** A fixed-length array inside a struct. */
export interface FieldArray {
  /** The elements; an array again for more dimensions. */
  readonly of: FieldType;
  /** The count. */
  readonly length: number;
}

/** One field of a struct. */
export interface FieldLayout {
  /** Its C name. */
  readonly name: string;
  /** Bytes from the struct's begin. */
  readonly offset: number;
  /** Its type. */
  readonly type: FieldType;
}

/** The memory layout of a struct (or a union: fields overlap); the same on all targets. */
export interface StructLayout {
  /** Its C name. */
  readonly name: string;
  /** Bytes it takes. */
  readonly size: number;
  /** The alignment it needs. */
  readonly align: number;
  /** Its fields in order. */
  readonly fields: readonly FieldLayout[];
}

/** Finds a struct's layout by its C name. */
export type LayoutOf = (name: string) => StructLayout;

/** Bytes of each scalar. */
export const SCALAR_SIZE: Readonly<Record<Scalar, number>> = {
  bool: 1,
  i8: 1,
  u8: 1,
  i16: 2,
  u16: 2,
  i32: 4,
  u32: 4,
  i64: 8,
  u64: 8,
  f32: 4,
  f64: 8,
};

/** Whether a value is a struct. */
export function isStruct(type: FieldType | "void"): type is StructValue {
  return typeof type === "object" && "struct" in type;
}

/** Whether a field is an array. */
export function isArray(type: FieldType): type is FieldArray {
  return typeof type === "object" && "of" in type;
}

/** Bytes that a field of this type takes. */
export function sizeOf(type: FieldType, layoutOf: LayoutOf): number {
  if (isArray(type)) return type.length * sizeOf(type.of, layoutOf);
  if (isStruct(type)) return layoutOf(type.struct).size;
  return type === "pointer" ? 8 : SCALAR_SIZE[type];
}

/** A scalar at its place inside a struct. */
export interface Leaf {
  /** Bytes from the struct's begin. */
  readonly offset: number;
  /** The type; a pointer is a `u64`. */
  readonly type: Scalar;
}

/** All scalars of a struct, nested structs and arrays taken apart. */
export function leavesOf(layout: StructLayout, layoutOf: LayoutOf): Leaf[] {
  const leaves: Leaf[] = [];
  for (const field of layout.fields) collect(field.type, field.offset, layoutOf, leaves);
  return leaves;
}

function collect(type: FieldType, offset: number, layoutOf: LayoutOf, into: Leaf[]): void {
  if (isArray(type)) {
    const step = sizeOf(type.of, layoutOf);
    for (let index = 0; index < type.length; index++) collect(type.of, offset + index * step, layoutOf, into);
  } else if (isStruct(type)) {
    for (const field of layoutOf(type.struct).fields) collect(field.type, offset + field.offset, layoutOf, into);
  } else {
    into.push({ offset, type: type === "pointer" ? "u64" : type });
  }
}
