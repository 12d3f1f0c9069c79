/** The bundled source of the native thread's Worker. `null` in the source tree; packing fills it in, for programs made of one file. */
export const nativeThreadSource: string | null = null;
