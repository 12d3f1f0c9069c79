import { requires, type Rule, trusts } from "./rule.ts";

const KEY = "key_id >= 0 && key_id < lib.gguf_get_n_kv(ctx)";
const TENSOR = "tensor_id >= 0 && tensor_id < lib.gguf_get_n_tensors(ctx)";
const NOT_ALIGNMENT = "key != 'general.alignment'";

const scalar = (name: string): Rule =>
  requires(
    new RegExp(`^gguf_get_val_${name}$`),
    KEY,
    `keyType(ctx, key_id) == gguf_type.GGUF_TYPE_${
      ({
        str: "STRING",
        u8: "UINT8",
        i8: "INT8",
        u16: "UINT16",
        i16: "INT16",
        u32: "UINT32",
        i32: "INT32",
        f32: "FLOAT32",
        u64: "UINT64",
        i64: "INT64",
        f64: "FLOAT64",
        bool: "BOOL",
      } as Record<string, string>)[name]
    }`,
  );

/** What gguf.h requires. */
export const ggufRules: readonly Rule[] = [
  trusts(
    /^gguf_init_from_\w+$/,
    "a file whose counts and lengths fit its size",
    "lib/gguf/header.ts",
    "tests/unit/gguf/header_test.ts",
  ),
  requires(/^gguf_init_from_buffer$/, "size > 0", "fits(data, size)"),
  requires(/^gguf_init_from_callback$/, "max_expected_size > 0"),
  requires(/^gguf_get_(key|kv_type|arr_n)$/, KEY),
  requires(/^gguf_get_arr_(type|str|data|n)$/, KEY, "keyType(ctx, key_id) == gguf_type.GGUF_TYPE_ARRAY"),
  requires(
    /^gguf_get_arr_str$/,
    "keyType(ctx, key_id) == gguf_type.GGUF_TYPE_ARRAY && lib.gguf_get_arr_type(ctx, BigInt(key_id)) == gguf_type.GGUF_TYPE_STRING",
    "i < lib.gguf_get_arr_n(ctx, BigInt(key_id))",
  ),
  requires(
    /^gguf_get_arr_data$/,
    "lib.gguf_get_arr_type(ctx, BigInt(key_id)) != gguf_type.GGUF_TYPE_STRING",
  ),
  ...["str", "u8", "i8", "u16", "i16", "u32", "i32", "f32", "u64", "i64", "f64", "bool"].map(scalar),
  requires(
    /^gguf_get_val_data$/,
    KEY,
    "keyType(ctx, key_id) != gguf_type.GGUF_TYPE_STRING && keyType(ctx, key_id) != gguf_type.GGUF_TYPE_ARRAY",
  ),
  requires(/^gguf_get_tensor_\w+$/, TENSOR),
  requires(/^gguf_get_meta_data$/, "fits(data, Number(lib.gguf_get_meta_size(ctx)))"),
  requires(/^gguf_(set_(val|arr)_\w+|remove_key)$/, "key != ''"),
  requires(/^gguf_set_val_(?!u32)\w+$|^gguf_set_arr_\w+$/, NOT_ALIGNMENT),
  requires(/^gguf_set_val_u32$/, "key != 'general.alignment' || val > 0 && (val & (val - 1)) == 0"),
  requires(
    /^gguf_set_arr_data$/,
    "type != gguf_type.GGUF_TYPE_STRING && type != gguf_type.GGUF_TYPE_ARRAY",
    "oneOf(gguf_type, type) && type != gguf_type.GGUF_TYPE_COUNT",
    "fits(data, n * ggufSize(type))",
  ),
  requires(/^gguf_set_arr_str$/, "fits(data, n * 8)"),
  requires(/^gguf_add_tensor$/, "lib.gguf_find_tensor(ctx, lib.ggml_get_name(tensor.pointer)) < 0"),
  requires(/^gguf_set_tensor_(type|data)$/, "lib.gguf_find_tensor(ctx, name) >= 0"),
  requires(
    /^gguf_set_tensor_type$/,
    "type != ggml_type.GGML_TYPE_COUNT",
    "tensorRow(ctx, name) % blockSize(type) == 0",
  ),
  trusts(
    /^gguf_set_tensor_data$/,
    "memory of the tensor's size that stays until the file is written",
    "lib/ggml/native_gguf/native_gguf.ts",
    "tests/ggml/native_gguf/native_gguf_test.ts",
  ),
  trusts(
    /^gguf_write_to_file(_ptr)?$/,
    "tensors with data in this process's memory, unless only_meta",
    "lib/ggml/native_gguf/native_gguf.ts",
    "tests/ggml/native_gguf/native_gguf_test.ts",
  ),
];
