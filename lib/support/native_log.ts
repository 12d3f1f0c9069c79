import type { Native } from "../../ffi/native.ts";

/** Names of functions and other prefixes of upstream's messages. */
const prefix = /^(?:\w+: )+(?:error loading model: )?/;
/** The last message, whatever went wrong. */
const empty = /^failed to load model$/;

/** Returns the last errors that native code logged on this thread since a mark, each once; `undefined` when there are none. */
export function loggedErrors(native: Native, mark: number): string | undefined {
  const lines = native.logSince(mark).filter(({ level }) => level === "error").map(({ text }) =>
    text.replace(prefix, "")
  );
  const telling = [...new Set(lines)].filter((text) => text !== "" && !empty.test(text));
  return telling.length === 0 ? undefined : telling.slice(-3).join("; ");
}
