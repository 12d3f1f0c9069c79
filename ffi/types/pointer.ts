/** The type that a pointer points to; exists at compile time only. */
export declare const pointee: unique symbol;

/**
 * An address in native memory, branded with the C name of what it points to. It is a plain `bigint` at run time, so it can travel in a message to
 * another thread of the same process. NULL is `null`, never `0n`.
 *
 * ```ts
 * import type { Pointer } from "../mod.ts";
 *
 * function takesModel(_model: Pointer<"llama_model">): void {}
 * const model = 4096n as Pointer<"llama_model">;
 * takesModel(model);
 * ```
 */
export type Pointer<T extends string = string> = bigint & { readonly [pointee]: T };

/** A typed array or `DataView`, whose memory can be handed to C for the length of one call. */
export type NativeBuffer = ArrayBufferView<ArrayBufferLike>;
