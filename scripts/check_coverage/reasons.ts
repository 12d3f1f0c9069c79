const DEPRECATED = "deprecated by ggml itself";
const ROW = "the form for whole rows is there: toHalf, fromHalf";
const DIMENSIONS = "ggml_new_tensor is the same with the dimensions in an array";
const TABLE = "typeNames, rowSize and isQuantized answer from a table that a test holds against the library";
const CLOCK = "performance.now() and Date.now() are there in every runtime";
const PRINTS = "prints to stderr; table() and toDot() give the same as data";
const PLACE = "set() takes the same strides as options, whose defaults these are";
const DESCRIBED = "opDescription (ggml_op_desc) gives the same words";
const THREADPOOL =
  "for ggml_threadpool_new, which is the CPU's own; backends take a count of threads and share the cores";
const PROCESS =
  "belongs to the whole process: ffi/ sets it once, so that aborts and logs reach the program as errors and lines";
const REGISTERED =
  "would put a backend of the program's own into the registry, where other threads call it; one is given to a Scheduler instead";
const BY_DEVICE = "device.open() is the same for a device that was found by name or kind";
const LOADER =
  "the CPU's module is chosen and checked by hash and score, others are loaded by Registry.load after a check; upstream's loader aborts";

/** Why a function isn't called: what stands for it, or why nobody wants it. */
export const reasons: Readonly<Record<string, string>> = {
  ggml_add1: DEPRECATED,
  ggml_add1_inplace: DEPRECATED,
  ggml_rope_custom: DEPRECATED,
  ggml_rope_custom_inplace: DEPRECATED,
  ggml_upscale_ext: DEPRECATED,
  ggml_mul_mat_set_prec: DEPRECATED,
  ggml_flash_attn_ext_set_prec: DEPRECATED,
  ggml_type_sizef: DEPRECATED,
  ggml_flash_attn_back: "aborts whatever it is given: ggml hasn't adapted it yet",
  ggml_fp16_to_fp32: ROW,
  ggml_fp32_to_fp16: ROW,
  ggml_bf16_to_fp32: ROW,
  ggml_fp32_to_bf16: ROW,
  ggml_fp32_to_bf16_row_ref: ROW,
  ggml_new_tensor_1d: DIMENSIONS,
  ggml_new_tensor_2d: DIMENSIONS,
  ggml_new_tensor_3d: DIMENSIONS,
  ggml_new_tensor_4d: DIMENSIONS,
  ggml_blck_size: TABLE,
  ggml_type_name: TABLE,
  ggml_row_size: TABLE,
  ggml_is_quantized: TABLE,
  ggml_ftype_to_ggml_type: "says of what type most tensors of a file are; each tensor of a GGUF file says its own",
  ggml_time_init: CLOCK,
  ggml_time_ms: CLOCK,
  ggml_time_us: CLOCK,
  ggml_cycles: CLOCK,
  ggml_cycles_per_ms: CLOCK,
  ggml_print_object: PRINTS,
  ggml_print_objects: PRINTS,
  ggml_graph_print: PRINTS,
  ggml_graph_dump_dot: PRINTS,
  ggml_set_1d: PLACE,
  ggml_set_1d_inplace: PLACE,
  ggml_set_2d: PLACE,
  ggml_set_2d_inplace: PLACE,
  ggml_is_contiguous_0: "another name of ggml_is_contiguous",
  ggml_get_unary_op: DESCRIBED,
  ggml_get_glu_op: DESCRIBED,
  ggml_unary_op_name: DESCRIBED,
  ggml_glu_op_name: DESCRIBED,
  ggml_get_data: "tensor.view() and tensor.read() check first that there is memory",
  ggml_get_data_f32: "tensor.view() and tensor.read() check first that there is memory",
  ggml_new_buffer: "raw bytes in a context's memory; a typed array is that",
  ggml_new_graph: "ggml_new_graph_custom is the same with a size",
  ggml_graph_overhead: "ggml_graph_overhead_custom is the same with a size",
  ggml_graph_dup: "graph.copy() makes the graph and calls ggml_graph_cpy",
  ggml_quantize_init: "ggml_quantize_chunk calls it",
  ggml_fopen: "a FILE * is of no use here; files are read by the runtime",
  ggml_guid_matches: "guids are compared as bytes",
  ggml_commit: "librariesInfo() has the commit from the manifest, checked against the library when it is opened",
  ggml_log_get: PROCESS,
  ggml_log_set: PROCESS,
  ggml_set_abort_callback: PROCESS,
  ggml_threadpool_params_default: THREADPOOL,
  ggml_threadpool_params_init: THREADPOOL,
  ggml_threadpool_params_match: THREADPOOL,
  gguf_init_from_file_ptr: "a FILE * is of no use here; files are given by path, bytes or URL",
  gguf_write_to_file_ptr: "a FILE * is of no use here; files are given by path",
  ggml_opt_default_params: "native.defaults has the same bytes, which check_tables holds against this function",
  ggml_opt_dataset_ndata: "dataset.count is what it was made with",
  ggml_backend_register: REGISTERED,
  ggml_backend_device_register: REGISTERED,
  ggml_backend_init_best: BY_DEVICE,
  ggml_backend_init_by_name: BY_DEVICE,
  ggml_backend_init_by_type: BY_DEVICE,
  ggml_backend_load_all: LOADER,
  ggml_backend_load_all_from_path: LOADER,
  ggml_backend_alloc_buffer: "backend.alloc() is bufferType.alloc(), which calls ggml_backend_buft_alloc_buffer",
  ggml_backend_get_default_buffer_type: "backend.bufferType is that of its device (ggml_backend_dev_buffer_type)",
  ggml_backend_get_max_size: "bufferType.maxSize (ggml_backend_buft_get_max_size) is the same",
  ggml_backend_buffer_get_max_size: "bufferType.maxSize (ggml_backend_buft_get_max_size) is the same",
  ggml_backend_buffer_init_tensor: "the allocators call it when they put a tensor into a buffer",
  ggml_backend_cpu_buffer_from_ptr:
    "device.bufferFromBytes (ggml_backend_dev_buffer_from_host_ptr) is the same for every device",
  ggml_backend_meta_device:
    "ggml's own experiment (its header says TODO): a device of several, split by a function that other threads call",
  ggml_backend_meta_split_axis_name: "goes with ggml_backend_meta_device",
  ggml_backend_sched_get_backend: "scheduler.backends are the objects that it was made from",
  ggml_backend_sched_get_n_backends: "scheduler.backends are the objects that it was made from",
};
