import type { Native } from "../../../ffi/mod.ts";
import type { GgmlContext } from "../tensor/context.ts";
import { typeByName, type TypeName, typeNames } from "../tensor/types.ts";
import { libOf } from "./check.ts";

/** The CPU kernels' support of each type. */
export interface CpuTypes {
  /** Those that floats can be written as inside a graph. C: `ggml_type_traits_cpu.from_float`. */
  readonly writable: readonly TypeName[];
  /** Those that can be read as floats. C: `ggml_type_traits.to_float`. */
  readonly readable: readonly TypeName[];
  /** Those of a matrix's rows, and which type the other operand is turned into. C: `ggml_type_traits_cpu.vec_dot_type`. */
  readonly dot: ReadonlyMap<TypeName, TypeName>;
}

const known = new WeakMap<Native, CpuTypes>();

/** The CPU kernels' support of each type, as the libraries say. */
export function cpuTypes(context: GgmlContext): CpuTypes {
  libOf(context);
  const { native } = context;
  let types = known.get(native);
  if (types === undefined) {
    types = ask(native);
    known.set(native, types);
  }
  return types;
}

function ask(native: Native): CpuTypes {
  const { lib } = native;
  const writable: TypeName[] = [];
  const readable: TypeName[] = ["f32"];
  const dot = new Map<TypeName, TypeName>();
  for (const name of typeNames) {
    const { id } = typeByName("the type", name);
    const cpuTraits = lib.ggml_get_type_traits_cpu(id);
    if (cpuTraits !== null) {
      const cpu = native.structAt("ggml_type_traits_cpu", cpuTraits);
      if (cpu.from_float !== null) writable.push(name);
      const other = typeNames.find((one) => typeByName("the type", one).id === cpu.vec_dot_type);
      if (cpu.vec_dot !== null && other !== undefined) dot.set(name, other);
    }
    if (native.structAt("ggml_type_traits", lib.ggml_get_type_traits(id)).to_float !== null) readable.push(name);
  }
  return { writable, readable, dot };
}
