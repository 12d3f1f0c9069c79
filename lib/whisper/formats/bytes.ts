import type { Token } from "../transcribe/segment.ts";

/** A token's bytes. */
export function tokenBytes({ text, bytes }: Token): Uint8Array {
  return bytes ?? new TextEncoder().encode(text);
}

/** Two pieces as one. */
export function joinBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Number of bytes that the last character lacks. */
export function missingBytes(bytes: Uint8Array): number {
  let at = bytes.length - 1;
  while (at >= 0 && ((bytes[at] as number) & 0xc0) === 0x80) at--;
  const first = bytes[at];
  if (first === undefined) return 0;
  const length = first < 0x80
    ? 1
    : first >> 5 === 0b110
    ? 2
    : first >> 4 === 0b1110
    ? 3
    : first >> 3 === 0b11110
    ? 4
    : 0;
  return Math.max(0, length - (bytes.length - at));
}

/** A number with six digits, as C's `%g` writes it. */
export function shortNumber(value: number): string {
  const [digits = "0", exponent = "0"] = value.toExponential(5).split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(Number(value.toPrecision(6)));
  const sign = power < 0 ? "-" : "+";
  return `${Number(digits)}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
}
