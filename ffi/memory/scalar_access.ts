import type { Scalar } from "../runtime/types.ts";

/** Reads a value. */
export type Read = (data: DataView, offset: number) => unknown;
/** Writes a value that was found right. */
export type Write = (data: DataView, offset: number, value: never) => void;

/** Reads, checks and writes a kind of field: a DataView alone would truncate what doesn't fit, and write 0 for what isn't a number. */
export interface ScalarAccess {
  /** Reads one. */
  readonly read: Read;
  /** Writes one. */
  readonly write: Write;
  /** Whether a value may be written. */
  readonly takes: (value: unknown) => boolean;
  /** The words for a value that may be written. */
  readonly expected: string;
}

function integer(min: number, max: number, read: Read, write: Write): ScalarAccess {
  const takes = (value: unknown): boolean =>
    Number.isInteger(value) && value as number >= min && value as number <= max;
  return { read, write, takes, expected: `an integer from ${min} to ${max}` };
}

function long(min: bigint, max: bigint, read: Read, write: Write): ScalarAccess {
  const takes = (value: unknown): boolean => typeof value === "bigint" && value >= min && value <= max;
  return { read, write, takes, expected: `a bigint from ${min}n to ${max}n` };
}

function float(read: Read, write: Write): ScalarAccess {
  return { read, write, takes: (value) => typeof value === "number", expected: "a number" };
}

/** The access to each kind of scalar. */
export const scalarAccess: Readonly<Record<Scalar, ScalarAccess>> = {
  bool: {
    read: (data, at) => data.getUint8(at) !== 0,
    write: (data, at, value: boolean) => data.setUint8(at, value ? 1 : 0),
    takes: (value) => typeof value === "boolean",
    expected: "true or false",
  },
  i8: integer(-0x80, 0x7f, (data, at) => data.getInt8(at), (data, at, value: number) => data.setInt8(at, value)),
  u8: integer(0, 0xff, (data, at) => data.getUint8(at), (data, at, value: number) => data.setUint8(at, value)),
  i16: integer(
    -0x8000,
    0x7fff,
    (data, at) => data.getInt16(at, true),
    (data, at, value: number) => data.setInt16(at, value, true),
  ),
  u16: integer(
    0,
    0xffff,
    (data, at) => data.getUint16(at, true),
    (data, at, value: number) => data.setUint16(at, value, true),
  ),
  i32: integer(
    -0x8000_0000,
    0x7fff_ffff,
    (data, at) => data.getInt32(at, true),
    (data, at, value: number) => data.setInt32(at, value, true),
  ),
  u32: integer(
    0,
    0xffff_ffff,
    (data, at) => data.getUint32(at, true),
    (data, at, value: number) => data.setUint32(at, value, true),
  ),
  i64: long(
    -(1n << 63n),
    (1n << 63n) - 1n,
    (data, at) => data.getBigInt64(at, true),
    (data, at, value: bigint) => data.setBigInt64(at, value, true),
  ),
  u64: long(
    0n,
    (1n << 64n) - 1n,
    (data, at) => data.getBigUint64(at, true),
    (data, at, value: bigint) => data.setBigUint64(at, value, true),
  ),
  f32: float(
    (data, at) => data.getFloat32(at, true),
    (data, at, value: number) => data.setFloat32(at, value, true),
  ),
  f64: float(
    (data, at) => data.getFloat64(at, true),
    (data, at, value: number) => data.setFloat64(at, value, true),
  ),
};
