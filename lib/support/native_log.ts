import type { Native } from "../../ffi/native.ts";

/** Names of functions and what else upstream puts before what it says. */
const prefix = /^(?:\w+: )+(?:error loading model: )?/;
/** What is said last whatever went wrong. */
const empty = /^failed to load model$/;

/** What llama.cpp said went wrong on this thread since a mark: its last errors in its own words, each once; `undefined` when it said nothing. */
export function logWords(native: Native, mark: number): string | undefined {
  const lines = native.logSince(mark).filter(({ level }) => level === "error").map(({ text }) =>
    text.replace(prefix, "")
  );
  const telling = [...new Set(lines)].filter((text) => text !== "" && !empty.test(text));
  return telling.length === 0 ? undefined : telling.slice(-3).join("; ");
}
