import { toStructLayout } from "../../../csrc/probe/layouts.ts";
import { Binder } from "../../../ffi/call/binder.ts";
import { type NativeRuntime, nativeRuntime } from "../../../ffi/runtime/types.ts";
import { type Leaf, leavesOf, SCALAR_SIZE, type Signature, type StructLayout } from "../../../ffi/types/signature.ts";
import { StructFactory } from "../../../ffi/memory/struct_factory.ts";
import { type NativeLibrary, systemOf } from "../../../ffi/runtime/system.ts";
import { ensureProbe, wantedLayouts } from "../../../scripts/build/probe.ts";
import type { randomBelow } from "../../support/random.ts";

/** The probe library, opened, with what it takes to call it. */
export interface Probe {
  readonly runtime: NativeRuntime;
  readonly library: NativeLibrary;
  readonly structs: StructFactory;
  readonly layouts: readonly StructLayout[];
  readonly layoutOf: (name: string) => StructLayout;
  /** Binds a function of the probe. */
  bind(this: void, name: string, signature: Signature): (...values: unknown[]) => unknown;
  /** The same, as if the runtime could do less than it can. */
  bindAs(less: Partial<NativeRuntime>): Probe["bind"];
}

let probe: Promise<Probe> | undefined;

/** Builds the probe library if need be and opens it. */
export function openProbe(): Promise<Probe> {
  return probe ??= makeProbe();
}

async function makeProbe(): Promise<Probe> {
  const layouts = wantedLayouts().map(toStructLayout) as readonly StructLayout[];
  const byName = new Map(layouts.map((layout) => [layout.name, layout]));
  const layoutOf = (name: string): StructLayout => byName.get(name)!;
  const runtime = await nativeRuntime();
  const library = systemOf(runtime).open(await ensureProbe());
  const structs = new StructFactory(runtime, layoutOf);
  const bindBy = (binder: Binder): Probe["bind"] => (name, signature) =>
    binder.bind(library, name, signature) as (...values: unknown[]) => unknown;
  return {
    runtime,
    library,
    structs,
    layouts,
    layoutOf,
    bind: bindBy(new Binder(runtime, structs, layoutOf)),
    bindAs: (less) => bindBy(new Binder({ ...runtime, ...less }, structs, layoutOf)),
  };
}

/** Bytes for a struct: padding zero, floats finite (a NaN's spare bits don't survive as a JavaScript number). */
export function someBytes(
  layout: StructLayout,
  leaves: readonly Leaf[],
  next: ReturnType<typeof randomBelow>,
): Uint8Array {
  const bytes = new Uint8Array(layout.size);
  for (const { offset, type } of leaves) {
    const size = SCALAR_SIZE[type];
    for (let index = 0; index < size; index++) bytes[offset + index] = next(256);
    if (type === "f32" || type === "f64") bytes[offset + size - 1]! &= 0xbf;
  }
  return bytes;
}

/** The scalars of a struct. */
export function leaves(layout: StructLayout, layoutOf: (name: string) => StructLayout): Leaf[] {
  return leavesOf(layout, layoutOf);
}

const mask = (1n << 64n) - 1n;

/** The probe's way to mix a word into a hash. */
export function mix(sum: bigint, value: bigint): bigint {
  return ((sum ^ (value & mask)) * 0x100000001b3n) & mask;
}

/** The probe's hash of a struct's fields. */
export function hash(sum: bigint, bytes: Uint8Array, of: readonly Leaf[]): bigint {
  for (const { offset, type } of of) {
    for (let index = 0; index < SCALAR_SIZE[type]; index++) sum = mix(sum, BigInt(bytes[offset + index]!));
  }
  return sum;
}
