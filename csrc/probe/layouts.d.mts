/** A field of a probe struct: a scalar's code, `"pointer"`, or another struct; `count` is 0 for a plain field. */
export interface ProbeField {
  readonly name: string;
  readonly offset: number;
  readonly type: string | ProbeLayout;
  readonly count: number;
}

/** A struct of the probe library. */
export interface ProbeLayout {
  readonly name: string;
  readonly size: number;
  readonly align: number;
  readonly fields: readonly ProbeField[];
}

/** Gives whole numbers below `limit`, the same for the same seed. */
export function random(seed: number): (limit: number) => number;
/** The structs: the same list for the same arguments. */
export function probeLayouts(count?: number, seed?: number): ProbeLayout[];
/** A layout in the words of ffi/types/signature.ts. */
export function toStructLayout(layout: ProbeLayout): {
  readonly name: string;
  readonly size: number;
  readonly align: number;
  readonly fields: readonly { readonly name: string; readonly offset: number; readonly type: never }[];
};
/** The C source of the library. */
export function probeSource(layouts: readonly ProbeLayout[]): string;
/** C text that only declares functions with the structs by value, and their signatures in the words of ffi/types/signature.ts. */
export function probeDeclarations(layouts: readonly ProbeLayout[]): {
  readonly text: string;
  readonly functions: readonly { readonly name: string; readonly signature: unknown }[];
};
