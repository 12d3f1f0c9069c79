import { ggml_op, type Native, type Pointer } from "../../../ffi/mod.ts";
import { isCustom } from "../backend/graph_check.ts";
import { GraphError } from "../tensor/errors.ts";
import type { GraphReference } from "../tensor/references.ts";
import { COPYING, indexedOperands, PLACES, SHOWING } from "./operators.ts";
import { type MemoryRange, overlaps, rangeOf } from "./range.ts";
import type { IndexUse } from "./values.ts";

type TensorPointer = Pointer<"ggml_tensor">;

/** Returns an operand of a node. */
export type OperandOf = (node: TensorPointer, slot: number) => TensorPointer;

/** Indices that a graph makes itself. */
export interface ComputedUse extends IndexUse {
  /** The node's place in the graph. */
  readonly at: number;
}

/** The indices of a graph. */
export interface Indices {
  /** Those that were written before, and nothing in the graph changes before they are used. */
  readonly inputs: readonly IndexUse[];
  /** Those that the graph makes in a way that may give any number. */
  readonly computed: readonly ComputedUse[];
  /** The nodes, in order. */
  readonly nodes: readonly TensorPointer[];
}

/**
 * Finds the indices of a graph. Throws GraphError for a node whose result lies where its indices are, since its threads would overwrite what others still
 * read.
 */
export function traceIndices({ native, unsafePointer }: GraphReference, operandOf: OperandOf): Indices {
  const { lib } = native;
  const count = lib.ggml_graph_n_nodes(unsafePointer);
  const nodes = Array.from({ length: count }, (_, at) => lib.ggml_graph_node(unsafePointer, at));
  const tracer = new Tracer(native, nodes, operandOf);
  return { ...tracer.trace(), nodes };
}

/** The memory that a node writes; a custom operator may write elsewhere, too. */
interface Written {
  readonly range: MemoryRange | undefined;
  readonly isCustom: boolean;
}

class Tracer {
  readonly #native: Native;
  readonly #nodes: readonly TensorPointer[];
  readonly #operandOf: OperandOf;
  #places: Map<TensorPointer, number> | undefined;
  #written: Written[] | undefined;

  constructor(native: Native, nodes: readonly TensorPointer[], operandOf: OperandOf) {
    this.#native = native;
    this.#nodes = nodes;
    this.#operandOf = operandOf;
  }

  trace(): Omit<Indices, "nodes"> {
    const inputs: IndexUse[] = [];
    const computed: ComputedUse[] = [];
    for (const [at, node] of this.#nodes.entries()) {
      const view = this.#native.structAt("ggml_tensor", node);
      const how = indexedOperands.get(view.op);
      if (how === undefined) continue;
      const operand = this.#operandOf(node, how.slot);
      const target = how.own === true ? view : this.#native.structAt("ggml_tensor", this.#operandOf(node, how.into));
      const use = { node, slot: how.slot, operand, size: Number(target.ne[how.dimension]) };
      this.#assertApart(node, operand);
      const found: IndexUse[] = [];
      if (this.#follow(use, at, found)) inputs.push(...found);
      else computed.push({ ...use, at });
    }
    return { inputs, computed };
  }

  /** Adds the inputs that indices come from; `false` when they may be any number. `at` is the place of the node that reads them. */
  #follow(use: IndexUse, at: number, found: IndexUse[]): boolean {
    let base = use.operand;
    let view = this.#native.structAt("ggml_tensor", base);
    while (SHOWING.has(view.op)) {
      base = this.#operandOf(base, 0);
      view = this.#native.structAt("ggml_tensor", base);
    }
    const place = view.op === ggml_op.GGML_OP_NONE ? undefined : this.#placeOf(base);
    if (this.#isWritten(use.operand, place ?? -1, at, place !== undefined)) return false;
    if (place === undefined) {
      found.push(use);
      return true;
    }
    if (PLACES.has(view.op)) {
      const row = this.#native.structAt("ggml_tensor", this.#operandOf(base, 0)).ne[0] ?? 0n;
      return Number(row) <= use.size;
    }
    return COPYING.get(view.op)?.every((slot) => {
      const operand = this.#operandOf(base, slot);
      return this.#native.structAt("ggml_tensor", operand).type === view.type &&
        this.#follow({ node: base, slot, operand, size: use.size }, place, found);
    }) ?? false;
  }

  #placeOf(node: TensorPointer): number | undefined {
    this.#places ??= new Map(this.#nodes.map((one, at) => [one, at]));
    return this.#places.get(node);
  }

  /** Whether a node between two places writes where a tensor's values lie; `byAny` counts functions of the program's own that may. */
  #isWritten(tensor: TensorPointer, after: number, before: number, byAny: boolean): boolean {
    const range = rangeOf(this.#native, tensor);
    if (range === undefined) return false;
    this.#written ??= this.#nodes.map((node) => this.#writes(node));
    for (let at = after + 1; at < before; at++) {
      const one = this.#written[at];
      if (one?.isCustom === true && byAny) return true;
      if (one?.range !== undefined && overlaps(one.range, range)) return true;
    }
    return false;
  }

  #writes(node: TensorPointer): Written {
    const { op } = this.#native.structAt("ggml_tensor", node);
    const isView = SHOWING.has(op) || op === ggml_op.GGML_OP_NONE;
    return { range: isView ? undefined : rangeOf(this.#native, node), isCustom: isCustom(op) };
  }

  #assertApart(node: TensorPointer, operand: TensorPointer): void {
    const [result, indices] = [rangeOf(this.#native, node), rangeOf(this.#native, operand)];
    if (result === undefined || indices === undefined || !overlaps(result, indices)) return;
    const name = this.#native.readCString(this.#native.lib.ggml_get_name(operand));
    throw new GraphError(`a node's result lies where its indices "${name}" are; place one of them elsewhere`, {
      value: name,
      expected: "indices apart from the result",
    });
  }
}
