/** Builds the oracle unless the cache has it; gives its path. */
export function bringOracle(cache?: string): Promise<string>;
