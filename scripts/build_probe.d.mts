/** Builds the probe for a target (default: this machine) unless the cache has it; gives its path. */
export function bringProbe(target?: string, cache?: string): Promise<string>;
