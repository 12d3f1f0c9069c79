import { type Abi, type ArgumentPlace, place, type Placement, type ResultPlace } from "../../../ffi/call/abi.ts";
import { MAX_PARAMETERS } from "../../../ffi/runtime/bun.ts";
import { lower, type LoweredParameter } from "../../../ffi/call/lower.ts";
import { isStruct } from "../../../ffi/types/signature.ts";
import { functionEntry, functionNames, structLayout } from "../../../ffi/tables.ts";

/** The conventions that have a golden file. */
export const abis: readonly Abi[] = ["sysv", "aapcs64", "apple-arm64", "win64"];

/** Every function of the tables that takes or gives a struct by value. */
export function byValueFunctions(): string[] {
  return functionNames().filter((name) => {
    const { parameters, result } = functionEntry(name)!.signature;
    return parameters.some(isStruct) || isStruct(result);
  }).sort();
}

/** Where each value of a function travels, and the call with scalars alone that lands there. */
export interface GoldenEntry {
  /** Each argument's place, then the result's. */
  readonly places: string;
  /** The lowered call, or why there is none. */
  readonly lowered: string;
}

/** The golden entry of a function. */
export function goldenEntry(name: string, abi: Abi): GoldenEntry {
  const placement = place(functionEntry(name)!.signature, abi, structLayout);
  const lowered = lower(placement, MAX_PARAMETERS);
  return {
    places: placesText(placement),
    lowered: "reason" in lowered
      ? `none: ${lowered.reason}`
      : `${lowered.parameters.map(parameterText).join(" ")} -> ${lowered.result}`,
  };
}

function placesText({ arguments: args, result, stackSize }: Placement): string {
  return [...args.map(argumentText), `-> ${resultText(result)}`, `(${stackSize} bytes of stack)`].join("; ");
}

function argumentText(argument: ArgumentPlace): string {
  const registers = [...argument.integers.map((one) => `i${one}`), ...argument.floats.map((one) => `f${one}`)].join(
    " ",
  );
  const where = argument.stackOffset === undefined ? registers : `stack ${argument.stackOffset}+${argument.stackSize}`;
  const pieces = argument.pieces?.map((piece) => `${piece.type}@${piece.offset}`).join(",");
  return `${argument.kind}${argument.type === undefined ? "" : ` ${argument.type}`}${
    pieces === undefined ? "" : ` ${pieces}`
  } in ${where}`;
}

function resultText({ kind, type, pieces }: ResultPlace): string {
  return [kind, type, pieces?.map((piece) => `${piece.type}@${piece.offset}`).join(",")].filter((part) =>
    part !== undefined
  ).join(" ");
}

function parameterText({ type, source }: LoweredParameter): string {
  switch (source.from) {
    case "filler":
      return `${type}:_`;
    case "value":
      return `${type}:a${source.index}`;
    case "piece":
      return `${type}:a${source.index}@${source.piece.offset}`;
    case "copy":
      return `${type}:&a${source.index}`;
    case "result":
      return `${type}:&result`;
  }
}

/** The text of a golden file. */
export function goldenText(abi: Abi): string {
  const entries = Object.fromEntries(byValueFunctions().map((name) => [name, goldenEntry(name, abi)]));
  return `${JSON.stringify(entries, null, 2)}\n`;
}
