import { show } from "../../base/check.ts";
import { DisposedError, InvalidArgumentError } from "../../base/errors.ts";
import { bytesOf } from "../memory/struct_factory.ts";
import { isMemory } from "../call/caller.ts";
import { parameterWords } from "../requirements/mod.ts";
import type { FunctionShape, Parameter } from "../requirements/parameters.ts";
import { structLayout } from "../tables.ts";
import { structLayouts } from "../tables/struct_layouts.ts";
import * as enums from "../tables/enums.ts";
import type { NativeObjects } from "./objects.ts";
import { owners } from "./ownership.ts";

/** Below it no system has memory. */
const LEAST_ADDRESS = 4096n;
const ranges: Readonly<Record<string, readonly [least: bigint, most: bigint]>> = Object.fromEntries(
  [8, 16, 32, 64].flatMap((bits) => [
    [`i${bits}`, [-(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n]],
    [`u${bits}`, [0n, (1n << BigInt(bits)) - 1n]],
  ]),
);

/** Checks what parameters say of themselves. Throws InvalidArgumentError, or DisposedError for an object that was freed. */
export function checkArguments(shape: FunctionShape, values: readonly unknown[], objects: NativeObjects): void {
  const { name, parameters } = shape;
  if (values.length !== parameters.length) {
    throw new InvalidArgumentError(
      `${name} takes ${parameters.length} arguments (${
        parameters.map((one) => one.name).join(", ")
      }); it got ${values.length}`,
      { value: values.length, expected: `${parameters.length} arguments` },
    );
  }
  parameters.forEach((parameter, index) => {
    if (!isOfType(parameter, values[index])) refuseArgument(name, parameter, values[index]);
  });
  parameters.forEach((parameter, index) => checkObject(name, parameter, values[index], objects));
}

function refuseArgument(name: string, parameter: Parameter, value: unknown): never {
  const expected = parameterWords(parameter) ?? "another value";
  throw new InvalidArgumentError(`${name}: ${parameter.name} is ${show(value)}; expected ${expected}`, {
    value,
    expected,
  });
}

function isOfType({ code, isNullable, enumName, pointee }: Parameter, value: unknown): boolean {
  if (enumName !== undefined) return isEnumValue(enumName, value);
  if (code.startsWith("{")) return isStructView(value, code.slice(1, -1));
  const range = ranges[code];
  if (range !== undefined) return isInteger(value, code.endsWith("64"), range);
  if (code === "b") return typeof value === "boolean";
  if (code.startsWith("f")) return typeof value === "number";
  if (value === null || value === 0n) return isNullable;
  if (typeof value === "bigint") return value >= LEAST_ADDRESS && value < 1n << 64n;
  if (code === "s") return typeof value === "string" ? !value.includes("\0") : value instanceof Uint8Array;
  if (code === "d" && value instanceof Uint8Array) return value.byteLength >= structBytes(pointee);
  return code === "d" && isMemory(value) || code === "p" && owners[pointee ?? ""] === undefined && isMemory(value);
}

/** Bytes of the struct that memory must have room for; 0 for anything else. */
function structBytes(pointee = ""): number {
  return Object.hasOwn(structLayouts, pointee) ? structLayout(pointee).size : 0;
}

function isEnumValue(name: string, value: unknown): boolean {
  const among = (enums as unknown as Readonly<Record<string, Readonly<Record<string, number>>>>)[name] ?? {};
  return Object.values(among).includes(value as number);
}

function isStructView(value: unknown, struct: string): boolean {
  try {
    bytesOf(value, struct);
    return true;
  } catch {
    return false;
  }
}

function isInteger(value: unknown, isWide: boolean, [least, most]: readonly [bigint, bigint]): boolean {
  if (typeof value === "bigint") return isWide && value >= least && value <= most;
  return typeof value === "number" && Number.isSafeInteger(value) && BigInt(value) >= least && BigInt(value) <= most;
}

/** Checks that a pointer is one of a living object of its kind, as far as it is known. */
function checkObject(name: string, parameter: Parameter, value: unknown, objects: NativeObjects): void {
  const { code, pointee } = parameter;
  if (code !== "p" || pointee === undefined || owners[pointee] === undefined || typeof value !== "bigint") return;
  if (value % 8n !== 0n) refuseArgument(name, parameter, value);
  const object = objects.at(value);
  if (object === undefined) return;
  if (object.kind !== pointee) {
    // What was freed may be anything by now.
    if (object.freedBy !== undefined) return;
    const expected = `a live ${pointee}`;
    throw new InvalidArgumentError(
      `${name}: ${parameter.name} is a ${object.kind} (of ${object.madeBy}); expected ${expected}`,
      {
        value,
        expected,
      },
    );
  }
  if (object.freedBy !== undefined) {
    throw new DisposedError(
      `${name}: ${parameter.name} is a ${pointee} that ${object.freedBy} freed; expected a live one`,
      {
        value,
        expected: `a live ${pointee}`,
      },
    );
  }
}
