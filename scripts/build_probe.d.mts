import type { ProbeLayout } from "../csrc/probe/layouts.mjs";

/** Builds the probe for a target (default: this machine) unless the cache has it; gives its path. */
export function bringProbe(target?: string, cache?: string, layouts?: readonly ProbeLayout[]): Promise<string>;
