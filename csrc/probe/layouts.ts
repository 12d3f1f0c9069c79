// The structs of the probe library: the same list makes the C source and the layouts that the tests use.
import type { Signature, StructLayout } from "../../ffi/types/signature.ts";

/** A field of a probe struct: `count` is 0 for a plain field. */
export interface ProbeField {
  readonly name: string;
  readonly offset: number;
  readonly type: FieldKind;
  readonly count: number;
}

/** A struct of the probe library. */
export interface ProbeLayout {
  readonly name: string;
  readonly size: number;
  readonly align: number;
  readonly fields: readonly ProbeField[];
}

/** The type of a field: a scalar's code, or another struct. */
type FieldKind = keyof typeof SCALARS | ProbeLayout;

const SCALARS = {
  u8: { c: "uint8_t", size: 1 },
  i8: { c: "int8_t", size: 1 },
  i16: { c: "int16_t", size: 2 },
  u16: { c: "uint16_t", size: 2 },
  i32: { c: "int32_t", size: 4 },
  u32: { c: "uint32_t", size: 4 },
  i64: { c: "int64_t", size: 8 },
  u64: { c: "uint64_t", size: 8 },
  f32: { c: "float", size: 4 },
  f64: { c: "double", size: 8 },
  pointer: { c: "void *", size: 8 },
} as const;

/** A generator (mulberry32) of whole numbers below `limit`, the same for the same seed. */
export function random(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** Lays fields out as C does. */
function layOut(name: string, fields: readonly Pick<ProbeField, "type" | "count">[]): ProbeLayout {
  let offset = 0;
  let align = 1;
  const placed = fields.map(({ type, count }, index) => {
    const step = typeof type === "string" ? SCALARS[type].size : type.size;
    const needs = typeof type === "string" ? step : type.align;
    offset = Math.ceil(offset / needs) * needs;
    align = Math.max(align, needs);
    const field = { name: `f${index}`, offset, type, count };
    offset += step * Math.max(1, count);
    return field;
  });
  return { name, size: Math.ceil(offset / align) * align, align, fields: placed };
}

const KINDS = Object.keys(SCALARS) as (keyof typeof SCALARS)[];

function randomFields(
  next: (limit: number) => number,
  inner: readonly ProbeLayout[],
): Pick<ProbeField, "type" | "count">[] {
  const shape = next(4);
  const one = <T>(list: readonly T[]): T => list[next(list.length)]!;
  // A quarter of them floats of one kind alone: AArch64 and SysV pass those in vector registers.
  if (shape === 0) {
    return Array.from({ length: 1 + next(4) }, () => ({ type: next(2) === 0 ? "f32" : "f64", count: 0 }));
  }
  if (shape === 1) {
    const type = next(2) === 0 ? "f32" : "f64";
    const first: Pick<ProbeField, "type" | "count"> = { type, count: next(5) };
    return [first, ...Array.from({ length: next(2) }, () => ({ type, count: 0 } as const))];
  }
  return Array.from({ length: 1 + next(8) }, () => {
    if (inner.length > 0 && next(6) === 0) return { type: one(inner), count: next(3) };
    return { type: one(KINDS), count: next(4) === 0 ? 1 + next(12) : 0 };
  });
}

/** The layouts: bytes of each size from 1 to 320, words of each size, then `count` random ones of at most 320 bytes. */
export function probeLayouts(count = 400, seed = 1): ProbeLayout[] {
  const layouts: ProbeLayout[] = [];
  for (let size = 1; size <= 320; size++) layouts.push(layOut(`bytes_${size}`, [{ type: "u8", count: size }]));
  for (let words = 1; words <= 40; words++) layouts.push(layOut(`words_${words}`, [{ type: "u64", count: words }]));
  const next = random(seed);
  const inner: ProbeLayout[] = [];
  while (count > 0) {
    const layout = layOut(`mixed_${layouts.length}`, randomFields(next, inner));
    if (layout.size === 0 || layout.size > 320) continue;
    layouts.push(layout);
    if (layout.size <= 24 && inner.length < 20) inner.push(layout);
    count--;
  }
  return layouts;
}

/** A layout as the tables have it. */
export function toStructLayout({ name, size, align, fields }: ProbeLayout): StructLayout {
  return {
    name,
    size,
    align,
    fields: fields.map((field) => {
      const type = typeof field.type === "string" ? field.type : { struct: field.type.name };
      return {
        name: field.name,
        offset: field.offset,
        type: field.count === 0 ? type : { of: type, length: field.count },
      };
    }),
  };
}

function declaration(layout: ProbeLayout): string {
  const members = layout.fields.map(({ name, type, count }) => {
    const c = typeof type === "string" ? SCALARS[type].c : `struct ${type.name}`;
    return `${c} ${name}${count === 0 ? "" : `[${count}]`};`;
  });
  return `struct ${layout.name} { ${members.join(" ")} };`;
}

/** The hash of a struct's fields, without the padding between them. */
function hashFunction({ name, fields }: ProbeLayout): string {
  const parts = fields.flatMap(({ name: field, type, count }) => {
    if (typeof type === "string") return [`sum = hash(sum, &value->${field}, sizeof value->${field});`];
    if (count === 0) return [`sum = hash_${type.name}(sum, &value->${field});`];
    return [`for (int i = 0; i < ${count}; i++) sum = hash_${type.name}(sum, &value->${field}[i]);`];
  });
  return `static uint64_t hash_${name}(uint64_t sum, const struct ${name} *value) { ${parts.join(" ")} return sum; }`;
}

function functions({ name, fields }: ProbeLayout): string {
  const type = `struct ${name}`;
  const offsets = fields.map((field) => `offsetof(${type}, ${field.name})`).join(", ");
  return `
EXPORT ${type} echo_${name}(${type} value) { return value; }
EXPORT ${type} make_${name}(const uint8_t *bytes) { ${type} value; memcpy(&value, bytes, sizeof value); return value; }
EXPORT uint64_t take_${name}(${type} value) { uint64_t sum = hash_${name}(0, &value); memset(&value, 0x5a, sizeof value); return sum; }
EXPORT uint64_t between_${name}(int32_t a, double b, ${type} one, int64_t c, float d, ${type} other, uint8_t e, double f, ${type} last, int16_t g) {
  uint64_t sum = 7;
  sum = hash_${name}(sum, &one); sum = hash_${name}(sum, &other); sum = hash_${name}(sum, &last);
  sum = mix(sum, (uint64_t)(int64_t)a); sum = mix(sum, bits64(b)); sum = mix(sum, (uint64_t)c); sum = mix(sum, bits32(d));
  sum = mix(sum, e); sum = mix(sum, bits64(f)); return mix(sum, (uint64_t)(int64_t)g);
}
EXPORT void layout_${name}(uint64_t *out) {
  uint64_t all[] = { sizeof(${type}), _Alignof(${type}), ${offsets} }; memcpy(out, all, sizeof all);
}`;
}

/** The C source of the probe library. */
export function probeSource(layouts: readonly ProbeLayout[]): string {
  return `#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif
static uint64_t mix(uint64_t sum, uint64_t value) { return (sum ^ value) * 0x100000001b3u; }
static uint64_t hash(uint64_t sum, const void *bytes, size_t count) { for (size_t i = 0; i < count; i++) sum = mix(sum, ((const uint8_t *)bytes)[i]); return sum; }
static uint64_t bits64(double value) { uint64_t bits; memcpy(&bits, &value, 8); return bits; }
static uint64_t bits32(float value) { uint32_t bits; memcpy(&bits, &value, 4); return bits; }
EXPORT int32_t many_40(${Array.from({ length: 40 }, (_, index) => `int32_t a${index}`).join(", ")}) {
  return ${Array.from({ length: 40 }, (_, index) => `a${index} * ${index + 1}`).join(" + ")};
}
EXPORT int32_t apply(int32_t (*fn)(int32_t, double, void *), int32_t a, double b, void *data) { return fn(a, b, data) + 1; }
EXPORT _Bool negate(_Bool value) { return !value; }
EXPORT int8_t minus_i8(int8_t value) { return (int8_t)-value; }
EXPORT uint16_t plus_u16(uint16_t value) { return (uint16_t)(value + 1); }
EXPORT uint32_t plus_u32(uint32_t value) { return value + 1; }
EXPORT int64_t minus_i64(int64_t value) { return -value; }
EXPORT uint64_t plus_u64(uint64_t value) { return value + 1; }
EXPORT float half_f32(float value) { return value / 2; }
EXPORT double half_f64(double value) { return value / 2; }
EXPORT double mixed_order(float a, int32_t b, double c, int64_t d, float e) { return a + b * 10 + c * 100 + (double)d * 1000 + e * 10000; }
EXPORT const char *text(void) { return "gr\\xc3\\xbc\\xc3\\x9f\\xe2\\x82\\xac"; }
EXPORT const char *bad_text(void) { return "a\\xff\\xfe z"; }
EXPORT uint64_t length(const char *value) { return strlen(value); }
EXPORT const void *same(const void *value) { return value; }
EXPORT uint64_t sum_bytes(const uint8_t *bytes, uint64_t count) { uint64_t sum = 0; for (uint64_t i = 0; i < count; i++) sum += bytes[i]; return sum; }
EXPORT void fill_floats(float *out, int32_t count) { for (int32_t i = 0; i < count; i++) out[i] = (float)i / 2; }
${layouts.map(declaration).join("\n")}
${layouts.map(hashFunction).join("\n")}
${layouts.map(functions).join("\n")}
`;
}

/** C text that only declares functions with the structs by value, and their signatures: to see how a compiler passes them. */
export function probeDeclarations(
  layouts: readonly ProbeLayout[],
): { text: string; functions: { name: string; signature: Signature }[] } {
  const declared = layouts.flatMap(({ name }): { name: string; text: string; signature: Signature }[] => {
    const struct = { struct: name };
    const between: Signature["parameters"] = ["i32", "f64", struct, "i64", "f32", struct, "u8", "f64", struct, "i16"];
    const c = `struct ${name}`;
    return [
      { name: `echo_${name}`, text: `${c} echo_${name}(${c});`, signature: { parameters: [struct], result: struct } },
      {
        name: `between_${name}`,
        text: `uint64_t between_${name}(int32_t, double, ${c}, int64_t, float, ${c}, uint8_t, double, ${c}, int16_t);`,
        signature: { parameters: between, result: "u64" },
      },
    ];
  });
  const table = `void *all[] = {\n${declared.map(({ name }) => `(void *)${name},`).join("\n")}\n};`;
  const text = ["#include <stdint.h>", ...layouts.map(declaration), ...declared.map((one) => one.text), table].join(
    "\n",
  );
  return { text: `${text}\n`, functions: declared.map(({ name, signature }) => ({ name, signature })) };
}
