/**
 * ggml: the devices that models run on, the libraries in use, and the GGUF file format.
 *
 * @module
 */

export * from "../gguf/mod.ts";
export * from "./backend/devices.ts";
export { Registry } from "./backend/registry.ts";
export { BackendModule } from "./backend/backend_module.ts";
export type { LoadedModules, ModuleInfo, RefusedModule } from "./backend/modules.ts";
export { type BackendOptions, Device, type DeviceCapabilities, type DeviceProperties } from "./backend/device.ts";
export { Backend } from "./backend/backend.ts";
export type { WorkOptions } from "./backend/compute_thread.ts";
export { BufferType } from "./backend/buffer_type.ts";
export { BackendBuffer, type BufferUsage } from "./backend/buffer.ts";
export { BackendEvent } from "./backend/event.ts";
export { JsDevice, type JsDeviceOptions } from "./js_device/js_device.ts";
export { JsNode } from "./js_device/node.ts";
export { GraphPlan } from "./backend/graph_plan.ts";
export { Scheduler } from "./scheduler/scheduler.ts";
export type { EvaluateOptions, SchedulerOptions } from "./scheduler/options.ts";
export { compareBackends, type ComparedNode, GraphCopy } from "./backend/graph_copy.ts";
export { copyTensor, fillBytes, getBytes, getRows, setBytes, setRows, type TensorRows } from "./backend/tensor_copy.ts";
export type { GraphReference, TensorReference } from "./tensor/references.ts";
export type { NativeObject } from "./tensor/handle.ts";
export { NativeGguf, type NativeGgufTensor } from "./native_gguf/native_gguf.ts";
export type { NativeGgufOptions, NativeGgufReader, NativeGgufTensors } from "./native_gguf/read.ts";
export { type LibrariesInfo, librariesInfo } from "./backend/libraries.ts";
export { GgmlContext, type GgmlContextOptions } from "./tensor/context.ts";
export { type BackwardOptions, Graph, type GraphOptions } from "./graph/graph.ts";
export type { GraphRow } from "./graph/export.ts";
export { Tensor, type TensorFlag } from "./tensor/tensor.ts";
export type { TensorArray, TensorValues } from "./tensor/view.ts";
export type { NestedNumbers, TensorInput, TensorTypedArray } from "./tensor/write.ts";
export { ContextFullError, GraphError, TensorLayoutError, TensorShapeError, TensorTypeError } from "./tensor/errors.ts";
export { computeSync, type ComputeSyncOptions } from "./backend/compute_sync.ts";
export {
  dequantize,
  freeQuantizeTables,
  quantize,
  type QuantizeOptions,
  quantizeTypes,
  validateRows,
} from "./tensor/quantize.ts";
export { isQuantized, rowSize, type Shape, type TypeName, typeNames } from "./tensor/types.ts";
export * as ops from "./ops/mod.ts";
export { allocateContext, contextBufferSize } from "./allocator/allocate_context.ts";
export { type BufferChoice, type GraphAllocation, GraphAllocator } from "./allocator/graph_allocator.ts";
export { LinearAllocator } from "./allocator/linear_allocator.ts";
export { Optimizer } from "./training/optimizer.ts";
export { Dataset, type DatasetOptions, type HostBatch } from "./training/dataset.ts";
export { fitNative, type NativeFitOptions } from "./training/fit.ts";
export type { LossType, OptimizerKind, OptimizerParameters } from "./training/options.ts";
export { type Estimate, TrainingResult, type TrainingSummary } from "./training/result.ts";
export type { EpochOptions, EpochSummary, FitOptions, OptimizerOptions, TrainingProgress } from "./training/types.ts";
export { RemoteBackend, type RemoteBackendOptions } from "./rpc/remote_backend.ts";
export { connectRpc, type RpcConnectOptions } from "./rpc/connect.ts";
export type { RemoteDevice, RpcServerInfo } from "./rpc/protocol.ts";
export { RpcServer, type RpcServerOptions } from "./rpc/server.ts";
export {
  compareLayouts,
  type LayoutComparison,
  type TensorLayout,
  tensorLayout,
  unravelIndex,
} from "./tensor/layout.ts";
export { fromHalf, type HalfType, toHalf } from "./tensor/half.ts";
