/**
 * Graphs for people to look at.
 *
 * @module
 */

import type { Graph } from "./graph.ts";
import type { Tensor, TensorFlag } from "../tensor/tensor.ts";
import type { TypeName } from "../tensor/types.ts";

/** One tensor of a graph. Plain data. */
export interface GraphRow {
  /** Its number: nodes count from 0 in the order in which they are computed, leaves from −1 downwards. */
  index: number;
  /** Its name. */
  name: string;
  /** The operator, or which of the unary or gated ones it is. */
  op: string;
  /** The type of its elements. */
  type: TypeName;
  /** Its dimensions. */
  shape: number[];
  /** Its bytes. */
  bytes: number;
  /** The numbers of its operands. */
  sources: number[];
  /** The number of the tensor that it is a view of. */
  viewOf?: number | undefined;
  /** Its flags. */
  flags: TensorFlag[];
}

/** A graph as rows: its leaves, then its nodes. Throws DisposedError. */
export function graphTable(graph: Graph): GraphRow[] {
  const numbers = new Map<bigint, number>();
  const { leaves, nodes } = graph;
  leaves.forEach(({ unsafePointer }, index) => numbers.set(unsafePointer, -1 - index));
  nodes.forEach(({ unsafePointer }, index) => numbers.set(unsafePointer, index));
  return [...leaves, ...nodes].map((tensor) => rowOf(tensor, numbers));
}

function rowOf(tensor: Tensor, numbers: ReadonlyMap<bigint, number>): GraphRow {
  const known = (one: Tensor | undefined): number[] => {
    const number = one === undefined ? undefined : numbers.get(one.unsafePointer);
    return number === undefined ? [] : [number];
  };
  const { name, opDescription: op, type, byteLength: bytes, flags, viewOf } = tensor;
  const [owner] = known(viewOf);
  return {
    index: numbers.get(tensor.unsafePointer) ?? 0,
    name,
    op,
    type,
    shape: [...tensor.shape],
    bytes,
    sources: tensor.sources.flatMap(known),
    ...(owner === undefined ? {} : { viewOf: owner }),
    flags,
  };
}

/**
 * A graph in the DOT language, for Graphviz: parameters yellow, inputs green, outputs blue, other leaves grey. Throws DisposedError. C's
 * `ggml_graph_dump_dot` writes a file; this is a string.
 */
export function graphToDot(graph: Graph): string {
  const rows = graphTable(graph);
  const id = (index: number): string => index < 0 ? `leaf${-1 - index}` : `node${index}`;
  const boxes = rows.map((row) =>
    `  ${id(row.index)} [label=${quote(labelOf(row))}, fillcolor=${quote(colorOf(row))}];`
  );
  const arrows = rows.flatMap((row) =>
    row.sources.map((source, at) => `  ${id(source)} -> ${id(row.index)} [label="${at}"];`)
  );
  return [
    "digraph ggml {",
    '  node [shape=box, style="filled,rounded", fontname="monospace"];',
    ...boxes,
    ...arrows,
    "}",
    "",
  ].join("\n");
}

function labelOf({ name, op, type, shape }: GraphRow): string {
  const sizes = shape.slice(0, shape.findLastIndex((size) => size !== 1) + 1 || 1);
  return `${name}\n${op === "NONE" ? "" : `${op} `}${type} [${sizes.join(", ")}]`;
}

function colorOf({ index, flags }: GraphRow): string {
  if (flags.includes("param")) return "lightyellow";
  if (flags.includes("input")) return "palegreen";
  if (flags.includes("output") || flags.includes("loss")) return "lightblue";
  return index < 0 ? "lightgrey" : "white";
}

function quote(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
