/** A header that is bound, and the library that exports most of its functions. */
export interface Header {
  /** Its name, as in `#include`. */
  readonly name: string;
  /** The library that exports its functions; {@linkcode elsewhere} lists the others. */
  readonly library: Library;
}

/** The libraries that have a table, in the order in which they depend on each other. */
export const libraries = ["ggml_base", "ggml", "ggml_cpu", "ggml_rpc", "llama", "mtmd", "whisper", "parakeet"] as const;

/** A library that has a table. */
export type Library = (typeof libraries)[number];

/** The headers that are bound. A new library joins by its headers here and its name in {@linkcode libraries}. */
export const headers: readonly Header[] = [
  { name: "ggml.h", library: "ggml_base" },
  { name: "ggml-alloc.h", library: "ggml_base" },
  { name: "ggml-backend.h", library: "ggml_base" },
  { name: "ggml-backend-impl.h", library: "ggml_base" },
  { name: "ggml-opt.h", library: "ggml_base" },
  { name: "gguf.h", library: "ggml_base" },
  { name: "ggml-cpu.h", library: "ggml_cpu" },
  { name: "ggml-rpc.h", library: "ggml_rpc" },
  { name: "llama.h", library: "llama" },
  { name: "mtmd.h", library: "mtmd" },
  { name: "mtmd-helper.h", library: "mtmd" },
  { name: "whisper.h", library: "whisper" },
  { name: "parakeet.h", library: "parakeet" },
];

/** Functions that another library exports than the one of their header: the registry, in `ggml`, whose header is ggml-base's. */
export const elsewhere: Readonly<Record<string, Library>> = {
  ggml_backend_dev_by_name: "ggml",
  ggml_backend_dev_by_type: "ggml",
  ggml_backend_dev_count: "ggml",
  ggml_backend_dev_get: "ggml",
  ggml_backend_device_register: "ggml",
  ggml_backend_init_best: "ggml",
  ggml_backend_init_by_name: "ggml",
  ggml_backend_init_by_type: "ggml",
  ggml_backend_load: "ggml",
  ggml_backend_load_all: "ggml",
  ggml_backend_load_all_from_path: "ggml",
  ggml_backend_reg_by_name: "ggml",
  ggml_backend_reg_count: "ggml",
  ggml_backend_reg_get: "ggml",
  ggml_backend_register: "ggml",
  ggml_backend_unload: "ggml",
};

/** The folders of the headers: under the root of llama.cpp's sources, and of whisper.cpp's beside it. */
export const includeFolders = [
  "include",
  "ggml/include",
  "ggml/src",
  "tools/mtmd",
  "../whisper.cpp/include",
] as const;

/** The target whose declarations are read. */
export const MAIN_TARGET = "x86_64-linux-gnu";

/** The targets whose struct layouts must all be the same. */
export const layoutTargets = [
  "x86_64-linux-gnu",
  "aarch64-linux-gnu",
  "x86_64-macos",
  "aarch64-macos",
  "x86_64-windows-gnu",
  "aarch64-windows-gnu",
] as const;
