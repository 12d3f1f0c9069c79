import type { GgufHeader } from "../../gguf/header.ts";

/** Bytes per token of a context beside its keys and values. */
const BYTES_OF_CELL = 48;
/** Keys and values are 16-bit floats. */
const BYTES_OF_NUMBER = 2;

/** Metadata keys of models that don't keep all keys and values of each token. */
const sparseKeys = [
  "attention.sliding_window",
  "attention.kv_lora_rank",
  "ssm.state_size",
  "wkv.head_size",
  "full_attention_interval",
];

/**
 * Returns the bytes per token of a context: exact for models that keep all keys and values, a lower bound for others. A context larger than the free memory is
 * refused, since touching it would end the process.
 */
export function bytesPerToken({ metadata }: GgufHeader): number {
  const architecture = metadata.get("general.architecture");
  const number = (key: string): number | undefined => {
    const value = metadata.get(`${architecture}.${key}`);
    return typeof value === "number" ? value : undefined;
  };
  if (sparseKeys.some((key) => metadata.has(`${architecture}.${key}`))) return BYTES_OF_CELL;
  const layers = number("block_count") ?? 0;
  const heads = number("attention.head_count") ?? 0;
  const keyValueHeads = number("attention.head_count_kv") ?? heads;
  const size = heads > 0 ? Math.floor((number("embedding_length") ?? 0) / heads) : 0;
  const keyAndValue = (number("attention.key_length") ?? size) + (number("attention.value_length") ?? size);
  return BYTES_OF_CELL + layers * keyValueHeads * keyAndValue * BYTES_OF_NUMBER;
}
