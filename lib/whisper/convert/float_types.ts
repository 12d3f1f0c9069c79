/** Converts numbers of each type to floats; the bytes are a buffer of their own. */
export const floatReaders = {
  f32: ({ buffer }: Uint8Array<ArrayBuffer>) => new Float32Array(buffer),
  f16: ({ buffer }: Uint8Array<ArrayBuffer>) => new Float32Array(new Float16Array(buffer)),
  bf16: ({ buffer }: Uint8Array<ArrayBuffer>) =>
    new Float32Array(Uint32Array.from(new Uint16Array(buffer), (bits) => bits << 16).buffer),
  i8: ({ buffer }: Uint8Array<ArrayBuffer>) => new Float32Array(new Int8Array(buffer)),
  i16: ({ buffer }: Uint8Array<ArrayBuffer>) => new Float32Array(new Int16Array(buffer)),
  i32: ({ buffer }: Uint8Array<ArrayBuffer>) => new Float32Array(new Int32Array(buffer)),
} as const;

/** A type that {@linkcode floatReaders} reads. */
export type FloatType = keyof typeof floatReaders;

/** Bytes of a number of each type. */
export const floatBytes: Readonly<Record<FloatType, number>> = { f32: 4, f16: 2, bf16: 2, i8: 1, i16: 2, i32: 4 };
