/**
 * ggml: the devices that models run on, the libraries in use, and the GGUF file format.
 *
 * @module
 */

export { type DeviceInfo, devices } from "./devices.ts";
export type { DeviceKind } from "./device_kind.ts";
export { Registry } from "./registry.ts";
export { Registration } from "./registration.ts";
export type { LoadedModules, ModuleWords, RefusedModule } from "./modules.ts";
export { type BackendOptions, Device, type DeviceCapabilities, type DeviceProperties } from "./device.ts";
export { Backend } from "./backend.ts";
export type { WorkOptions } from "./compute_thread.ts";
export { BufferType } from "./buffer_type.ts";
export { Buffer, type BufferUsage, type BufferUser } from "./buffer.ts";
export { Event } from "./event.ts";
export { ScriptDevice, type ScriptDeviceOptions } from "./script_device.ts";
export { ScriptNode } from "./script_node.ts";
export { GraphPlan } from "./graph_plan.ts";
export { type EvaluateOptions, Scheduler, type SchedulerOptions } from "./scheduler.ts";
export { compareBackends, type ComparedNode, GraphCopy } from "./graph_copy.ts";
export { copyTensor, fillBytes, getBytes, getRows, setBytes, setRows, type TensorRows } from "./tensor_data.ts";
export type { GraphReference, TensorReference } from "./references.ts";
export type { NativeObject } from "./handle.ts";
export { GgufFile, type GgufOpenOptions, type GgufReadOptions } from "./gguf.ts";
export { editGguf, type GgufEdit, type GgufEditResult } from "./gguf_edit.ts";
export { type GgufSplitOptions, ggufSplitPath, ggufSplitPrefix, mergeGguf, splitGguf } from "./gguf_split.ts";
export { NativeGguf, type NativeGgufTensor } from "./native_gguf.ts";
export type { NativeGgufOptions, NativeGgufReader, NativeGgufTensors } from "./native_gguf_read.ts";
export type { GgufInput, GgufNumbers, GgufTypedArray, GgufTypedScalar, GgufTypedValue } from "./gguf_values.ts";
export {
  encodeGguf,
  type GgufChunks,
  type GgufContent,
  type GgufTensorInput,
  type GgufWriteOptions,
  writeGguf,
} from "./gguf_writer.ts";
export type { TensorShape } from "./gguf_layout.ts";
export type { TensorNumbers } from "./tensor_numbers.ts";
export {
  type GgufHeader,
  type GgufSkippedValue,
  type GgufTensorInfo,
  type GgufValue,
  type GgufValuePlace,
  readGgufHeader,
} from "./gguf_header.ts";
export type { GgufScalarType, GgufValueType } from "./gguf_types.ts";
export { type LibrariesInfo, librariesInfo } from "./libraries.ts";
export { type TensorType, tensorTypes } from "./tensor_types.ts";
export { type ContextOptions, GgmlContext } from "./context.ts";
export { type BackwardOptions, Graph, type GraphOptions } from "./graph.ts";
export type { GraphRow } from "./graph_export.ts";
export { Tensor, type TensorFlag } from "./tensor.ts";
export type { TensorArray, TensorValues } from "./tensor_view.ts";
export type { TensorInput } from "./tensor_write.ts";
export { ContextFullError, GraphError, TensorLayoutError, TensorShapeError, TensorTypeError } from "./tensor_errors.ts";
export { computeSync, type ComputeSyncOptions } from "./compute_sync.ts";
export {
  dequantize,
  freeQuantizeTables,
  quantize,
  type QuantizeOptions,
  quantizeTypes,
  validateRows,
} from "./quantize.ts";
export { isQuantized, rowSize, type Shape, type TypeName, typeNames } from "./types.ts";
export * as ops from "./ops/mod.ts";
export { allocateContext, contextBufferSize } from "./context_buffer.ts";
export { type BufferChoice, type GraphAllocation, GraphAllocator } from "./graph_allocator.ts";
export { LinearAllocator } from "./linear_allocator.ts";
export { Optimizer } from "./training.ts";
export { Dataset, type DatasetOptions, type HostBatch } from "./training_dataset.ts";
export { fitNative, type NativeFitOptions } from "./training_fit.ts";
export type { LossType, OptimizerKind, OptimizerParameters } from "./training_options.ts";
export { type Estimate, TrainingResult, type TrainingSummary } from "./training_result.ts";
export type { EpochOptions, EpochSummary, FitOptions, OptimizerOptions, TrainingProgress } from "./training_types.ts";
export { RemoteBackend, type RemoteBackendOptions } from "./rpc_backend.ts";
export { connectRpc, type RpcConnectOptions } from "./rpc.ts";
export type { RemoteDevice, RpcServerInfo } from "./rpc_check.ts";
export { RpcServer, type RpcServerOptions } from "./rpc_server.ts";
export {
  compareLayouts,
  type LayoutComparison,
  type TensorLayout,
  tensorLayout,
  unravelIndex,
} from "./tensor_layout.ts";
export { fromHalf, type HalfType, toHalf } from "./half.ts";
