import type { Value } from "./value_sizes.ts";

/** A node of a parsed template, as far as it is looked at here. */
export interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly operator?: { readonly value: string };
  readonly left?: Node | undefined;
  readonly right?: Node | undefined;
  readonly lhs?: Node | undefined;
  readonly operand?: Node | undefined;
  readonly object?: Node | undefined;
  readonly property?: Node | undefined;
  readonly iterable?: Node | undefined;
  readonly callee?: Node | undefined;
  readonly argument?: Node | undefined;
  readonly filter?: Node | undefined;
  readonly args?: readonly Node[];
  readonly body?: readonly Node[] | undefined;
  readonly key?: { readonly value: string };
}

/** The type of a node that has been evaluated. */
export const HELD = "Held";

/** A node that has been evaluated. */
export interface Held extends Node {
  readonly value: Value;
}

/** A node that gives this value. */
export function held(value: Value): Held {
  return { type: HELD, value };
}

/** The arguments of a call, evaluated. */
export interface HeldArguments {
  /** Nodes that give them. */
  readonly nodes: readonly Node[];
  /** Those without a name. */
  readonly positional: readonly Value[];
  /** Those with one. */
  readonly named: ReadonlyMap<string, Value>;
}

/** Evaluates the arguments of a call: those without a name first. */
export function holdArguments(args: readonly Node[], evaluate: (node: Node) => Value): HeldArguments {
  const nodes = new Map<Node, Node>();
  const positional: Value[] = [];
  const named = new Map<string, Value>();
  for (const node of args) {
    if (node.type === "KeywordArgumentExpression" || node.type === "KeywordSpreadExpression") continue;
    const spread = node.type === "SpreadExpression";
    const value = evaluate(spread && node.argument !== undefined ? node.argument : node);
    nodes.set(node, spread ? { ...node, argument: held(value) } : held(value));
    if (!spread) positional.push(value);
    else if (Array.isArray(value.value)) { for (const one of value.value as Value[]) positional.push(one); }
  }
  for (const node of args) {
    if (node.type === "KeywordArgumentExpression") {
      const value = evaluate(node.value as Node);
      nodes.set(node, { ...node, value: held(value) });
      named.set(String(node.key?.value), value);
    } else if (node.type === "KeywordSpreadExpression") {
      const value = evaluate(node.argument as Node);
      nodes.set(node, { ...node, argument: held(value) });
      if (value.value instanceof Map) { for (const [key, one] of value.value) named.set(key, one); }
    }
  }
  return { nodes: args.map((node) => nodes.get(node) ?? node), positional, named };
}
