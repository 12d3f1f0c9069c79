import type { gguf_type } from "../tables/enums.ts";
import type { llama_batch } from "../tables/structs.ts";
import type { Pointer } from "../types/pointer.ts";
import type { StructView } from "../types/struct_view.ts";
import type { Facts } from "./vocabulary.ts";

type Sampler = Pointer<"llama_sampler">;
type Context = Pointer<"llama_context">;

/** Samplers that only change or remove candidates. */
const filters = new Set([
  "top-k",
  "top-p",
  "min-p",
  "typical",
  "temp",
  "temp-ext",
  "xtc",
  "top-n-sigma",
  "penalties",
  "dry",
  "logit-bias",
  "grammar",
  "infill",
]);

/** The bytes of one value of each type of GGUF; strings and arrays have none. */
const ggufSizes = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];

/** Conditions on models, batches, samplers, files and recordings. */
export function modelWords({ native, lib, objects, call }: Facts): Readonly<Record<string, unknown>> {
  const name = (sampler: Sampler): string => native.readCString(lib.llama_sampler_name(sampler)).replace(/^\W/, "");
  const members = (sampler: Sampler): string[] => {
    if (name(sampler) !== "chain") return [name(sampler)];
    const count = lib.llama_sampler_chain_n(sampler);
    return Array.from({ length: count }, (_, at) => lib.llama_sampler_chain_get(sampler, at))
      .flatMap((one) => one === null ? [] : members(one));
  };
  const integers = (pointer: Pointer, count: number): Int32Array => native.viewInt32(pointer, count);
  const inSequences = (ids: readonly unknown[], end: number, least: number): boolean =>
    ids.every((id) => typeof id !== "number" || id >= least && id < end);
  const of = (what: string): ((...values: unknown[]) => number) | undefined => {
    const { ctx, state } = call.named;
    const [prefix] = call.name.split("_");
    const fromState = call.name.endsWith("_from_state");
    const fn = (lib as unknown as Record<string, (...values: unknown[]) => number>)[
      `${prefix}_full_${what}${fromState ? "_from_state" : ""}`
    ];
    return fn === undefined ? undefined : (...values) => fn(fromState ? state : ctx, ...values);
  };
  return {
    keyType: (ctx: Pointer<"gguf_context">, key: number): number => lib.gguf_get_kv_type(ctx, BigInt(key)),
    ggufSize: (type: gguf_type): number => ggufSizes[type] ?? 0,
    /** The length of the rows of a tensor that was added to a file; what isn't known of passes. */
    tensorRow: (ctx: Pointer<"gguf_context">, tensor: string): number => {
      const id = lib.gguf_find_tensor(ctx, tensor);
      const sizes = lib.gguf_get_tensor_ne(ctx, id);
      return sizes === null ? 0 : Number(new DataView(native.copy(sizes, 8).buffer).getBigInt64(0, true));
    },
    isChain: (sampler: Sampler): boolean => name(sampler) === "chain",
    selects: (sampler: Sampler): boolean => members(sampler).some((one) => !filters.has(one)),
    everySequence: ({ n_tokens, n_seq_id }: StructView<llama_batch>): boolean =>
      n_seq_id === null || integers(n_seq_id, n_tokens).every((count) => count > 0),
    tokensInside: ({ n_tokens, token }: StructView<llama_batch>, end: number): boolean =>
      token === null || integers(token, n_tokens).every((id) => id >= 0 && id < end),
    /** The sequences of a call on a context's memory. */
    sequenceInside: (memory: unknown): boolean => {
      const { seq_id, seq_id_src, seq_id_dst } = call.named;
      const context = objects.at(memory)?.owner;
      const end = context?.kind === "llama_context" ? lib.llama_n_seq_max(context.address as Context) : 2 ** 31;
      return inSequences([seq_id, seq_id_src, seq_id_dst], end, call.name === "llama_memory_seq_rm" ? -1 : 0);
    },
    stateSequenceInside: (ctx: Context): boolean =>
      inSequences([call.named["seq_id"], call.named["dest_seq_id"]], lib.llama_n_seq_max(ctx), 0),
    segments: (): number => of("n_segments")?.() ?? 0,
    vadSegments: (): number => of("n_vad_segments")?.() ?? 0,
    tokensOf: (segment: number): number => of("n_tokens")?.(segment) ?? 0,
  };
}
