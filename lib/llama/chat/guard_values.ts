import { type Guard, guardContents } from "./special_token_guard.ts";
import type { SpecialToken } from "../thread/special_tokens.ts";

/** Values whose texts can't be read as control tokens. */
export interface GuardedValues<T> {
  /** The same values. */
  values: T;
  /** The guard; `undefined` when nothing had to be guarded. */
  guard: Guard | undefined;
}

/** Guards every text in a value made of plain data, but for keys and the texts of these. */
export function guardValues<T>(
  values: T,
  special: readonly SpecialToken[],
  kept: ReadonlySet<string>,
): GuardedValues<T> {
  const texts: string[] = [];
  walk(values, kept, (text) => {
    texts.push(text);
    return text;
  });
  const { contents, guard } = guardContents(texts, special);
  let next = 0;
  return { values: walk(values, kept, () => contents[next++] ?? "") as T, guard };
}

function walk(value: unknown, kept: ReadonlySet<string>, change: (text: string) => string): unknown {
  if (typeof value === "string") return kept.has(value) ? value : change(value);
  if (Array.isArray(value)) return value.map((one) => walk(one, kept, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      kept.has(key) ? key : change(key),
      walk(one, kept, change),
    ]),
  );
}
