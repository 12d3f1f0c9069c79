import { InvalidArgumentError, NotAllocatedError, UnsupportedOperationError } from "../../errors.ts";
import { bufferAt } from "../backend/buffers_in_use.ts";
import type { Graph } from "../graph/graph.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { GraphError, TensorShapeError, TensorTypeError } from "../tensor/errors.ts";
import type { LossType } from "./options.ts";

/** Operators that ggml has a backward pass for. */
const differentiable: ReadonlySet<string> = new Set(
  ("NONE DUP ADD ADD1 ACC SUB MUL DIV SQR SQRT LOG SIN COS SUM SUM_ROWS MEAN REPEAT REPEAT_BACK RMS_NORM MUL_MAT SCALE SET CPY CONT RESHAPE VIEW " +
    "PERMUTE TRANSPOSE GET_ROWS DIAG_MASK_INF DIAG_MASK_ZERO SOFT_MAX ROPE IM2COL POOL_2D CROSS_ENTROPY_LOSS " +
    "ABS SGN NEG STEP RELU SILU EXP EXPM1 SOFTPLUS SWIGLU").split(" "),
);
/** Room in ggml-opt's graph, C: `GGML_DEFAULT_GRAPH_SIZE`, for the forward nodes, their gradients and the steps. */
const MAX_NODES = 500;

/** Every tensor that a result needs, what it is made of first. */
export function reachedTensors(result: Tensor): Tensor[] {
  const seen = new Set<bigint>();
  const order: Tensor[] = [];
  const open: { tensor: Tensor; entered: boolean }[] = [{ tensor: result, entered: false }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { tensor, entered } = at;
    if (entered) {
      order.push(tensor);
      continue;
    }
    if (seen.has(tensor.unsafePointer)) continue;
    seen.add(tensor.unsafePointer);
    open.push({ tensor, entered: true });
    for (const source of [...tensor.sources, tensor.viewOf]) {
      if (source !== undefined) open.push({ tensor: source, entered: false });
    }
  }
  return order;
}

/** Checks a model that is to be trained, or evaluated alone. Throws what native code would abort for. Gives its parameters. */
export function checkModel(inputs: Tensor, outputs: Tensor, loss: LossType, train: boolean): readonly Tensor[] {
  checkMatrix("inputs", inputs);
  checkMatrix("outputs", outputs);
  if (outputs.type !== "f32") {
    throw new TensorTypeError(`outputs are of type ${outputs.type}; give f32`, {
      value: outputs.type,
      expected: "f32",
    });
  }
  if (outputs.shape[1] !== inputs.shape[1] && (loss === "crossEntropy" || loss === "meanSquaredError")) {
    throw new TensorShapeError(
      `inputs are ${inputs.shape[1]} datapoints and outputs ${outputs.shape[1]}; the second dimension must be the same`,
      { value: outputs.shape, expected: `[…, ${inputs.shape[1]}]` },
    );
  }
  const reached = reachedTensors(outputs);
  if (!reached.some(({ unsafePointer }) => unsafePointer === inputs.unsafePointer)) {
    throw new GraphError("outputs don't depend on inputs; compute them from inputs", { expected: "a model of inputs" });
  }
  const parameters = reached.filter(({ flags }) => flags.includes("param"));
  if (reached.some(({ flags }) => flags.includes("loss"))) {
    throw new GraphError("the model has a loss of its own; leave setLoss out, the optimizer adds it", {
      expected: "a model without a loss",
    });
  }
  if (train) checkTrainable(reached, parameters);
  return parameters;
}

function checkTrainable(reached: readonly Tensor[], parameters: readonly Tensor[]): void {
  if (parameters.length === 0) {
    throw new GraphError("the model has no parameters; mark its weights by setParam", {
      expected: "at least one parameter",
    });
  }
  for (const parameter of parameters) {
    if (parameter.type === "f32") continue;
    throw new TensorTypeError(`the parameter "${parameter.name}" is of type ${parameter.type}; only f32 is trained`, {
      value: parameter.type,
      expected: "f32",
    });
  }
  if (reached.length > MAX_NODES) {
    throw new GraphError(
      `the model has ${reached.length} tensors; ggml-opt has room for ${MAX_NODES} and their gradients`,
      {
        value: reached.length,
        expected: `at most ${MAX_NODES}`,
      },
    );
  }
  const learned = new Set<bigint>(parameters.map(({ unsafePointer }) => unsafePointer));
  for (const tensor of reached) {
    if (!tensor.sources.some((source) => source !== undefined && learned.has(source.unsafePointer))) continue;
    learned.add(tensor.unsafePointer);
    if (differentiable.has(tensor.opDescription) || differentiable.has(tensor.op)) continue;
    throw new UnsupportedOperationError(
      `${tensor.opDescription} has no backward pass in ggml; build the model without it`,
      {
        value: tensor.opDescription,
        expected: "operators with a backward pass",
      },
    );
  }
}

/** Checks a graph that an evaluation brings. Throws {@linkcode GraphError}. */
export function checkGraph(graph: Graph, outputs: Tensor): void {
  if (!graph.gradients) {
    throw new GraphError("the graph takes no gradients; make it with gradients: true", {
      expected: "gradients: true",
    });
  }
  if (!graph.nodes.some(({ unsafePointer }) => unsafePointer === outputs.unsafePointer)) {
    throw new GraphError("outputs aren't in the graph; add them by forward", { expected: "a graph of outputs" });
  }
}

function checkMatrix(what: string, tensor: Tensor): void {
  tensor.assertAlive();
  if (tensor.shape[2] === 1 && tensor.shape[3] === 1 && tensor.isContiguous) return;
  throw new TensorShapeError(
    `${what} have the shape [${tensor.shape.join(", ")}]; give [size, datapoints], contiguous`,
    {
      value: tensor.shape,
      expected: "two dimensions",
    },
  );
}

/** Throws unless every tensor that holds values of its own lies in a buffer; keeps those buffers until what it gives is called. */
export function retainBuffers(tensors: readonly Tensor[]): (() => void)[] {
  const buffers = new Set<bigint>();
  for (const tensor of tensors) {
    if (tensor.op !== "NONE") continue;
    const { buffer, data } = tensor.struct;
    if (buffer !== null && data !== null) buffers.add(buffer);
    else {
      throw new NotAllocatedError(`the tensor "${tensor.name}" lies in no buffer; allocate its context by a backend`, {
        value: tensor.name,
        expected: "a tensor in a buffer",
      });
    }
  }
  return [...buffers].flatMap((buffer) => {
    const held = bufferAt(buffer);
    return held === undefined ? [] : [held.retain()];
  });
}

/** Throws unless a number of datapoints is whole batches. */
export function checkWhole(what: string, count: number, batch: number): void {
  if (count % batch === 0) return;
  throw new InvalidArgumentError(`${what} is ${count} datapoints; give a multiple of the batch, ${batch}`, {
    value: count,
    expected: `a multiple of ${batch}`,
  });
}
