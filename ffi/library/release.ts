/** The SHA-256 of each target's `manifest.json`, which has those of the libraries; packing writes it here. `null` in the source tree, which builds its own. */
export const manifestHashes: Readonly<Record<string, string>> | null = null as Readonly<Record<string, string>> | null;

/** The npm registry that the release was packed for; packing writes it here. */
export const releaseRegistry: string | null = null as string | null;
