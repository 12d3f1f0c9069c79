/**
 * Training by ggml-opt.
 *
 * @module
 */

import { definePicture } from "../../../base/inspect.ts";
import type { ggml_opt_optimizer_params, Native, Pointer, StructView } from "../../../ffi/mod.ts";
import { BackendError } from "../../errors.ts";
import { checkInteger } from "../../../base/check.ts";
import type { Backend } from "../backend/backend.ts";
import type { BackendPlace } from "../thread/compute.ts";
import type { ComputeThread } from "../backend/compute_thread.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Graph } from "../graph/graph.ts";
import { brands } from "../brands.ts";
import { Handle, type NativeObject, retainAll } from "../tensor/handle.ts";
import { isAlive, type Tensor } from "../tensor/tensor.ts";
import { GraphError } from "../tensor/errors.ts";
import { checkGraph, checkWhole, retainBuffers } from "./check.ts";
import type { Dataset } from "./dataset.ts";
import { makeCapacity, makeModel, type Model, setNumbers } from "./model.ts";
import { type LossType, type OptimizerKind, optimizerKinds, type OptimizerParameters } from "./options.ts";
import { allocateSpec, checkPass, type DynamicModel, evaluateSpec, resetSpec } from "./passes.ts";
import { checkFit, epochNativeSpec, epochSpec, progressOf, trainedPart } from "./epochs.ts";
import { TrainingResult } from "./result.ts";
import { type StartedTraining, startTraining } from "./create.ts";
import type { EpochOptions, EpochSummary, FitOptions, OptimizerOptions } from "./types.ts";

/**
 * Trains a model: changes its parameters (see {@linkcode Tensor.setParam}) so as to minimize the loss. All that takes time runs on a native thread.
 *
 * The weights and the inputs lie in a context that a backend has allocated; the operators between in another one without memory. C: `ggml_opt_context_t`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { allocateContext, Dataset, GgmlContext, ops, Optimizer, Registry } from "../mod.ts";
 *
 * using cpu = (await Registry.open()).device("CPU").open({ threads: 1 });
 * using weights = await GgmlContext.create();
 * const inputs = weights.tensor("f32", [1, 4]);
 * const slope = weights.tensor("f32", [1, 1]).setParam();
 * using _buffer = allocateContext(weights, cpu);
 * slope.write([0]);
 * using operators = await GgmlContext.create();
 * const outputs = ops.mulMat(operators, slope, inputs);
 * using dataset = await Dataset.create({ count: 4, datapointSize: 1, labelSize: 1 });
 * dataset.write([1, 2, 3, 4], [2, 4, 6, 8]);
 * using optimizer = await Optimizer.create({ backends: [cpu], inputs, outputs, loss: "meanSquaredError", parameters: { learningRate: 0.1 } });
 * await optimizer.fit(dataset, { epochs: 100 });
 * assert.ok(Math.abs(Number(slope.read()[0]) - 2) < 0.1);
 * ```
 */
export class Optimizer implements NativeObject<"ggml_opt_context">, Disposable {
  /** The libraries that it came from. */
  readonly native: Native;
  /** The loss that is minimized. */
  readonly loss: LossType;
  readonly #handle: Handle<"ggml_opt_context">;
  readonly #thread: ComputeThread;
  readonly #backends: readonly Backend[];
  readonly #model: Model | undefined;
  readonly #numbers: StructView<ggml_opt_optimizer_params>;
  readonly #kind: OptimizerKind;
  readonly #evaluateOnly: boolean;
  readonly #period: number;
  /** Its own tensors, by which they are handed out. */
  readonly #own: GgmlContext;
  #dynamic: DynamicModel | undefined;
  #allocated = false;
  #epoch = 0;

  private constructor({ native, pointer, thread, settings, model, numbers, own, release }: StartedTraining) {
    this.native = native;
    this.loss = settings.loss;
    this.#thread = thread;
    this.#backends = settings.backends;
    this.#model = model;
    this.#numbers = numbers;
    this.#kind = settings.kind;
    this.#evaluateOnly = settings.evaluateOnly;
    this.#period = settings.period;
    this.#own = own;
    this.#handle = new Handle({
      what: "the optimizer",
      pointer,
      free: (one) => {
        thread.end();
        native.lib.ggml_opt_free(one);
        release();
      },
    });
  }

  /**
   * Creates an optimizer. Throws InvalidArgumentError for a bad option, TensorShapeError, TensorTypeError, GraphError, UnsupportedOperationError or
   * NotAllocatedError for a model that can't be trained; rejects with NativeAbortError when native code aborts all the same.
   * C: `ggml_opt_init`, `ggml_opt_default_params`.
   */
  static async create(options: OptimizerOptions): Promise<Optimizer> {
    return new Optimizer(await startTraining(options));
  }

  /** The address, for the raw layer. Throws DisposedError. */
  get unsafePointer(): Pointer<"ggml_opt_context"> {
    return this.#handle.pointer;
  }

  /** The kind of optimizer. C: `ggml_opt_context_optimizer_type`, `ggml_opt_optimizer_name`. */
  get kind(): OptimizerKind {
    const { lib } = this.native;
    const type = lib.ggml_opt_context_optimizer_type(this.unsafePointer);
    const name = this.native.readCString(lib.ggml_opt_optimizer_name(type));
    return optimizerKinds.find((one) => one === name) ?? this.#kind;
  }

  /** Whether the model is always the same, given to {@linkcode Optimizer.create}. C: `ggml_opt_static_graphs`. */
  get isStatic(): boolean {
    return this.native.lib.ggml_opt_static_graphs(this.unsafePointer);
  }

  /** The tensor that receives the datapoints. C: `ggml_opt_inputs`. */
  get inputs(): Tensor | undefined {
    return this.#tensor("ggml_opt_inputs");
  }

  /** The model's outputs. C: `ggml_opt_outputs`. */
  get outputs(): Tensor | undefined {
    return this.#tensor("ggml_opt_outputs");
  }

  /** The labels that the outputs are compared with; `undefined` for losses without labels. C: `ggml_opt_labels`. */
  get labels(): Tensor | undefined {
    return this.#tensor("ggml_opt_labels");
  }

  /** The loss of the last evaluation, one number. C: `ggml_opt_loss`. */
  get lossTensor(): Tensor | undefined {
    return this.#tensor("ggml_opt_loss");
  }

  /** The predicted classes of the last evaluation, for `"crossEntropy"`. C: `ggml_opt_pred`. */
  get predictions(): Tensor | undefined {
    return this.#tensor("ggml_opt_pred");
  }

  /** Number of correct predictions. C: `ggml_opt_ncorrect`. */
  get correct(): Tensor | undefined {
    return this.#tensor("ggml_opt_ncorrect");
  }

  #tensor(
    name:
      | "ggml_opt_inputs"
      | "ggml_opt_outputs"
      | "ggml_opt_labels"
      | "ggml_opt_loss"
      | "ggml_opt_pred"
      | "ggml_opt_ncorrect",
  ): Tensor | undefined {
    // After an evaluation of a graph of its own the tensors are those of a graph that may be gone.
    if (!isAlive(this.#current()?.outputs)) return undefined;
    const pointer = this.native.lib[name](this.unsafePointer) as Pointer<"ggml_tensor"> | null;
    return pointer === null ? undefined : brands.context.of(this.#own).wrap(pointer);
  }

  /** The sum of the gradients of a node over a period; `undefined` where none is kept, as with a period of 1. C: `ggml_opt_grad_acc`. */
  gradient(node: Tensor): Tensor | undefined {
    brands.tensor.check("the node", node);
    if (this.#model === undefined || this.#evaluateOnly) return undefined;
    if (!this.#model.reached.some(({ unsafePointer }) => unsafePointer === node.unsafePointer)) return undefined;
    const found = this.native.lib.ggml_opt_grad_acc(this.unsafePointer, node.unsafePointer) as
      | Pointer<"ggml_tensor">
      | null;
    return found === null ? undefined : brands.context.of(this.#own).wrap(found);
  }

  /** Sets numbers of the optimizer for the steps to come; those that aren't given get their default. Throws InvalidArgumentError. */
  setParameters(parameters: OptimizerParameters): void {
    this.#assertIdle("set parameters");
    setNumbers(this.#numbers, this.#kind, parameters);
  }

  /** Sets the gradients to zero; with `optimizer` also what it remembers of steps. For a static model that is trained. C: `ggml_opt_reset`. */
  reset(options?: { readonly optimizer?: boolean | undefined }): void {
    const { optimizer } = resetSpec.check(options);
    this.#assertIdle("reset it");
    if (this.#model === undefined || this.#evaluateOnly) {
      throw new GraphError("only a static model that is trained has gradients to reset", {
        expected: "an optimizer with inputs and outputs, not evaluateOnly",
      });
    }
    this.native.lib.ggml_opt_reset(this.unsafePointer, optimizer);
  }

  /** Shuffles the datapoints: all of them, or the first `count`. C: `ggml_opt_dataset_shuffle`. */
  shuffle(dataset: Dataset, count?: number): void {
    this.#assertIdle("shuffle");
    brands.dataset.check("the dataset", dataset);
    if (count !== undefined) {
      checkInteger("count", count, { min: 0, max: dataset.count });
      checkWhole("count", count, dataset.shardSize);
    }
    this.native.lib.ggml_opt_dataset_shuffle(this.unsafePointer, dataset.unsafePointer, BigInt(count ?? -1));
  }

  /**
   * The graph of the next evaluation, for an optimizer that was made without inputs and outputs. Throws GraphError for one that was made with, and as
   * {@linkcode Optimizer.create} does. C: `ggml_opt_prepare_alloc`.
   */
  prepare(graph: Graph, inputs: Tensor, outputs: Tensor): void {
    this.#assertIdle("prepare a graph");
    if (this.#model !== undefined || this.#allocated) {
      throw new GraphError(
        this.#model === undefined ? "a graph is allocated; evaluate it first" : "the optimizer has a model of its own",
        { expected: "an optimizer without inputs and outputs, at rest" },
      );
    }
    checkGraph(graph, outputs);
    const model = makeModel(inputs, outputs, this.loss, !this.#evaluateOnly);
    const capacity = makeCapacity(this.native);
    const release = graph.retain();
    this.#dynamic?.capacity.dispose();
    this.#dynamic?.release();
    this.#dynamic = { model, capacity, graph, release };
    this.native.lib.ggml_opt_prepare_alloc(
      this.unsafePointer,
      capacity.unsafePointer,
      graph.unsafePointer,
      inputs.unsafePointer,
      outputs.unsafePointer,
    );
  }

  /**
   * Allocates the next evaluation, with its backward pass or not; inputs and labels are written after it. Throws GraphError when one is allocated already.
   * C: `ggml_opt_alloc`.
   */
  async allocate(options?: { readonly backward?: boolean | undefined }): Promise<void> {
    const { backward } = allocateSpec.check(options);
    const model = this.#current();
    if (model === undefined || this.#allocated) {
      throw new GraphError(
        model === undefined ? "there is no graph; prepare one first" : "an evaluation is allocated",
        {
          expected: model === undefined ? "prepare" : "evaluate",
        },
      );
    }
    if (backward) this.#assertTrains();
    const { unsafePointer } = this;
    await this.#thread.run(this.#retain(model), (one) => one.call("ggml_opt_alloc", unsafePointer, backward));
    // ggml adds up the gradients of such graphs and never begins anew.
    if (backward && this.#dynamic !== undefined) this.native.lib.ggml_opt_reset(unsafePointer, false);
    this.#allocated = true;
  }

  /** Evaluates what was allocated, and makes a step when one is due. Throws GraphError when nothing is. C: `ggml_opt_eval`. */
  async evaluate(result?: TrainingResult, options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    const { signal } = evaluateSpec.check(options);
    signal?.throwIfAborted();
    if (result !== undefined) brands.trainingResult.check("the result", result);
    const model = this.#current();
    if (!this.#allocated || model === undefined) throw new GraphError("nothing is allocated", { expected: "allocate" });
    const input = { context: this.unsafePointer, places: this.#places(), result: result?.unsafePointer ?? null };
    const releases = this.#retain(model, ...(result === undefined ? [] : [result]));
    try {
      await this.#thread.run(releases, (one) => one.run("evaluateTraining", input, { signal }));
    } finally {
      this.#allocated = false;
      this.#dynamic?.release();
    }
  }

  /**
   * One pass over a dataset: the first `split` datapoints are trained with, the others evaluated. It does what `ggml_opt_epoch` does, and can be watched
   * and stopped; {@linkcode Optimizer.epochNative} calls that itself.
   */
  async epoch(dataset: Dataset, options?: EpochOptions): Promise<EpochSummary> {
    brands.dataset.check("the dataset", dataset);
    const { split = dataset.count, train, evaluation, onProgress, signal } = epochSpec.check(options);
    signal?.throwIfAborted();
    const { model, batch } = this.#checkPass(dataset, split);
    const results = [train ?? new TrainingResult(this.native), evaluation ?? new TrainingResult(this.native)] as const;
    const batches = dataset.count / batch;
    const trained = split / batch;
    const epoch = ++this.#epoch;
    const input = {
      context: this.unsafePointer,
      places: this.#places(),
      dataset: dataset.unsafePointer,
      inputs: model.inputs.unsafePointer,
      labels: this.labels?.unsafePointer ?? null,
      split: trained,
      batches,
      train: results[0].unsafePointer,
      evaluation: results[1].unsafePointer,
    };
    const onMessage = (done: number): void => onProgress?.(progressOf(epoch, done, trained, batches));
    const releases = this.#retain(model, dataset, ...results);
    try {
      await this.#thread.run(releases, (one) => one.run("trainEpoch", input, { signal, onMessage }));
      return { epoch, train: results[0].summary(), evaluation: results[1].summary() };
    } finally {
      if (train === undefined) results[0].dispose();
      if (evaluation === undefined) results[1].dispose();
    }
  }

  /**
   * Fits the model to a dataset and returns the summary of the last epoch. Does what `ggml_opt_fit` does, but reports progress and can be stopped;
   * {@linkcode fitNative} calls that itself. The datapoints that are evaluated are the same in each epoch.
   */
  async fit(dataset: Dataset, options: FitOptions): Promise<EpochSummary> {
    brands.dataset.check("the dataset", dataset);
    const { epochs, validation, shuffle, schedule, onProgress, onEpoch, signal } = checkFit(options);
    const step = (this.#model?.inputs.shape[1] ?? 1) * this.#period;
    const split = trainedPart(dataset.count, validation, step);
    if (shuffle) this.shuffle(dataset);
    for (let epoch = 1;; epoch++) {
      if (shuffle && split > 0) this.shuffle(dataset, split);
      if (schedule !== undefined) this.setParameters(schedule(epoch));
      const summary = await this.epoch(dataset, { split, onProgress, signal });
      if (onEpoch?.(summary) === false || epoch === epochs) return summary;
    }
  }

  /** Calls `ggml_opt_epoch` itself, which reports nothing until it is done but a progress bar on the error output. C: `ggml_opt_epoch`, `ggml_opt_epoch_callback_progress_bar`. */
  async epochNative(
    dataset: Dataset,
    options?: Pick<EpochOptions, "split" | "train" | "evaluation"> & { readonly progressBar?: boolean | undefined },
  ): Promise<void> {
    brands.dataset.check("the dataset", dataset);
    const { split = dataset.count, train, evaluation, progressBar } = epochNativeSpec.check(options);
    const { model } = this.#checkPass(dataset, split);
    using own = new TrainingResult(this.native);
    const bar = progressBar
      ? this.native.symbol<"ggml_opt_epoch_callback">("ggml_opt_epoch_callback_progress_bar")
      : null;
    const [first, second] = [train ?? own, evaluation ?? own];
    const releases = this.#retain(model, dataset, first, second);
    const { unsafePointer } = this;
    const [data, a, b] = [dataset.unsafePointer, first.unsafePointer, second.unsafePointer];
    await this.#thread.run(
      releases,
      (one) => one.call("ggml_opt_epoch", unsafePointer, data, a, b, BigInt(split), bar, bar),
    );
    this.#epoch++;
  }

  #checkPass(dataset: Dataset, split: number): { model: Model; batch: number } {
    const pass = checkPass(dataset, split, { model: this.#model, allocated: this.#allocated, labels: this.labels });
    if (split > 0) this.#assertTrains();
    return pass;
  }

  #assertTrains(): void {
    if (!this.#evaluateOnly) return;
    throw new GraphError("this optimizer only evaluates; make it without evaluateOnly, or give split: 0", {
      expected: "split: 0, or backward: false",
    });
  }

  #assertIdle(doing: string): void {
    this.#handle.assertAlive();
    this.#thread.assertKept();
    if (!this.#thread.working) return;
    throw new BackendError(`the optimizer is in use by a computation; await that before you ${doing}`, {
      value: "training",
      expected: "an optimizer that computes nothing",
    });
  }

  #current(): Model | undefined {
    return this.#model ?? this.#dynamic?.model;
  }

  #places(): BackendPlace[] {
    return this.#backends.map((backend) => brands.backend.of(backend).place());
  }

  /** Retains what work with a model uses, with these others. */
  #retain(model: Model, ...others: readonly { retain(): () => void }[]): (() => void)[] {
    const dynamic = this.#dynamic;
    const releases = retainAll(
      () => this.#handle.retain(),
      () => brands.context.of(model.outputs.context).lock(),
      ...(dynamic === undefined
        ? []
        : [() => brands.context.of(dynamic.capacity).retain(), () => dynamic.graph.retain()]),
      ...others.map((one) => () => one.retain()),
      ...this.#backends.map((backend) => () => brands.backend.of(backend).borrow(this)),
    );
    return dynamic === undefined ? [...releases, ...retainBuffers(model.reached)] : releases;
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#handle.disposed;
  }

  /** Frees it once its work is done; the model's tensors stay. A second call does nothing. C: `ggml_opt_free`. */
  dispose(): void {
    this.#own.dispose();
    this.#handle.dispose();
    this.#dynamic?.capacity.dispose();
    this.#dynamic?.release();
  }

  /** {@linkcode Optimizer.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  static {
    definePicture(Optimizer, "Optimizer", (optimizer) => `${optimizer.kind}, ${optimizer.loss}`);
  }
}
