/** Builds csrc/reference_backend for a target (default: this machine's) unless the cache has it; gives its path. */
export function bringReference(target?: string, cache?: string): Promise<string>;
