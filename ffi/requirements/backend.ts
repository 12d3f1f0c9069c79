import { requires, type Rule, trusts } from "./rule.ts";

/** What ggml-backend.h, ggml-alloc.h, ggml-opt.h and ggml-rpc.h require. */
export const backendRules: readonly Rule[] = [
  // Modules and devices.
  requires(/^ggml_backend_reg_get$/, "index < lib.ggml_backend_reg_count()"),
  requires(/^ggml_backend_dev_get$/, "index < lib.ggml_backend_dev_count()"),
  requires(/^ggml_backend_reg_dev_get$/, "index < lib.ggml_backend_reg_dev_count(reg)"),
  requires(
    /^ggml_backend_meta_simple_backend$/,
    "lib.ggml_backend_is_meta(meta_backend)",
    "index < lib.ggml_backend_meta_n_backends(meta_backend)",
  ),
  requires(/^ggml_backend_meta_n_backends$/, "lib.ggml_backend_is_meta(meta_backend)"),
  requires(/^ggml_backend_meta_device$/, "n_devs > 0", "fits(devs, n_devs * 8)"),
  requires(/^ggml_backend_meta_buffer_set_usage$/, "lib.ggml_backend_buffer_is_meta(buffer)"),
  requires(/^ggml_backend_meta_alloc_ctx_tensors_from_buft$/, "lib.ggml_backend_buft_is_meta(buft)"),
  requires(/^ggml_backend_dev_memory$/, "fits(free, 8) && fits(total, 8)"),
  trusts(
    /^ggml_backend_(load|load_all|load_all_from_path)$/,
    "modules of this API version",
    "lib/ggml/backend/module_file.ts",
  ),
  trusts(/^ggml_backend_(register|device_register)$/, "an interface that stays", null),
  trusts(/^ggml_backend_unload$/, "no device of the module in use", "lib/ggml/backend/modules.ts"),
  requires(/^ggml_backend_cpu_set_\w+$/, "lib.ggml_backend_is_cpu(backend_cpu)"),
  requires(/^ggml_backend_cpu_set_n_threads$/, "n_threads >= 1 && n_threads <= 512"),
  trusts(
    /^ggml_backend_cpu_set_(threadpool|abort_callback)$/,
    "what is set stays as long as the backend",
    "lib/ggml/backend/backend.ts",
  ),

  // Buffers.
  requires(/^ggml_backend_(alloc_buffer|buft_alloc_buffer)$/, "size < 2 ** 47"),
  requires(/^ggml_backend_cpu_buffer_from_ptr$/, "aligned(ptr, 64)"),
  trusts(
    /^ggml_backend_(cpu_buffer_from_ptr|dev_buffer_from_host_ptr)$/,
    "memory of that size that outlives the buffer",
    "lib/ggml/backend/buffer.ts",
  ),
  requires(/^ggml_backend_dev_buffer_from_host_ptr$/, "max_tensor_size <= size"),
  trusts(
    /^ggml_backend_buffer_init$/,
    "an interface that stays",
    "lib/ggml/js_device/memory.ts",
    "tests/ggml/js_device/js_device_test.ts",
  ),
  requires(/^ggml_backend_multi_buffer_alloc_buffer$/, "n_buffers > 0", "fits(buffers, n_buffers * 8)"),
  requires(/^ggml_backend_multi_buffer_set_usage$/, "lib.ggml_backend_buffer_is_multi_buffer(buffer)"),
  trusts(/^ggml_backend_(buffer_free|free)$/, "nothing that uses it", "lib/ggml/backend/buffer.ts"),
  requires(
    /^ggml_backend_view_init$/,
    "tensor.buffer == null",
    "tensor.view_src != null",
    "tensor.view_src.buffer != null && tensor.view_src.data != null",
  ),
  requires(
    /^ggml_backend_tensor_alloc$/,
    "tensor.buffer == null && tensor.data == null && tensor.view_src == null",
    "insideBuffer(buffer, addr, lib.ggml_backend_buffer_get_alloc_size(buffer, tensor.pointer))",
  ),
  requires(/^ggml_backend_buffer_init_tensor$/, "tensor.buffer == null || tensor.buffer == buffer"),
  requires(
    /^ggml_backend_(tensor_copy|tensor_copy_async|buffer_copy_tensor)$/,
    "sameLayout(src, dst)",
    "src.data != null && dst.data != null",
    "hasBuffer(src) && hasBuffer(dst)",
  ),
  requires(
    /^ggml_backend_tensor_(set|get|memset)$/,
    "tensor.data != null",
    "hasBuffer(tensor)",
    "offset + size <= bytes(tensor)",
  ),
  requires(
    /^ggml_backend_tensor_(set|get)_async$/,
    "tensor.data != null",
    "hasBuffer(tensor)",
    "offset + size <= bytes(tensor)",
  ),
  requires(/^ggml_backend_tensor_(set|get)$/, "fits(data, size)"),
  requires(
    /^ggml_backend_tensor_(set|get)_2d(_async)?$/,
    "n_copies > 0",
    "tensor.data != null",
    "hasBuffer(tensor)",
    "offset + (n_copies - 1) * stride_tensor + size <= bytes(tensor)",
  ),
  requires(/^ggml_backend_tensor_(set|get)_2d$/, "fits(data, (n_copies - 1) * stride_data + size)"),
  trusts(
    /^ggml_backend_tensor_(set|get)(_2d)?_async$/,
    "memory that stays until ggml_backend_synchronize",
    "lib/ggml/tensor/write.ts",
  ),

  // Events, graphs.
  requires(/^ggml_backend_event_(record|wait)$/, "hasEvents(backend)"),
  requires(/^ggml_backend_(graph_compute|graph_compute_async)$/, "computable(backend, cgraph)"),
  requires(/^ggml_backend_graph_plan_create$/, "computable(backend, cgraph)", "hasPlans(backend)"),
  trusts(
    /^ggml_backend_graph_plan_(compute|free)$/,
    "a plan of this backend whose graph is as it was",
    "lib/ggml/graph/graph.ts",
  ),
  requires(/^ggml_backend_graph_copy$/, "allocated(graph)"),
  trusts(/^ggml_backend_graph_copy_free$/, "a copy that wasn't freed", "lib/ggml/backend/graph_copy.ts"),
  requires(
    /^ggml_backend_compare_graph_backend$/,
    "computable(backend1, graph)",
    "test_nodes == null || fits(test_nodes, num_test_nodes * 8)",
  ),

  // Allocators.
  requires(/^ggml_gallocr_new_n$/, "n_bufs > 0", "fits(bufts, n_bufs * 8)"),
  requires(/^ggml_gallocr_get_buffer_size$/, "buffer_id >= 0", "!(buffer_id >= (made(galloc).n_bufs ?? 1))"),
  requires(
    /^ggml_gallocr_reserve_n(_size)?$/,
    "fits(node_buffer_ids, lib.ggml_graph_n_nodes(graph) * 4)",
    "fits(leaf_buffer_ids, leafCount(graph) * 4)",
  ),
  requires(
    /^ggml_gallocr_reserve_n(_size)?$/,
    "idsBelow(node_buffer_ids, made(galloc).n_bufs)",
    "idsBelow(leaf_buffer_ids, made(galloc).n_bufs)",
  ),
  requires(/^ggml_gallocr_alloc_graph$/, "lib.ggml_graph_n_nodes(graph) > 0 || leafCount(graph) == 0"),
  requires(/^ggml_tallocr_new$/, "lib.ggml_backend_buffer_get_base(buffer) != null"),
  requires(
    /^ggml_tallocr_alloc$/,
    "tensor.buffer == null && tensor.data == null && tensor.view_src == null",
    "talloc.buffer != null",
    "hasAllocatorRoom(talloc, tensor)",
  ),
  requires(/^ggml_backend_alloc_ctx_tensors\w*$/, "lib.ggml_get_no_alloc(ctx)"),

  // Schedulers.
  requires(
    /^ggml_backend_sched_new$/,
    "n_backends > 0 && n_backends <= 16",
    "graph_size > 0 && graph_size < 2 ** 31",
    "fits(backends, n_backends * 8)",
    "bufts == null || fits(bufts, n_backends * 8)",
    "lastIsCpu(backends, n_backends)",
  ),
  requires(/^ggml_backend_sched_get_backend$/, "i >= 0 && i < lib.ggml_backend_sched_get_n_backends(sched)"),
  requires(/^ggml_backend_sched_(get_buffer_type|get_buffer_size|set_tensor_backend)$/, "hasBackend(sched, backend)"),
  requires(
    /^ggml_backend_sched_(alloc_graph|split_graph|graph_compute|graph_compute_async)$/,
    "!(graphUse(graph) > made(sched).graph_size)",
    "schedulable(sched, graph)",
  ),
  requires(
    /^ggml_backend_sched_(reserve|reserve_size)$/,
    "!(graphUse(measure_graph) > made(sched).graph_size)",
    "schedulable(sched, measure_graph)",
  ),
  requires(/^ggml_backend_sched_reserve_size$/, "fits(sizes, lib.ggml_backend_sched_get_n_backends(sched) * 8)"),
  trusts(
    /^ggml_backend_sched_alloc_graph$/,
    "a scheduler that was reset since its last graph",
    "lib/ggml/scheduler/scheduler.ts",
  ),
  trusts(
    /^ggml_backend_sched_(reset|free|set_tensor_backend|set_eval_callback)$/,
    "no computation of the scheduler",
    "lib/ggml/scheduler/scheduler.ts",
  ),

  // Training.
  requires(
    /^ggml_opt_dataset_init$/,
    "ne_datapoint > 0",
    "ne_label >= 0",
    "ndata > 0",
    "ndata_shard > 0",
    "type_data != ggml_type.GGML_TYPE_COUNT",
    "ndata % ndata_shard == 0",
  ),
  requires(/^ggml_opt_dataset_shuffle$/, "idata <= lib.ggml_opt_dataset_ndata(dataset)"),
  requires(
    /^ggml_opt_dataset_get_batch$/,
    "ibatch >= 0",
    "(labels_batch == null) == (lib.ggml_opt_dataset_labels(dataset) == null)",
    "contiguous(data_batch) && (labels_batch == null || contiguous(labels_batch))",
    "batchFits(dataset, bytes(data_batch), ibatch)",
    "data_batch.type == facts(lib.ggml_opt_dataset_data(dataset)).type",
  ),
  requires(
    /^ggml_opt_dataset_get_batch_host$/,
    "ibatch >= 0 && nb_data_batch > 0",
    "(labels_batch == null) == (lib.ggml_opt_dataset_labels(dataset) == null)",
    "fits(data_batch, nb_data_batch)",
    "batchFits(dataset, nb_data_batch, ibatch)",
  ),
  requires(/^ggml_opt_get_constant_optimizer_params$/, "userdata != null"),
  requires(
    /^ggml_opt_init$/,
    "params.opt_period >= 1",
    "params.backend_sched != null",
    "params.get_opt_pars != null",
    "(params.inputs == null) == (params.outputs == null) && (params.inputs == null) == (params.ctx_compute == null)",
    "params.inputs == null || oneOf(ggml_opt_build_type, params.build_type)",
  ),
  trusts(/^ggml_opt_init$/, "a scheduler and tensors that outlive the optimizer", "lib/ggml/training/optimizer.ts"),
  requires(
    /^ggml_opt_epoch$/,
    "idata_split >= 0 && idata_split <= lib.ggml_opt_dataset_ndata(dataset)",
    "lib.ggml_opt_static_graphs(opt_ctx)",
  ),
  requires(
    /^ggml_opt_fit$/,
    "nepoch >= 1 && nbatch_logical >= 1",
    "val_split >= 0 && val_split < 1",
    "lib.ggml_opt_dataset_ndata(dataset) % BigInt(nbatch_logical) == 0n",
  ),
  requires(/^ggml_opt_prepare_alloc$/, "!lib.ggml_opt_static_graphs(opt_ctx)"),
  trusts(
    /^ggml_opt_(alloc|eval|prepare_alloc|reset)$/,
    "ggml_opt_alloc before ggml_opt_eval, once each",
    "lib/ggml/training/epochs.ts",
  ),
  requires(/^ggml_opt_result_ndata$/, "fits(ndata, 8)"),
  requires(/^ggml_opt_result_(loss|accuracy)$/, "fits(unc, 8)"),
  trusts(
    /^ggml_opt_result_pred$/,
    "room for the count that ggml_opt_result_ndata gives",
    "lib/ggml/training/result.ts",
  ),

  // Remote backends.
  trusts(
    /^ggml_backend_rpc_(init|buffer_type|add_server|get_device_memory)$/,
    "a server of this version that answers",
    "lib/ggml/rpc/connect.ts",
    "tests/ggml/rpc/remote_backend_test.ts",
  ),
  requires(/^ggml_backend_rpc_get_device_memory$/, "fits(free, 8) && fits(total, 8)"),
  requires(/^ggml_backend_rpc_start_server$/, "n_threads >= 1 && n_devices >= 1", "fits(devices, n_devices * 8)"),
  trusts(/^ggml_backend_rpc_start_server$/, "clients that are trusted", null),
];
