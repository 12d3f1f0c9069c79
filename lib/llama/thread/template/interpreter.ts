/**
 * An interpreter of Jinja that stops a template which does too much. It sees each expression before it is evaluated: what an operation will cost, and how
 * large its result will be, is known from its operands.
 *
 * @module
 */

import type { Environment as BaseEnvironment, Interpreter as BaseInterpreter } from "@huggingface/jinja";
import { overLimit, type TemplateLimits } from "./limits.ts";
import { HELD, type Held, held, holdArguments, type Node } from "./nodes.ts";
import {
  asNumber,
  emptyList,
  emptyText,
  insteadOfNothing,
  isNothing,
  pythonMethod,
  withTextKeys,
} from "./python_methods.ts";
import { type Value, Weights } from "./value_sizes.ts";

type Environment = BaseEnvironment;
type Statement = Parameters<BaseInterpreter["evaluate"]>[0];

/** Characters handled that count as a step. */
const CHARACTERS_ASTEP = 64;
/** Comparisons of characters, at the worst, that count as a step. */
const COMPARISONS_ASTEP = 256;
/** Steps between two looks at the clock. */
const STEPS_ALOOK = 4096;
/** Steps that each turn of a loop takes before its body is evaluated. */
const STEPS_ATURN = 4;

/** Counts what a template does, and throws ChatTemplateError when that is too much. */
export class Budget {
  readonly limits: TemplateLimits;
  readonly #check: () => void;
  readonly #end: number;
  #left: number;
  #nextLook: number;

  /** `check` is called every few thousand steps, and throws when the work was cancelled. */
  constructor(limits: TemplateLimits, check: () => void) {
    this.limits = limits;
    this.#check = check;
    this.#left = limits.steps;
    this.#nextLook = limits.steps - STEPS_ALOOK;
    this.#end = performance.now() + limits.milliseconds;
  }

  /** Takes steps. */
  charge(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw overLimit("steps", this.limits.steps);
    if (this.#left > this.#nextLook) return;
    this.#nextLook = this.#left - STEPS_ALOOK;
    this.#check();
    if (performance.now() > this.#end) throw overLimit("milliseconds", this.limits.milliseconds);
  }

  /** Refuses a text of so many characters. */
  admit(characters: number): void {
    if (characters > this.limits.characters) throw overLimit("characters of text", this.limits.characters);
  }
}

/** An interpreter that keeps to a budget. */
export function boundedInterpreter(
  Base: typeof BaseInterpreter,
  environment: Environment,
  budget: Budget,
): BaseInterpreter {
  const weights = new Weights(budget);

  class BoundedInterpreter extends Base {
    #depth = 0;

    override evaluate(statement: Statement, scope: Environment): Value {
      if (statement === undefined) return super.evaluate(statement, scope);
      const node = statement as Node;
      if (node.type === HELD) return (node as Held).value;
      if (++this.#depth > budget.limits.depth) throw overLimit("expressions within one another", budget.limits.depth);
      budget.charge(1);
      try {
        const prepared = this.#prepare(node, scope);
        const value = super.evaluate(prepared as Statement, scope);
        const weight = weights.of(value);
        if (node.type !== "Identifier" && typeof value.value === "string") budget.charge(weight / CHARACTERS_ASTEP);
        return node.type === "MemberExpression" ? this.#method(prepared, value) : value;
      } finally {
        this.#depth--;
      }
    }

    /** The node with its operands evaluated, once what it is going to do with them is admitted. */
    #prepare(node: Node, scope: Environment): Node {
      switch (node.type) {
        case "For":
          return this.#prepareLoop(node, scope);
        case "BinaryExpression":
          return this.#prepareBinary(node, scope);
        case "FilterExpression":
          return this.#prepareFilter(node, this.evaluate(node.operand as Statement, scope), scope);
        case "FilterStatement": {
          const body = { type: "Program", body: node.body };
          const filter = { type: "FilterExpression", filter: node.filter };
          return this.#prepareFilter(filter, this.evaluate(body as Statement, scope), scope);
        }
        case "TestExpression": {
          const operand = this.evaluate(node.operand as Statement, scope);
          budget.charge(weights.of(operand) / CHARACTERS_ASTEP);
          return { ...node, operand: held(operand) };
        }
        case "MemberExpression":
          return this.#prepareMember(node, scope);
        case "ObjectLiteral":
          return withTextKeys(node);
        default:
          return node;
      }
    }

    #prepareLoop(node: Node, scope: Environment): Node {
      const select = node.iterable?.type === "SelectExpression" ? node.iterable : undefined;
      const given = this.evaluate((select?.lhs ?? node.iterable) as Statement, scope);
      const list = isNothing(given) ? this.evaluate(emptyList as Statement, scope) : given;
      budget.charge(STEPS_ATURN * lengthOf(list));
      return { ...node, iterable: select === undefined ? held(list) : { ...select, lhs: held(list) } };
    }

    #prepareBinary(node: Node, scope: Environment): Node {
      const operator = node.operator?.value;
      if (operator === "and" || operator === "or") return node;
      const left = this.#addend(operator, this.evaluate(node.left as Statement, scope));
      const right = this.#addend(operator, this.evaluate(node.right as Statement, scope));
      const weight = weights.of(left) + weights.of(right);
      budget.charge(weight / CHARACTERS_ASTEP);
      if (operator === "in" || operator === "not in") this.#chargeSearch(left, right);
      else if (operator === "~" || operator === "+") budget.admit(weight);
      if (operator === "<" || operator === "<=" || operator === ">" || operator === ">=") {
        return { ...node, left: asNumber(left, right) ?? held(left), right: asNumber(right, left) ?? held(right) };
      }
      return { ...node, left: held(left), right: held(right) };
    }

    /** What isn't defined adds nothing to a text. */
    #addend(operator: string | undefined, value: Value): Value {
      return operator === "+" && value.type === "UndefinedValue" ? this.#make(emptyText) : value;
    }

    #prepareMember(node: Node, scope: Environment): Node {
      const object = this.evaluate(node.object as Statement, scope);
      if (node.property?.type === "SliceExpression") budget.charge(lengthOf(object) / CHARACTERS_ASTEP);
      return { ...node, object: held(object) };
    }

    #prepareFilter(node: Node, given: Value, scope: Environment): Node {
      const { filter } = node;
      const isCall = filter?.type === "CallExpression";
      const name = String((isCall ? filter?.callee : filter)?.value);
      const empty = isNothing(given) ? insteadOfNothing(name) : undefined;
      const operand = empty === undefined ? given : this.evaluate(empty as Statement, scope);
      budget.charge(weights.of(operand) / CHARACTERS_ASTEP);
      if (name === "string" && typeof operand.value === "object") return this.#written(operand, scope);
      if (!isCall || name === "selectattr" || name === "rejectattr") {
        if (name === "join") budget.admit(weights.of(operand));
        return { ...node, operand: held(operand) };
      }
      const { nodes, positional, named } = holdArguments(
        filter?.args ?? [],
        (one) => this.evaluate(one as Statement, scope),
      );
      this.#admitCall(name, operand, positional, named);
      return { ...node, operand: held(operand), filter: { ...filter, type: "CallExpression", args: nodes } };
    }

    /** A value as text. */
    #written(value: Value, scope: Environment): Node {
      const joined = { type: "BinaryExpression", operator: { value: "~" }, left: held(value), right: emptyText };
      return held(this.evaluate(joined as unknown as Statement, scope));
    }

    #method(node: Node, value: Value): Value {
      const object = node.object as Held;
      const { property } = node;
      if (value.type !== "UndefinedValue" || property?.type !== "Identifier") return this.#boundMethod(object, value);
      return pythonMethod(object.value, String(property.value), {
        text: (text) => {
          budget.admit(text.length);
          budget.charge(text.length / CHARACTERS_ASTEP);
          return this.#make({ ...emptyText, value: text });
        },
        write: (one) => String((this.#written(one, environment) as Held).value.value),
        changed: () => weights.forget(),
        method: (call) => {
          const known = this.#make(emptyText).builtins.get("upper");
          if (known === undefined) throw new TypeError("unreachable");
          const Method = known.constructor as new (call: (args: Value[]) => Value) => Value;
          return new Method((args) => call(args.filter((one) => !(one.value instanceof Map))));
        },
      }) ?? value;
    }

    #make(node: Node): Value {
      return super.evaluate(node as unknown as Statement, environment);
    }

    /** A method of a text looks at its arguments before it works. */
    #boundMethod({ value: object }: Held, value: Value): Value {
      if (typeof object.value !== "string" || typeof value.value !== "function") return value;
      const name = [...object.builtins].find(([, one]) => one === value)?.[0];
      if (name === undefined) return value;
      const method = value.value as (args: Value[], scope: Environment) => Value;
      const Method = value.constructor as new (call: typeof method) => Value;
      return new Method((args, scope) => {
        const last = args.at(-1)?.value;
        budget.charge(lengthOf(object) / CHARACTERS_ASTEP);
        this.#admitCall(name, object, args, last instanceof Map ? last : new Map());
        return method(args, scope);
      });
    }

    #chargeSearch(sought: Value, place: Value): void {
      const pattern = typeof sought.value === "string" ? sought.value.length : 0;
      budget.charge(pattern * lengthOf(place) / COMPARISONS_ASTEP);
    }

    /** Admits a filter or method by what its arguments will make it do. */
    #admitCall(name: string, operand: Value, positional: readonly Value[], named: ReadonlyMap<string, Value>): void {
      if (name === "default") return;
      for (const argument of [...positional, ...named.values()]) this.#chargeSearch(argument, operand);
      const weight = weights.of(operand);
      const [first, second] = positional;
      if (name === "indent") {
        budget.admit(weight + count(operand, "\n") * numberOf(first ?? named.get("width")));
      } else if (name === "join") {
        budget.admit(weight + lengthOf(operand) * lengthOf(first ?? named.get("separator")));
      } else if (name === "tojson") {
        const indent = numberOf(named.get("indent")) * weights.depthOf(operand);
        const separators = named.get("separators");
        budget.admit(weight * (1 + indent + (separators === undefined ? 0 : weights.of(separators) - 2)));
      } else if (name === "replace" && typeof first?.value === "string") {
        budget.admit(weight + count(operand, first.value) * lengthOf(second));
      }
    }
  }
  return new BoundedInterpreter(environment);
}

/** Characters of a text, or elements of a list or object. */
function lengthOf(value: Value | undefined): number {
  const inner: unknown = value?.value;
  if (typeof inner === "string" || Array.isArray(inner)) return inner.length;
  return inner instanceof Map ? inner.size : 0;
}

function numberOf(value: Value | undefined): number {
  const inner: unknown = value?.value;
  return typeof inner === "number" ? Math.max(0, inner) : 0;
}

/** How often a text has another, one more when that is empty. */
function count({ value }: Value, sought: string): number {
  if (typeof value !== "string") return 0;
  if (sought === "") return value.length + 1;
  let found = 0;
  for (let at = value.indexOf(sought); at >= 0; at = value.indexOf(sought, at + sought.length)) found++;
  return found;
}
