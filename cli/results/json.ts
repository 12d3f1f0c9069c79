/** Digits that count: what is measured or computed is no more exact. */
const DIGITS = 6;

/** One line of JSON; fractions have six significant digits, and 64-bit numbers are text. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value, (_key, part: unknown) => typeof part === "bigint" ? String(part) : rounded(part))}\n`;
}

function rounded(value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value;
}
