/** Distinguishes structs with the same fields; exists at compile time only. */
export declare const structName: unique symbol;

/** Distinguishes a view from an object with the same fields; exists at compile time only. */
export declare const viewMark: unique symbol;

/**
 * A view of one C struct, made by `native.struct`, `native.structAt` or `native.defaults`: its fields are plain properties over the struct's memory.
 * An object literal isn't a view.
 */
export type StructView<T> = T & { readonly [viewMark]: true };
