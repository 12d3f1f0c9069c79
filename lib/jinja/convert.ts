import { typeError } from "./errors.ts";
import { Dict } from "./values/dict.ts";
import { outsideText } from "./values/text.ts";
import type { Value } from "./values/types.ts";

/** How many lists and objects may be within one another. */
const MAX_DEPTH = 200;

/**
 * Plain data as a template's value, as Python reads it from JSON. With `trusted`, every text that isn't among these counts as from outside of the template.
 */
export function fromData(data: unknown, trusted?: ReadonlySet<string>, depth = 0): Value {
  if (depth > MAX_DEPTH) return typeError(`the data is nested deeper than ${MAX_DEPTH} lists and objects`);
  const text = (value: string): Value => trusted === undefined || trusted.has(value) ? value : outsideText(value);
  switch (typeof data) {
    case "string":
      return text(data);
    case "boolean":
    case "bigint":
      return data;
    case "number":
      return numberOf(data);
    case "object":
      break;
    default:
      return null;
  }
  if (data === null) return null;
  if (Array.isArray(data)) return data.map((one: unknown) => fromData(one, trusted, depth + 1));
  const entries: readonly (readonly [unknown, unknown])[] = data instanceof Map ? [...data] : Object.entries(data);
  return new Dict(
    entries.filter(([, value]) => value !== undefined).map(([key, value]) =>
      [text(String(key)), fromData(value, trusted, depth + 1)] as const
    ),
  );
}

/** JavaScript writes whole numbers below 1e21 without a point, which Python reads as ints. */
function numberOf(data: number): Value {
  return Number.isInteger(data) && Math.abs(data) < 1e21 && !Object.is(data, -0) ? BigInt(String(data)) : data;
}
