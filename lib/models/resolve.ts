import type { PullSettings } from "../support/download_options.ts";
import type { CheckedSource } from "./source.ts";

/** A model on this machine. */
export type LocalSource = Exclude<CheckedSource, { kind: "web" | "hub" }>;

/** Brings a model to this machine, unless it is there: addresses become the path of a file in the cache. Throws as `pullModel` does. */
export async function localSource(source: CheckedSource, settings: PullSettings): Promise<LocalSource> {
  if (source.kind !== "web" && source.kind !== "hub") return source;
  // Only now: programs that download nothing don't wait for it.
  const { pullChecked } = await import("./pull.ts");
  return { kind: "file", path: (await pullChecked(source, settings)).path };
}
