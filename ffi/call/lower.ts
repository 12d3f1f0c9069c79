import type { ArgumentPlace, Piece, Placement } from "./abi.ts";
import type { Scalar } from "../runtime/types.ts";

/** The source of one parameter of a lowered signature. */
export type Source =
  /** Nothing: the parameter only takes up a register. */
  | { readonly from: "filler" }
  /** The scalar argument `index` as it is. */
  | { readonly from: "value"; readonly index: number }
  /** A piece of struct argument `index`. */
  | { readonly from: "piece"; readonly index: number; readonly piece: Piece }
  /** The address of a copy of struct argument `index`. */
  | { readonly from: "copy"; readonly index: number }
  /** The address of the memory for the result. */
  | { readonly from: "result" };

/** A parameter of a lowered signature: scalars only. */
export interface LoweredParameter {
  /** Its type. */
  readonly type: Scalar;
  /** Its source. */
  readonly source: Source;
}

/** A signature with structs turned into scalars that land in the same registers and stack words. */
export interface Lowered {
  /** The parameters in the order of the lowered call. */
  readonly parameters: readonly LoweredParameter[];
  /** The result; for a hidden result `void`. */
  readonly result: Scalar | "void";
}

/** A placement that can't be lowered, with the reason. */
export interface NotLowered {
  /** The reason. */
  readonly reason: string;
}

/**
 * Turns a placement into a call with scalars alone: integers first in register order, then fillers for the registers left over where something lies
 * on the stack, then floats, then the stack words.
 */
export function lower(placement: Placement, maxParameters: number): Lowered | NotLowered {
  const { result } = placement;
  if (result.kind === "x8") return { reason: "its result travels through register x8" };
  if (result.kind === "pieces" && result.pieces?.length !== 1) {
    return { reason: "its result takes more than one register" };
  }
  const pieces = [...placement.arguments, result].flatMap((one) => one.pieces ?? []);
  if (pieces.some((piece) => piece.packed)) return { reason: "two floats of a struct share a register" };
  const parameters = placement.abi === "win64" ? positional(placement) : byClass(placement);
  if ("reason" in parameters) return parameters;
  if (parameters.length > maxParameters) {
    return { reason: `it needs ${parameters.length} argument words of at most ${maxParameters}` };
  }
  const scalar = result.kind === "value"
    ? result.type
    : result.kind === "pieces"
    ? result.pieces?.[0]?.type
    : undefined;
  return { parameters, result: scalar ?? "void" };
}

interface Slots {
  integers: LoweredParameter[];
  floats: LoweredParameter[];
  stack: LoweredParameter[];
}

const integerFiller: LoweredParameter = { type: "u64", source: { from: "filler" } };
const floatFiller: LoweredParameter = { type: "f64", source: { from: "filler" } };

function byClass(placement: Placement): LoweredParameter[] | NotLowered {
  const slots = fillSlots(placement);
  if ("reason" in slots) return slots;
  const { integers, floats, stack } = slots;
  const registers = placement.abi === "sysv" ? 6 : 8;
  if (stack.some((one) => !isFloat(one.type))) fill(integers, registers, integerFiller);
  if (stack.some((one) => isFloat(one.type))) fill(floats, 8, floatFiller);
  return [...integers, ...floats, ...stack];
}

/** Win64: integers and floats share four slots, so the order stays as it is. */
function positional(placement: Placement): LoweredParameter[] | NotLowered {
  const slots = fillSlots(placement);
  if ("reason" in slots) return slots;
  const registers: LoweredParameter[] = [];
  slots.integers.forEach((one, slot) => registers[slot] = one);
  slots.floats.forEach((one, slot) => registers[slot] = one);
  return [...registers, ...slots.stack];
}

function fillSlots(placement: Placement): Slots | NotLowered {
  const slots: Slots = { integers: [], floats: [], stack: [] };
  if (placement.result.kind === "hidden") slots.integers[0] = { type: "u64", source: { from: "result" } };
  let stackEnd = 0;
  for (const [index, argument] of placement.arguments.entries()) {
    if (argument.stackOffset === undefined) registers(argument, index, slots);
    else {
      if (argument.stackOffset !== stackEnd && placement.abi === "apple-arm64") {
        return { reason: "its stack words are packed" };
      }
      slots.stack.push(...stackWords(argument, index));
      stackEnd = argument.stackOffset + Math.ceil((argument.stackSize ?? 0) / 8) * 8;
    }
  }
  return slots;
}

function registers(argument: ArgumentPlace, index: number, slots: Slots): void {
  const pieces = argument.pieces ?? [undefined];
  let integer = 0;
  let float = 0;
  for (const piece of pieces) {
    const parameter = one(argument, index, piece);
    if (isFloat(parameter.type)) slots.floats[argument.floats[float++] as number] = parameter;
    else slots.integers[argument.integers[integer++] as number] = parameter;
  }
}

function one(argument: ArgumentPlace, index: number, piece: Piece | undefined): LoweredParameter {
  if (piece !== undefined) return { type: piece.type, source: { from: "piece", index, piece } };
  if (argument.kind === "address") return { type: "u64", source: { from: "copy", index } };
  return { type: argument.type ?? "u64", source: { from: "value", index } };
}

function stackWords(argument: ArgumentPlace, index: number): LoweredParameter[] {
  if (argument.kind !== "stack") return [one(argument, index, undefined)];
  return Array.from({ length: Math.ceil((argument.stackSize ?? 0) / 8) }, (_, word) => ({
    type: "u64" as const,
    source: { from: "piece" as const, index, piece: { offset: word * 8, type: "u64" as const } },
  }));
}

function fill(slots: LoweredParameter[], count: number, filler: LoweredParameter): void {
  for (let slot = 0; slot < count; slot++) slots[slot] ??= filler;
}

function isFloat(type: Scalar): boolean {
  return type === "f32" || type === "f64";
}
