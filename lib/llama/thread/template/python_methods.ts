/**
 * What templates use of Python's Jinja and the interpreter doesn't know: operations on what isn't defined, and a few methods.
 *
 * @module
 */

import type { Node } from "./nodes.ts";
import type { Value } from "./value_sizes.ts";

/** Filters that take a list, and those that take text: what isn't defined is an empty one. */
const listFilters = new Set([
  "length",
  "list",
  "join",
  "map",
  "selectattr",
  "rejectattr",
  "select",
  "reject",
  "sort",
  "unique",
  "reverse",
  "dictsort",
  "items",
]);
const textFilters = new Set(["trim", "upper", "lower", "title", "capitalize", "string", "replace", "indent"]);

/** A node that gives an empty list. */
export const emptyList: Node = { type: "ArrayLiteral", value: [] };
/** A node that gives an empty text. */
export const emptyText: Node = { type: "StringLiteral", value: "" };

/** Whether a value is nothing. */
export function isNothing({ type }: Value): boolean {
  return type === "UndefinedValue" || type === "NullValue";
}

/** What a filter gets in place of nothing; `undefined` when the filter takes it as it is. */
export function insteadOfNothing(filter: string): Node | undefined {
  return listFilters.has(filter) ? emptyList : textFilters.has(filter) ? emptyText : undefined;
}

/** An object literal whose keys are texts. */
export function withTextKeys(node: Node): Node {
  if (!(node.value instanceof Map)) return node;
  const members = [...node.value as Map<Node, Node>].map(([key, value]) =>
    [key.type === "IntegerLiteral" ? { type: "StringLiteral", value: String(key.value) } : key, value] as const
  );
  return { ...node, value: new Map(members) };
}

/** Makes the values that methods give. */
export interface ValueMaker {
  /** Text. Refused when it is too long. */
  text(text: string): Value;
  /** Text for what a value is. */
  write(value: Value): string;
  /** Notes that a list has changed. */
  changed(): void;
  /** A method. */
  method(call: (args: readonly Value[]) => Value): Value;
}

/** The numbers of a comparison of a number with a key that is one. */
export function asNumber(value: Value, other: Value): Node | undefined {
  const inner: unknown = value.value;
  if (typeof inner !== "string" || typeof other.value !== "number" || !/^\d{1,15}$/.test(inner)) return undefined;
  return { type: "IntegerLiteral", value: Number(inner) };
}

/** A method of a value that the interpreter doesn't have. */
export function pythonMethod(object: Value, name: string, make: ValueMaker): Value | undefined {
  const inner: unknown = object.value;
  if (typeof inner === "string" && name === "format") {
    return make.method((args) => make.text(format(inner, args.map((value) => make.write(value)))));
  }
  if (Array.isArray(inner) && name === "pop") {
    return make.method((args) => {
      const [at] = args;
      const index = typeof at?.value === "number" ? at.value : -1;
      const [removed] = (inner as Value[]).splice(index < 0 ? inner.length + index : index, 1);
      if (removed === undefined) throw new Error("pop index out of range");
      make.changed();
      return removed;
    });
  }
  if (Array.isArray(inner) && name === "append") {
    return make.method(([value]) => {
      // A list in itself would have no end.
      if (value === undefined || Array.isArray(value.value)) throw new Error("append takes one value that is no list");
      (inner as Value[]).push(value);
      make.changed();
      return make.text("");
    });
  }
  return undefined;
}

function format(pattern: string, args: readonly string[]): string {
  let next = 0;
  return pattern.replaceAll(/\{\{|\}\}|\{(\d*)\}/g, (found, index: string | undefined) => {
    if (found === "{{" || found === "}}") return found.slice(1);
    return args[index === undefined || index === "" ? next++ : Number(index)] ?? "";
  });
}
