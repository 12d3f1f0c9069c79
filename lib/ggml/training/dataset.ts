import { integer, oneOf, options, type RulesOf } from "../../../base/options.ts";
import { definePicture } from "../../../base/inspect.ts";
import { type Native, open, type Pointer } from "../../../ffi/mod.ts";
import { AllocationError, InvalidArgumentError } from "../../errors.ts";
import { checkInteger, show } from "../../../base/check.ts";
import { GgmlContext } from "../tensor/context.ts";
import { brands } from "../brands.ts";
import { Handle, type NativeObject } from "../tensor/handle.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { TensorShapeError, TensorTypeError } from "../tensor/errors.ts";
import type { TensorInput } from "../tensor/write.ts";
import { typeNames } from "../tensor/types.ts";
import { checkBlocks, MAX_DIMENSION, typeByName, type TypeName } from "../tensor/types.ts";

/** Options of {@linkcode Dataset}. */
export interface DatasetOptions {
  /** Number of datapoints. 1 to 2,147,483,647. C: `ndata`. */
  readonly count: number;
  /** Numbers in a datapoint. 1 to 2,147,483,647. C: `ne_datapoint`. */
  readonly datapointSize: number;
  /** Numbers in a label; 0, the default, for none. C: `ne_label`. */
  readonly labelSize?: number | undefined;
  /** The type of the datapoints. Default `"f32"`. C: `type_data`. */
  readonly dataType?: TypeName | undefined;
  /** The type of the labels. Default `"f32"`. C: `type_label`. */
  readonly labelType?: TypeName | undefined;
  /** Datapoints in a shard, which stay together when it is shuffled: `count` is a multiple of it. Default 1. C: `ndata_shard`. */
  readonly shardSize?: number | undefined;
}

/** A batch in memory. */
export interface HostBatch {
  /** The datapoints, as bytes. */
  readonly data: Uint8Array<ArrayBuffer>;
  /** The labels, as bytes; `undefined` when the dataset has none. */
  readonly labels: Uint8Array<ArrayBuffer> | undefined;
}

/**
 * Datapoints with their labels, from which batches are taken. C: `ggml_opt_dataset_t`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { Dataset } from "./dataset.ts";
 *
 * using dataset = await Dataset.create({ count: 3, datapointSize: 2, labelSize: 1 });
 * dataset.write([1, 2, 3, 4, 5, 6], [10, 20, 30]);
 * assert.deepEqual(dataset.data.shape, [2, 3, 1, 1]);
 * assert.deepEqual(new Float32Array(dataset.batch(1, 1).data.buffer), Float32Array.of(3, 4));
 * ```
 */
export class Dataset implements NativeObject<"ggml_opt_dataset">, Disposable {
  /** The libraries that it came from. */
  readonly native: Native;
  /** Number of datapoints. C: `ggml_opt_dataset_ndata`. */
  readonly count: number;
  /** Datapoints in a shard. */
  readonly shardSize: number;
  /** The datapoints, `[datapointSize, count]`. C: `ggml_opt_dataset_data`. */
  readonly data: Tensor;
  /** The labels, `[labelSize, count]`; `undefined` when it has none. C: `ggml_opt_dataset_labels`. */
  readonly labels: Tensor | undefined;
  readonly #handle: Handle<"ggml_opt_dataset">;
  readonly #context: GgmlContext;

  /** Creates a dataset filled with zeros. Throws InvalidArgumentError for a bad option, AllocationError when there isn't enough memory. C: `ggml_opt_dataset_init`. */
  static async create(options: DatasetOptions): Promise<Dataset> {
    const native = await open();
    return new Dataset(native, options);
  }

  private constructor(native: Native, options: DatasetOptions) {
    const { count, datapointSize, labelSize, shardSize, dataType: data, labelType: label } = datasetSpec.check(options);
    this.native = native;
    this.count = count;
    this.shardSize = shardSize;
    if (this.count % this.shardSize !== 0) {
      throw new InvalidArgumentError(`shardSize is ${this.shardSize}; give a divisor of count, ${this.count}`, {
        value: this.shardSize,
        expected: `a divisor of ${this.count}`,
      });
    }
    const dataType = blockType("dataType", data, "datapointSize", datapointSize);
    const labelType = blockType("labelType", label, "labelSize", labelSize);
    const { lib } = native;
    const pointer = lib.ggml_opt_dataset_init(
      dataType,
      labelType,
      BigInt(datapointSize),
      BigInt(labelSize),
      BigInt(this.count),
      BigInt(this.shardSize),
    );
    const context = new GgmlContext(native, { maxTensors: 1 });
    this.#context = context;
    brands.dataset.add(this);
    this.#handle = new Handle({
      what: "the dataset",
      pointer,
      free: (one) => {
        lib.ggml_opt_dataset_free(one);
        context.dispose();
      },
    });
    this.data = brands.context.of(context).wrap(lib.ggml_opt_dataset_data(pointer));
    const labels = lib.ggml_opt_dataset_labels(pointer);
    this.labels = labels === null ? undefined : brands.context.of(context).wrap(labels);
    if (!this.data.isAllocated) {
      this.dispose();
      throw new AllocationError(
        `there is no memory for ${this.count} datapoints of ${datapointSize}; make it smaller`,
        {
          value: this.count,
          expected: "less",
        },
      );
    }
    const { byteLength } = this.data;
    if (byteLength > 0) this.data.writeBytes(new Uint8Array(byteLength));
    this.labels?.writeBytes(new Uint8Array(this.labels.byteLength));
  }

  /** The address, for the raw layer. Throws DisposedError. */
  get unsafePointer(): Pointer<"ggml_opt_dataset"> {
    return this.#handle.pointer;
  }

  /** Writes all datapoints and labels, one after another. Throws InvalidArgumentError or TensorShapeError for a wrong number of values. */
  write(data: TensorInput, labels?: TensorInput): this {
    this.#handle.assertAlive();
    this.data.write(data);
    if (labels === undefined) return this;
    if (this.labels === undefined) {
      throw new InvalidArgumentError("the dataset has no labels; make it with a labelSize", {
        value: "labels",
        expected: "no labels",
      });
    }
    this.labels.write(labels);
    return this;
  }

  /** Returns the number of batches of this many datapoints. */
  batchCount(size: number): number {
    return Math.floor(this.count / checkSize(this, size));
  }

  /**
   * A batch of `size` datapoints, a multiple of `shardSize`, in the order of the last shuffle. Throws InvalidArgumentError when there is none of that
   * number. C: `ggml_opt_dataset_get_batch_host`.
   */
  batch(index: number, size: number): HostBatch {
    const batches = this.batchCount(size);
    checkInteger("the batch's number", index, { min: 0, max: batches - 1 });
    const { native, unsafePointer, data, labels } = this;
    const part = (tensor: Tensor): Uint8Array<ArrayBuffer> => new Uint8Array(tensor.byteLength / this.count * size);
    const batch = { data: part(data), labels: labels === undefined ? undefined : part(labels) };
    const bytes = BigInt(batch.data.length);
    native.lib.ggml_opt_dataset_get_batch_host(unsafePointer, batch.data, bytes, batch.labels ?? null, BigInt(index));
    return batch;
  }

  /**
   * Copies a batch into tensors of the dataset's types, as many datapoints as they have room for. Throws InvalidArgumentError, TensorTypeError or
   * TensorShapeError for tensors that don't fit. C: `ggml_opt_dataset_get_batch`.
   */
  copyBatch(index: number, data: Tensor, labels?: Tensor): void {
    const size = checkBatch(this, data, labels);
    checkInteger("the batch's number", index, { min: 0, max: this.batchCount(size) - 1 });
    this.native.lib.ggml_opt_dataset_get_batch(
      this.unsafePointer,
      data.unsafePointer,
      labels?.unsafePointer ?? null,
      BigInt(index),
    );
  }

  /** Retains its memory until the returned function is called. */
  retain(): () => void {
    return this.#handle.retain();
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#handle.disposed;
  }

  /** Frees it; a second call does nothing. C: `ggml_opt_dataset_free`. */
  dispose(): void {
    // Its tensors are told at once; the memory goes when no work needs it.
    if (!this.#handle.disposed) this.#context.reset();
    this.#handle.dispose();
  }

  /** {@linkcode Dataset.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  static {
    definePicture(
      Dataset,
      "Dataset",
      (dataset) => (dataset.#handle.assertAlive(), `of ${dataset.count}, ${dataset.data.label}`),
    );
  }
}

const datasetSpec = options(
  "Dataset",
  {
    count: integer({ min: 1, max: MAX_DIMENSION, required: true }),
    datapointSize: integer({ min: 1, max: MAX_DIMENSION, required: true }),
    labelSize: integer({ min: 0, max: MAX_DIMENSION, default: 0 }),
    shardSize: integer({ min: 1, max: MAX_DIMENSION, default: 1 }),
    dataType: oneOf(typeNames, { default: "f32" }),
    labelType: oneOf(typeNames, { default: "f32" }),
  } satisfies RulesOf<DatasetOptions>,
);

function blockType(
  option: string,
  name: TypeName,
  sizeName: string,
  size: number,
): ReturnType<typeof typeByName>["id"] {
  const type = typeByName(option, name);
  checkBlocks(sizeName, name, type.blockSize, size);
  return type.id;
}

function checkRows(what: string, tensor: Tensor, of: Tensor, inBuffer = true): number {
  brands.tensor.check(what, tensor);
  if (tensor.type !== of.type) {
    throw new TensorTypeError(`${what} are of type ${tensor.type}; the dataset has ${of.type}`, {
      value: tensor.type,
      expected: of.type,
    });
  }
  const [width, rows, ...rest] = tensor.shape;
  if (width !== of.shape[0] || rest.some((one) => one !== 1) || !tensor.isContiguous) {
    throw new TensorShapeError(`${what} have the shape ${show(String(tensor.shape))}; give rows of ${of.shape[0]}`, {
      value: tensor.shape,
      expected: `[${of.shape[0]}, batch size], contiguous`,
    });
  }
  if (!inBuffer || tensor.struct.buffer !== null) return rows;
  throw new InvalidArgumentError(`${what} lie in no buffer; allocate their context by a backend`, {
    value: tensor.name,
    expected: "a tensor in a buffer",
  });
}

/** Returns the number of datapoints that fit these tensors. Throws when they don't fit the dataset; with `outputs` the labels need no buffer. */
export function checkBatch(dataset: Dataset, data: Tensor, labels: Tensor | undefined, outputs = false): number {
  if ((labels === undefined) !== (dataset.labels === undefined)) {
    throw new InvalidArgumentError(
      dataset.labels === undefined
        ? "the dataset has no labels"
        : "the dataset has labels; a tensor for them is needed",
      { value: labels === undefined ? "no labels" : "labels", expected: "as the dataset has them" },
    );
  }
  const size = checkSize(dataset, checkRows("the inputs", data, dataset.data));
  if (labels === undefined || dataset.labels === undefined) return size;
  if (checkRows("the labels", labels, dataset.labels, !outputs) !== size) {
    throw new TensorShapeError(`there are ${size} inputs and ${labels.shape[1]} labels`, {
      value: labels.shape,
      expected: `${size} labels`,
    });
  }
  return size;
}

function checkSize(dataset: Dataset, size: number): number {
  checkInteger("the batch's size", size, { min: 1, max: dataset.count });
  if (size % dataset.shardSize === 0) return size;
  throw new InvalidArgumentError(`the batch's size is ${size}; give a multiple of the shard's size`, {
    value: size,
    expected: `a multiple of ${dataset.shardSize}`,
  });
}
