/** Numbers of a binary file, each known by its place, and damage to them alone: all else stays valid, so that the checks behind the first are reached. */

type Below = (limit: number) => number;

/** A number in a file. */
export interface Field {
  /** Its offset in bytes. */
  readonly at: number;
  /** Its bytes. */
  readonly size: 1 | 2 | 4 | 8;
  /** Whether it is a float: then it also becomes NaN or infinite. */
  readonly isFloat?: boolean;
}

/** Text of a file, such as a name. */
export interface TextField {
  /** Its offset in bytes. */
  readonly at: number;
  /** Its bytes. */
  readonly length: number;
}

/** The fields of a file. */
export interface Fields {
  readonly numbers: readonly Field[];
  readonly texts: readonly TextField[];
}

const FLOATS: Readonly<Record<number, readonly bigint[]>> = {
  2: [0x7e00n, 0x7c00n, 0xfc00n],
  4: [0x7fc0_0000n, 0x7f80_0000n, 0xff80_0000n, 0x7f7f_ffffn, 1n],
  8: [0x7ff8n << 48n, 0x7ff0n << 48n, 0xfff0n << 48n, 1n],
};

/** A copy with one to three fields set to other values. */
export function mutateFields(
  bytes: Uint8Array<ArrayBuffer>,
  { numbers, texts }: Fields,
  below: Below,
): Uint8Array<ArrayBuffer> {
  const copy = bytes.slice();
  for (let left = 1 + below(3); left > 0; left--) {
    const text = below(5) === 0 ? texts[below(texts.length || 1)] : undefined;
    if (text !== undefined) mutateText(copy, text, texts, below);
    else mutateNumber(copy, numbers, below);
  }
  return copy;
}

function mutateNumber(copy: Uint8Array<ArrayBuffer>, numbers: readonly Field[], below: Below): void {
  const field = numbers[below(numbers.length || 1)];
  if (field === undefined) return;
  const others = numbers.filter(({ size }) => size === field.size);
  const other = others[below(others.length)] ?? field;
  write(copy, field, damaged(read(copy, field), read(copy, other), field, below));
}

function damaged(value: bigint, other: bigint, { size, isFloat = false }: Field, below: Below): bigint {
  const all = (1n << BigInt(8 * size)) - 1n;
  const floats = FLOATS[size] ?? [];
  if (isFloat && below(2) === 0) return floats[below(floats.length)] ?? 0n;
  const values = [
    0n,
    1n,
    all,
    all >> 1n,
    (all >> 1n) + 1n,
    value + 1n,
    value - 1n,
    value * 2n,
    value >> 1n,
    value << BigInt(4 * size),
    value ^ (1n << BigInt(below(8 * size))),
    1n << BigInt(below(8 * size)),
    BigInt(below(64)),
    other,
  ];
  return (values[below(values.length)] ?? 0n) & all;
}

function mutateText(
  copy: Uint8Array<ArrayBuffer>,
  { at, length }: TextField,
  texts: readonly TextField[],
  below: Below,
): void {
  const same = texts.filter((one) => one.length === length && one.at !== at);
  const other = same[below(same.length || 1)];
  if (other !== undefined && below(2) === 0) copy.copyWithin(at, other.at, other.at + length);
  else if (length > 0) copy[at + below(length)] = [0, 0x2e, 0x2f, 0x30, 0x7f, 0xff][below(6)] ?? 0;
}

function read(bytes: Uint8Array<ArrayBuffer>, { at, size }: Field): bigint {
  let value = 0n;
  for (let index = size - 1; index >= 0; index--) value = value << 8n | BigInt(bytes[at + index] ?? 0);
  return value;
}

function write(bytes: Uint8Array<ArrayBuffer>, { at, size }: Field, value: bigint): void {
  for (let index = 0; index < size; index++) bytes[at + index] = Number(value >> BigInt(8 * index) & 0xffn);
}
