import { callValue, getAttribute, getItem, getSlice } from "../attributes.ts";
import { JinjaError, typeError } from "../errors.ts";
import { binary, unary } from "../operators.ts";
import type { CallArguments, Comparison, Expression } from "../parse/nodes.ts";
import type { Run } from "../run.ts";
import { equals, inOrder, isIn } from "../values/compare.ts";
import { Dict } from "../values/dict.ts";
import { isTrue, listOf, typeName } from "../values/protocol.ts";
import { str } from "../values/repr.ts";
import { concatText, isStr, textOf } from "../values/text.ts";
import { type Args, orElse, Tuple, Undefined, type Value } from "../values/types.ts";
import type { Scope } from "./scope.ts";

/** The value of an expression. */
export function evaluate(node: Expression, scope: Scope, run: Run): Value {
  run.enter();
  const value = evaluateNode(node, scope, run);
  run.leave();
  return value;
}

function evaluateNode(node: Expression, scope: Scope, run: Run): Value {
  switch (node.kind) {
    case "constant":
      return node.value;
    case "name":
      return orElse(scope.get(node.name), () => new Undefined(`'${node.name}' is undefined`));
    case "attribute":
      return getAttribute(run, evaluate(node.target, scope, run), node.name);
    case "item":
      return item(node.target, node.key, scope, run);
    case "slice":
      return typeError("a slice stands alone in brackets");
    case "call": {
      const target = evaluate(node.target, scope, run);
      return callValue(run, target, evaluateArguments(node.args, scope, run));
    }
    case "filter":
      return callFilter(run, node.name, evaluate(node.target, scope, run), evaluateArguments(node.args, scope, run));
    case "test":
      return callTest(run, node.name, evaluate(node.target, scope, run), evaluateArguments(node.args, scope, run));
    case "list":
      return values(node.items, scope, run);
    case "tuple":
      return new Tuple(values(node.items, scope, run));
    case "dict":
      return new Dict(node.entries.map(([key, value]) => [evaluate(key, scope, run), evaluate(value, scope, run)]));
    case "unary":
      return unary(run, node.operator, evaluate(node.target, scope, run));
    case "not":
      return !isTrue(evaluate(node.target, scope, run), run);
    case "binary":
      return binary(run, node.operator, evaluate(node.left, scope, run), evaluate(node.right, scope, run));
    case "concat":
      return concat(values(node.items, scope, run), run);
    case "and":
    case "or": {
      const left = evaluate(node.left, scope, run);
      return isTrue(left, run) === (node.kind === "or") ? left : evaluate(node.right, scope, run);
    }
    case "compare":
      return compare(node.first, node.rest, scope, run);
    case "condition":
      if (isTrue(evaluate(node.test, scope, run), run)) return evaluate(node.then, scope, run);
      if (node.otherwise !== undefined) return evaluate(node.otherwise, scope, run);
      return new Undefined("the inline if-expression evaluated to false and no else section was defined.");
  }
}

function values(nodes: readonly Expression[], scope: Scope, run: Run): Value[] {
  return nodes.map((node) => evaluate(node, scope, run));
}

function item(target: Expression, key: Expression, scope: Scope, run: Run): Value {
  const value = evaluate(target, scope, run);
  if (key.kind !== "slice") return getItem(run, value, evaluate(key, scope, run));
  const bound = (node: Expression | undefined): Value | undefined =>
    node === undefined ? undefined : evaluate(node, scope, run);
  return getSlice(run, value, { start: bound(key.start), stop: bound(key.stop), step: bound(key.step) });
}

function concat(items: readonly Value[], run: Run): Value {
  const texts = items.map((one) => str(one, run));
  run.text(texts.reduce((length, text) => length + textOf(text).length, 0));
  return concatText(texts);
}

function compare(
  first: Expression,
  rest: readonly (readonly [Comparison, Expression])[],
  scope: Scope,
  run: Run,
): boolean {
  let left = evaluate(first, scope, run);
  for (const [operator, node] of rest) {
    const right = evaluate(node, scope, run);
    if (!holds(run, left, operator, right)) return false;
    left = right;
  }
  return true;
}

function holds(run: Run, left: Value, operator: Comparison, right: Value): boolean {
  switch (operator) {
    case "==":
      return equals(left, right, run);
    case "!=":
      return !equals(left, right, run);
    case "in":
      return isIn(left, right, run);
    case "not in":
      return !isIn(left, right, run);
    default:
      return inOrder(left, operator, right, run);
  }
}

/** The values of a call's arguments. */
export function evaluateArguments(args: CallArguments, scope: Scope, run: Run): Args {
  const positional = values(args.positional, scope, run);
  const named = new Map<string, Value>();
  const add = (name: string, value: Value): void => {
    if (named.has(name)) typeError(`got multiple values for keyword argument '${name}'`);
    named.set(name, value);
  };
  for (const [name, node] of args.named) add(name, evaluate(node, scope, run));
  if (args.list !== undefined) positional.push(...listOf(evaluate(args.list, scope, run), run));
  if (args.dict !== undefined) {
    const dict = evaluate(args.dict, scope, run);
    if (!(dict instanceof Dict)) return typeError(`argument after ** must be a mapping, not ${typeName(dict)}`);
    for (const [name, value] of dict.entries()) {
      add(isStr(name) ? textOf(name) : typeError("keywords must be strings"), value);
    }
  }
  return { positional, named };
}

/** Applies a filter. Throws Jinja's error for one that isn't there. */
export function callFilter(run: Run, name: string, value: Value, args: Args): Value {
  const filter = run.library.filters.get(name);
  if (filter === undefined) throw new JinjaError("TemplateRuntimeError", `No filter named '${name}'.`);
  return filter(run, { positional: [value, ...args.positional], named: args.named });
}

/** Asks a test. Throws Jinja's error for one that isn't there. */
export function callTest(run: Run, name: string, value: Value, args: Args): Value {
  const test = run.library.tests.get(name);
  if (test === undefined) throw new JinjaError("TemplateRuntimeError", `No test named '${name}'.`);
  return test(run, { positional: [value, ...args.positional], named: args.named });
}
