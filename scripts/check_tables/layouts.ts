import type { FieldType, StructLayout } from "../../ffi/types/signature.ts";
import { structLayout, structNames } from "../../ffi/tables.ts";
import * as constants from "../../ffi/tables/constants.ts";
import * as enums from "../../ffi/tables/enums.ts";
import { Clang } from "../bindgen/clang.ts";
import { layoutTargets } from "../bindgen/headers.ts";
import type { Api } from "../bindgen/model.ts";
import { newReport, type Report } from "./report.ts";

/** One thing that must be so, as a C expression. */
interface Claim {
  readonly about: string;
  readonly expression: string;
}

/**
 * Lets clang judge what is committed, for each target: the size, alignment and every field's place and size of each struct, and the value of each
 * enum constant and macro, as static assertions behind the headers.
 */
export function checkWithClang(zig: readonly string[], root: string, api: Api): Report {
  const report = newReport();
  const layouts = structNames().map((name) => [name, layoutClaims(name, api)] as const);
  const values = [...enumClaims(), ...constantClaims(api)];
  const claims = [...layouts.flatMap(([, list]) => list), ...values];
  for (const record of api.records) {
    if (!structNames().includes(record.name)) report.problems.push(`${record.name} has no committed layout`);
  }
  for (const target of layoutTargets) {
    const wrong = failing(zig, root, target, claims);
    const equal = layouts.filter(([, list]) => !list.some((claim) => wrong.has(claim))).length;
    const right = values.filter((claim) => !wrong.has(claim)).length;
    report.lines.push(
      `${target}: ${equal} of ${layouts.length} struct layouts and ${right} of ${values.length} constants equal to clang's`,
    );
    for (const claim of wrong) report.problems.push(`${target}: clang says no to ${claim.expression} (${claim.about})`);
  }
  return report;
}

function failing(zig: readonly string[], root: string, target: string, claims: readonly Claim[]): Set<Claim> {
  const lines = claims.map((claim, index) => `_Static_assert(${claim.expression}, "claim ${index}");\n`);
  const clang = new Clang(zig, root, `#include <stddef.h>\n${lines.join("")}`);
  try {
    const errors = clang.errors(target);
    const numbers = errors.map((line) => /claim (\d+)/.exec(line)?.[1]);
    const other = errors.find((_, index) => numbers[index] === undefined);
    if (other !== undefined) throw new Error(`clang can't judge the tables for ${target}: ${other}`);
    return new Set(numbers.map((number) => claims[Number(number)]!));
  } finally {
    clang.dispose();
  }
}

function layoutClaims(name: string, api: Api): Claim[] {
  const layout = structLayout(name);
  const type = typeOf(name, api);
  const claims: Claim[] = [
    { about: name, expression: `sizeof(${type}) == ${layout.size}` },
    { about: name, expression: `_Alignof(${type}) == ${layout.align}` },
  ];
  for (const field of layout.fields) {
    claims.push({ about: name, expression: `offsetof(${type}, ${field.name}) == ${field.offset}` });
    claims.push({ about: name, expression: `sizeof(((${type} *) 0)->${field.name}) == ${sizeOf(field.type)}` });
  }
  return claims;
}

/** The C name of a struct; one without a name is the type of its field. */
function typeOf(name: string, api: Api): string {
  const isIn = ({ name: owner, fields }: StructLayout): boolean =>
    fields.some((field) =>
      `${owner}_${field.name}` === name && typeof field.type === "object" && "struct" in field.type
    );
  const owner = structNames().map(structLayout).find(isIn);
  if (owner !== undefined) return `__typeof__(((struct ${owner.name} *) 0)->${name.slice(owner.name.length + 1)})`;
  return api.typedefs.has(name) ? name : `struct ${name}`;
}

function sizeOf(type: FieldType): number {
  if (typeof type !== "string") {
    return "struct" in type ? structLayout(type.struct).size : type.length * sizeOf(type.of);
  }
  const bytes = { bool: 1, i8: 1, u8: 1, i16: 2, u16: 2, i32: 4, u32: 4, f32: 4, i64: 8, u64: 8, f64: 8, pointer: 8 };
  return bytes[type];
}

function enumClaims(): Claim[] {
  return Object.entries(enums).flatMap(([about, values]) =>
    Object.entries(values).map(([name, value]) => ({ about, expression: `${name} == ${value}` }))
  );
}

function constantClaims(api: Api): Claim[] {
  const committed = Object.entries(constants).map(([name, value]) => ({
    about: name,
    expression: typeof value === "string"
      ? `__builtin_strcmp(${name}, ${JSON.stringify(value)}) == 0`
      : `${name} == ${value}`,
  }));
  const missing = api.constants.filter((one) => !(one.name in constants)).map((one) => ({
    about: one.name,
    expression: `0 && "not committed"`,
  }));
  return [...committed, ...missing];
}
