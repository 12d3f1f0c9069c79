/** The bundled source of `entry.ts`. `null` in the source tree; packing fills it in, for programs made of one file. */
export const callThreadSource: string | null = null;
