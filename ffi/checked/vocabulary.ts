import {
  ggml_op,
  ggml_opt_build_type,
  ggml_scale_mode,
  ggml_tensor_flag,
  ggml_type,
  gguf_type,
  llama_ftype,
  llama_load_mode,
} from "../tables/enums.ts";
import type { Lib } from "../tables.ts";
import type { Native } from "../native.ts";
import type { Pointer } from "../types/pointer.ts";
import { graphWords } from "./graph_vocabulary.ts";
import { memoryWords } from "./memory_vocabulary.ts";
import { modelWords } from "./model_vocabulary.ts";
import type { NativeObjects } from "./objects.ts";
import { tensorWords } from "./tensor_vocabulary.ts";
import { TensorFacts } from "./tensor_facts.ts";

/** What conditions are evaluated with. */
export interface Facts {
  readonly native: Native;
  /** The functions, unchecked. */
  readonly lib: Lib;
  readonly objects: NativeObjects;
  /** The call that is checked. */
  readonly call: CheckedCall;
}

/** A call that is checked. */
export interface CheckedCall {
  /** The function. */
  name: string;
  /** Its arguments as conditions see them. */
  named: Readonly<Record<string, unknown>>;
  /** What its pointers point to, in the order of its parameters. */
  pointees: readonly (string | undefined)[];
}

/** The names that conditions may use beside those of parameters. */
export function vocabulary(facts: Facts): Readonly<Record<string, unknown>> {
  const { native, lib, objects } = facts;
  const pointerFacts = (pointer: Pointer<"ggml_tensor"> | null): TensorFacts | null =>
    pointer === null ? null : new TensorFacts(native, lib, pointer);
  return {
    lib,
    ggml_op,
    ggml_opt_build_type,
    ggml_scale_mode,
    ggml_tensor_flag,
    ggml_type,
    gguf_type,
    llama_ftype,
    llama_load_mode,
    F32: ggml_type.GGML_TYPE_F32,
    F16: ggml_type.GGML_TYPE_F16,
    BF16: ggml_type.GGML_TYPE_BF16,
    I32: ggml_type.GGML_TYPE_I32,
    I64: ggml_type.GGML_TYPE_I64,
    facts: pointerFacts,
    oneOf: (among: Readonly<Record<string, unknown>> | readonly unknown[], value: unknown): boolean =>
      Object.values(among).includes(value),
    never: (_why: string): boolean => false,
    outSize: (size: number, kernel: number, stride: number, pad: number, dilation: number): number =>
      Math.floor((size + 2 * pad - dilation * (kernel - 1) - 1) / stride) + 1,
    /** The arguments that an object was made with; none when that wasn't seen. */
    made: (pointer: unknown): Readonly<Record<string, unknown>> => objects.at(pointer)?.made ?? {},
    owner: (pointer: unknown): bigint | null => objects.at(pointer)?.owner?.address ?? null,
    hasLiving: (pointer: unknown, kind: string): boolean => objects.hasLiving(pointer, kind),
    text: (pointer: Pointer | null): string => native.readCString(pointer),
    ...tensorWords(facts),
    ...memoryWords(facts),
    ...graphWords(facts),
    ...modelWords(facts),
  };
}
