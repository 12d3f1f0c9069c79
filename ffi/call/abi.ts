import process from "node:process";
import type { AbiType, Scalar, StructType } from "../runtime/types.ts";
import {
  type FieldType,
  isArray,
  isStruct,
  type LayoutOf,
  type Leaf,
  leavesOf,
  SCALAR_SIZE,
  type Signature,
  type StructLayout,
} from "../types/signature.ts";

/** A calling convention. */
export type Abi = "sysv" | "aapcs64" | "apple-arm64" | "win64";

/** The calling convention of this process. */
export function hostAbi(): Abi {
  if (process.arch === "arm64") return process.platform === "darwin" ? "apple-arm64" : "aapcs64";
  return process.platform === "win32" ? "win64" : "sysv";
}

/** Some bytes of an argument: `width` bytes at `offset` of its memory, as one scalar. */
export interface Piece {
  /** Bytes from the begin of the argument's memory. */
  readonly offset: number;
  /** The type that they are read as: `f32` and `f64` for a floating-point register, else an unsigned integer. */
  readonly type: Scalar;
  /** The `f64` is in truth two `f32`: as a JavaScript number it could lose bits. */
  readonly packed?: true;
}

/** The location of one argument. */
export interface ArgumentPlace {
  /**
   * `value`: a scalar as it is. `pieces`: a struct taken apart. `address`: a pointer to a copy of the struct. `stack`: a struct, or a scalar beside
   * one, in the caller's stack area.
   */
  readonly kind: "value" | "pieces" | "address" | "stack";
  /** The scalar's type. */
  readonly type?: Scalar;
  /** The register pieces. */
  readonly pieces?: readonly Piece[];
  /** The integer registers taken, by number, in the order of the pieces; for `value` and `address` one at most. */
  readonly integers: readonly number[];
  /** The floating-point registers taken, in the order of the pieces. */
  readonly floats: readonly number[];
  /** Bytes from the begin of the stack area. */
  readonly stackOffset?: number;
  /** Bytes in the stack area. */
  readonly stackSize?: number;
}

/** The location of a result. */
export interface ResultPlace {
  /** `hidden`: a pointer to it is one more, first argument. `x8`: the pointer is in AArch64's x8. */
  readonly kind: "void" | "value" | "pieces" | "hidden" | "x8";
  /** The scalar's type. */
  readonly type?: Scalar;
  /** The register pieces of a struct. */
  readonly pieces?: readonly Piece[];
}

/** A signature with each value's place. */
export interface Placement {
  /** The convention. */
  readonly abi: Abi;
  /** The arguments in order, without the hidden one. */
  readonly arguments: readonly ArgumentPlace[];
  /** The result. */
  readonly result: ResultPlace;
  /** Bytes of the stack area. */
  readonly stackSize: number;
}

interface Convention {
  readonly integers: number;
  readonly floats: number;
  /** Whether integers and floats share their slots (Win64). */
  readonly shared: boolean;
  /** Whether a small scalar on the stack takes its own size only (Apple). */
  readonly packed: boolean;
}

const conventions: Readonly<Record<Abi, Convention>> = {
  sysv: { integers: 6, floats: 8, shared: false, packed: false },
  aapcs64: { integers: 8, floats: 8, shared: false, packed: false },
  "apple-arm64": { integers: 8, floats: 8, shared: false, packed: true },
  win64: { integers: 4, floats: 4, shared: true, packed: false },
};

/** Finds each value's place by the calling convention. */
export function place(signature: Signature, abi: Abi, layoutOf: LayoutOf): Placement {
  const result = placeResult(signature.result, abi, layoutOf);
  const allocator = new Allocator(conventions[abi]);
  if (result.kind === "hidden") allocator.integer();
  const placed = signature.parameters.map((type) => {
    if (isStruct(type)) return placeStruct(layoutOf(type.struct), abi, layoutOf, allocator);
    return placeScalar(type === "pointer" ? "u64" : type, allocator);
  });
  return { abi, arguments: placed, result, stackSize: allocator.stackSize };
}

/** Hands out registers and stack bytes in order. */
class Allocator {
  readonly #convention: Convention;
  #integers = 0;
  #floats = 0;
  stackSize = 0;

  constructor(convention: Convention) {
    this.#convention = convention;
  }

  integer(): number | undefined {
    const { integers, shared } = this.#convention;
    if (this.#integers >= integers) return undefined;
    if (shared) this.#floats++;
    return this.#integers++;
  }

  float(): number | undefined {
    const { floats, shared } = this.#convention;
    if (this.#floats >= floats) return undefined;
    if (shared) this.#integers++;
    return this.#floats++;
  }

  get freeIntegers(): number {
    return this.#convention.integers - this.#integers;
  }

  get freeFloats(): number {
    return this.#convention.floats - this.#floats;
  }

  /** AArch64: once an argument went on the stack for want of registers, later ones of its kind do too. */
  closeIntegers(): void {
    this.#integers = this.#convention.integers;
  }

  closeFloats(): void {
    this.#floats = this.#convention.floats;
  }

  stack(size: number, align: number, scalar: boolean): { stackOffset: number; stackSize: number } {
    const step = scalar && this.#convention.packed ? size : Math.max(8, align);
    const stackOffset = roundUp(this.stackSize, step);
    this.stackSize = stackOffset + (scalar && this.#convention.packed ? size : roundUp(size, 8));
    return { stackOffset, stackSize: size };
  }
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}

function placeScalar(type: Scalar, allocator: Allocator): ArgumentPlace {
  const floating = type === "f32" || type === "f64";
  const register = floating ? allocator.float() : allocator.integer();
  if (register === undefined) {
    const size = SCALAR_SIZE[type];
    return { kind: "value", type, integers: [], floats: [], ...allocator.stack(size, size, true) };
  }
  return { kind: "value", type, integers: floating ? [] : [register], floats: floating ? [register] : [] };
}

function placeStruct(layout: StructLayout, abi: Abi, layoutOf: LayoutOf, allocator: Allocator): ArgumentPlace {
  const pieces = registerPieces(layout, abi, layoutOf);
  if (pieces === null) {
    if (abi === "sysv") return onStack(layout, allocator);
    const address = placeScalar("u64", allocator);
    return { ...address, kind: "address" };
  }
  const integers = pieces.filter((piece) => !isFloat(piece)).length;
  const floats = pieces.length - integers;
  if (integers > allocator.freeIntegers || floats > allocator.freeFloats) {
    if (abi !== "sysv" && abi !== "win64") {
      if (integers > 0) allocator.closeIntegers();
      if (floats > 0) allocator.closeFloats();
    }
    return onStack(layout, allocator);
  }
  return {
    kind: "pieces",
    pieces,
    integers: Array.from({ length: integers }, () => allocator.integer() as number),
    floats: Array.from({ length: floats }, () => allocator.float() as number),
  };
}

function onStack(layout: StructLayout, allocator: Allocator): ArgumentPlace {
  return { kind: "stack", integers: [], floats: [], ...allocator.stack(layout.size, layout.align, false) };
}

function isFloat(piece: Piece): boolean {
  return piece.type === "f32" || piece.type === "f64";
}

function placeResult(type: Signature["result"], abi: Abi, layoutOf: LayoutOf): ResultPlace {
  if (type === "void") return { kind: "void" };
  if (!isStruct(type)) return { kind: "value", type: type === "pointer" ? "u64" : type };
  const pieces = registerPieces(layoutOf(type.struct), abi, layoutOf);
  if (pieces !== null) return { kind: "pieces", pieces };
  return { kind: abi === "aapcs64" || abi === "apple-arm64" ? "x8" : "hidden" };
}

/** Returns the pieces of a struct that is passed in registers; `null` for one that is passed in memory. */
export function registerPieces(layout: StructLayout, abi: Abi, layoutOf: LayoutOf): Piece[] | null {
  if (abi === "win64") return [1, 2, 4, 8].includes(layout.size) ? words(layout.size) : null;
  const leaves = leavesOf(layout, layoutOf);
  if (abi === "sysv") return layout.size > 16 || !aligned(leaves) ? null : eightBytes(layout.size, leaves);
  return homogeneousFloats(layout, leaves) ?? (layout.size <= 16 ? words(layout.size) : null);
}

function aligned(leaves: readonly Leaf[]): boolean {
  return leaves.every((leaf) => leaf.offset % SCALAR_SIZE[leaf.type] === 0);
}

/** Pieces of 8 bytes in integer registers. The last one is read as a whole word too: struct memory is padded to 8. */
function words(size: number): Piece[] {
  return Array.from({ length: Math.ceil(size / 8) }, (_, index) => ({ offset: index * 8, type: "u64" as const }));
}

/** SysV: each eightbyte with floats alone goes to a vector register. */
function eightBytes(size: number, leaves: readonly Leaf[]): Piece[] {
  return words(size).map(({ offset }): Piece => {
    const inside = leaves.filter((leaf) => leaf.offset >= offset && leaf.offset < offset + 8);
    const floating = inside.length > 0 && inside.every((leaf) => leaf.type === "f32" || leaf.type === "f64");
    if (!floating) return { offset, type: "u64" };
    if (inside.every((leaf) => leaf.type === "f32" && leaf.offset === offset)) return { offset, type: "f32" };
    return inside.every((leaf) => leaf.type === "f64")
      ? { offset, type: "f64" }
      : { offset, type: "f64", packed: true };
  });
}

/** AArch64: one to four floats of one type, and nothing else, each in a vector register of its own. */
function homogeneousFloats(layout: StructLayout, leaves: readonly Leaf[]): Piece[] | null {
  const first = leaves[0]?.type;
  if (first !== "f32" && first !== "f64") return null;
  if (!leaves.every((leaf) => leaf.type === first)) return null;
  const count = layout.size / SCALAR_SIZE[first];
  if (count > 4) return null;
  return Array.from({ length: count }, (_, index) => ({ offset: index * SCALAR_SIZE[first], type: first }));
}

/** A struct written out member by member, for a runtime that knows structs. */
export function structType(layout: StructLayout, layoutOf: LayoutOf): StructType {
  return { struct: layout.fields.flatMap((field) => members(field.type, layoutOf)) };
}

function members(type: FieldType, layoutOf: LayoutOf): AbiType[] {
  if (isArray(type)) {
    const element = members(type.of, layoutOf);
    return Array.from({ length: type.length }, () => element).flat();
  }
  if (isStruct(type)) return [structType(layoutOf(type.struct), layoutOf)];
  return [type === "pointer" ? "u64" : type];
}
