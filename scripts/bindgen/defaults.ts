import type { Native } from "../../ffi/native.ts";
import type { Pointer } from "../../ffi/types/pointer.ts";
import { structLayout } from "../../ffi/tables.ts";
import type { FieldType } from "../../ffi/types/signature.ts";

/** A function that returns a struct's defaults, and what is known about that struct. */
export interface DefaultsRule {
  /** The struct. */
  readonly struct: string;
  /** The function. */
  readonly from: string;
  /** The function's arguments. */
  readonly args: readonly unknown[];
  /** Fields that hold the arguments. */
  readonly arguments?: readonly string[];
  /** The pointee of each pointer field that isn't NULL: `symbol NAME`, `result NAME` (of a function) or `text TEXT`. */
  readonly pointers?: Readonly<Record<string, string>>;
  /** Fields that hold the number of the machine's cores, and the most that they hold. */
  readonly machine?: Readonly<Record<string, number>>;
}

/** Every function that returns defaults, but for {@linkcode noDefaults}. */
export const defaultsRules: readonly DefaultsRule[] = [
  {
    struct: "ggml_opt_optimizer_params",
    from: "ggml_opt_get_default_optimizer_params",
    args: [null],
  },
  {
    struct: "ggml_opt_params",
    from: "ggml_opt_default_params",
    args: [null, 0],
    arguments: ["backend_sched", "loss_type"],
    pointers: { get_opt_pars: "symbol ggml_opt_get_default_optimizer_params" },
  },
  { struct: "ggml_threadpool_params", from: "ggml_threadpool_params_default", args: [0], arguments: ["n_threads"] },
  {
    struct: "llama_context_params",
    from: "llama_context_default_params",
    args: [],
    machine: { n_threads: 4, n_threads_batch: 4 },
  },
  { struct: "llama_model_params", from: "llama_model_default_params", args: [] },
  { struct: "llama_model_quantize_params", from: "llama_model_quantize_default_params", args: [] },
  { struct: "llama_sampler_chain_params", from: "llama_sampler_chain_default_params", args: [] },
  {
    struct: "mtmd_context_params",
    from: "mtmd_context_params_default",
    args: [],
    pointers: { media_marker: "result mtmd_default_marker" },
    machine: { n_threads: 4 },
  },
  { struct: "mtmd_helper_init_opt", from: "mtmd_helper_init_opt_default", args: [] },
  { struct: "mtmd_helper_video_init_params", from: "mtmd_helper_video_init_params_default", args: [] },
  { struct: "parakeet_context_params", from: "parakeet_context_default_params", args: [] },
  {
    struct: "parakeet_full_params",
    from: "parakeet_full_default_params",
    args: [0],
    arguments: ["strategy"],
    machine: { n_threads: 4 },
  },
  { struct: "whisper_context_params", from: "whisper_context_default_params", args: [] },
  {
    // Greedy; for a beam search upstream sets strategy 1, greedy.best_of -1 and beam_search.beam_size 5.
    struct: "whisper_full_params",
    from: "whisper_full_default_params",
    args: [0],
    arguments: ["strategy"],
    pointers: { language: "text en" },
    machine: { n_threads: 4 },
  },
  { struct: "whisper_vad_context_params", from: "whisper_vad_default_context_params", args: [] },
  { struct: "whisper_vad_params", from: "whisper_vad_default_params", args: [] },
];

/** Functions that return a struct by value and look like defaults, with the reason why they have no entry. */
export const noDefaults: Readonly<Record<string, string>> = {
  mtmd_gen_inp_default: "depends on the model",
  ggml_opt_get_constant_optimizer_params: "reads the values that its argument points to",
};

/** A library's defaults: bytes with pointers and marked fields zeroed. */
export interface ReadDefaults {
  readonly rule: DefaultsRule;
  /** Hexadecimal, zeros at the end left out. */
  readonly bytes: string;
}

/** Asks the library for a struct's defaults. Throws when a pointer isn't what the rule says. */
export function readDefaults(native: Native, rule: DefaultsRule): ReadDefaults {
  const make = native.lib[rule.from as keyof typeof native.lib] as (...args: readonly unknown[]) => object;
  const view = make(...rule.args);
  const bytes = native.bytesOf(view as Parameters<Native["bytesOf"]>[0]).slice(0, structLayout(rule.struct).size);
  checkPointers(native, rule, bytes);
  for (const name of Object.keys(rule.machine ?? {})) {
    const field = structLayout(rule.struct).fields.find((one) => one.name === name)!;
    bytes.fill(0, field.offset, field.offset + 4);
  }
  return {
    rule,
    bytes: Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("").replace(/(00)+$/, ""),
  };
}

function checkPointers(native: Native, rule: DefaultsRule, bytes: Uint8Array): void {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const named = new Set<string>();
  for (const { name, offset } of pointerFields(rule.struct, "", 0)) {
    const found = words.getBigUint64(offset, true);
    const pointee = rule.pointers?.[name];
    if (found === 0n && pointee === undefined) continue;
    if (pointee === undefined) {
      throw new Error(
        `${rule.struct}.${name} isn't NULL in ${rule.from}(): name what it points to in scripts/bindgen/defaults.ts`,
      );
    }
    const isText = pointee.startsWith(TEXT);
    const right = isText
      ? native.readCString(found as Pointer) === pointee.slice(TEXT.length)
      : address(native, pointee) === found;
    if (!right) throw new Error(`${rule.struct}.${name} doesn't hold "${pointee}"`);
    words.setBigUint64(offset, 0n, true);
    named.add(name);
  }
  for (const name of Object.keys(rule.pointers ?? {})) {
    if (!named.has(name)) throw new Error(`${rule.struct} has no pointer field ${name}`);
  }
}

/** The prefix of the pointee of a field that points to a string. */
const TEXT = "text ";

function address(native: Native, pointee: string): bigint {
  const [kind, name = ""] = pointee.split(" ");
  const key = name as keyof typeof native.lib;
  if (kind === "symbol") return native.symbol(key);
  if (kind === "result") return (native.lib[key] as unknown as () => bigint)();
  throw new Error(`"${pointee}" is neither "symbol NAME", "result NAME" nor "text TEXT"`);
}

function* pointerFields(struct: string, prefix: string, base: number): Generator<{ name: string; offset: number }> {
  for (const field of structLayout(struct).fields) {
    yield* pointersIn(field.type, `${prefix}${field.name}`, base + field.offset);
  }
}

function* pointersIn(type: FieldType, name: string, offset: number): Generator<{ name: string; offset: number }> {
  if (type === "pointer") yield { name, offset };
  else if (typeof type === "object" && "struct" in type) yield* pointerFields(type.struct, `${name}.`, offset);
}

/** The text of `ffi/tables/defaults.ts`. */
export function emitDefaults(banner: string, all: readonly ReadDefaults[]): string {
  const entries = [...all].sort((a, b) => a.rule.struct < b.rule.struct ? -1 : 1).map(({ rule, bytes }) => {
    const parts = [`from: "${rule.from}"`, `bytes: "${bytes}"`];
    if (rule.pointers !== undefined) parts.push(`pointers: ${JSON.stringify(rule.pointers)}`);
    if (rule.arguments !== undefined) parts.push(`arguments: ${JSON.stringify(rule.arguments)}`);
    if (rule.machine !== undefined) parts.push(`machine: ${JSON.stringify(rule.machine)}`);
    return `  ${rule.struct}: { ${parts.join(", ")} },\n`;
  });
  const names = [...all].map(({ rule }) => `"${rule.struct}"`).sort();
  return `${banner}
/** The structs that have default values. */
export type DefaultsName = ${names.join(" | ")};

/** A struct's default values, as the library's own function gives them. */
export interface StructDefaults {
  /** The function that gives them. */
  readonly from: string;
  /** The struct's bytes in hexadecimal; zeros at the end are left out, pointers are zero. */
  readonly bytes: string;
  /**
   * What each pointer field points to that isn't NULL: \`symbol NAME\` (its address), \`result NAME\` (what that function returns) or \`text TEXT\`
   * (a string, which lives as long as the struct's view).
   */
  readonly pointers?: Readonly<Record<string, string>>;
  /** Fields that hold the function's arguments; zero here. */
  readonly arguments?: readonly string[];
  /** Fields that hold the number of the machine's cores, and the most that they hold; zero here. */
  readonly machine?: Readonly<Record<string, number>>;
}

/** The default values of each struct that has any. */
export const structDefaults: Readonly<Record<DefaultsName, StructDefaults>> = {
${entries.join("")}};
`;
}
