import type { ProbeLayout } from "../csrc/probe/layouts.mjs";

/** The structs of the probe: other random ones, or more of them, by `GGML_FFI_PROBE=COUNT,SEED`. */
export function wantedLayouts(): ProbeLayout[];
/** Builds the probe for a target (default: this machine) unless the cache has it; gives its path. */
export function bringProbe(target?: string, cache?: string): Promise<string>;
