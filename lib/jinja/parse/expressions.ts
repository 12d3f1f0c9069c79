import type { BinaryOperator } from "../operators.ts";
import type { CallArguments, Comparison, Expression } from "./nodes.ts";
import type { TokenStream } from "./token_stream.ts";

/** A call without arguments. */
export const noArguments: CallArguments = { positional: [], named: [], list: undefined, dict: undefined };

const comparisons: readonly string[] = ["==", "!=", "<", "<=", ">", ">="];
const constants: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["none", null],
  ["None", null],
]);

/** Where a list without brackets ends. */
export interface TupleOptions {
  /** Whether `a if b else c` may be in it. */
  readonly conditions?: boolean;
  /** A name that ends it. */
  readonly end?: string;
  /** Whether it stands in parentheses, and may be empty. */
  readonly inParentheses?: boolean;
}

/** Parses expressions. */
export class ExpressionParser {
  /** The tokens. */
  protected readonly stream: TokenStream;

  /** Of a template's tokens. */
  constructor(stream: TokenStream) {
    this.stream = stream;
  }

  /** Any expression. */
  expression(): Expression {
    return this.stream.nested(() => this.#condition());
  }

  /** An expression, or several with commas between them. */
  tuple({ conditions = true, end, inParentheses = false }: TupleOptions = {}): Expression {
    const items: Expression[] = [];
    let isTuple = false;
    while (!this.#isTupleEnd(end)) {
      items.push(conditions ? this.expression() : this.stream.nested(() => this.#or()));
      if (!this.stream.takeOperator(",")) break;
      isTuple = true;
    }
    const [first] = items;
    if (!isTuple && first !== undefined) return first;
    if (!isTuple && !inParentheses) this.stream.fail("Expected an expression");
    return { kind: "tuple", items };
  }

  #isTupleEnd(end: string | undefined): boolean {
    const { type } = this.stream.next;
    if (type === "variableEnd" || type === "blockEnd" || this.stream.isOperator(")")) return true;
    return end !== undefined && this.stream.isName(end);
  }

  #condition(): Expression {
    let then = this.#or();
    while (this.stream.takeName("if")) {
      const test = this.#or();
      const otherwise = this.stream.takeName("else") ? this.expression() : undefined;
      then = { kind: "condition", test, then, otherwise };
    }
    return then;
  }

  #or(): Expression {
    let left = this.#and();
    while (this.stream.takeName("or")) left = { kind: "or", left, right: this.#and() };
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.stream.takeName("and")) left = { kind: "and", left, right: this.#not() };
    return left;
  }

  #not(): Expression {
    if (!this.stream.takeName("not")) return this.#compare();
    return { kind: "not", target: this.stream.nested(() => this.#not()) };
  }

  #compare(): Expression {
    const first = this.#sum();
    const rest: [Comparison, Expression][] = [];
    for (let operator = this.#comparison(); operator !== undefined; operator = this.#comparison()) {
      rest.push([operator, this.#sum()]);
    }
    return rest.length === 0 ? first : { kind: "compare", first, rest };
  }

  #comparison(): Comparison | undefined {
    const { next, second } = this.stream;
    if (next.type === "operator" && comparisons.includes(next.value)) return this.stream.take().value as Comparison;
    if (this.stream.takeName("in")) return "in";
    if (!this.stream.isName("not") || second.type !== "name" || second.value !== "in") return undefined;
    this.stream.take();
    this.stream.take();
    return "not in";
  }

  #sum(): Expression {
    return this.#binary(["+", "-"], () => this.#concat());
  }

  #concat(): Expression {
    const first = this.#product();
    if (!this.stream.isOperator("~")) return first;
    const items = [first];
    while (this.stream.takeOperator("~")) items.push(this.#product());
    return { kind: "concat", items };
  }

  #product(): Expression {
    return this.#binary(["*", "/", "//", "%"], () => this.#binary(["**"], () => this.unary()));
  }

  #binary(operators: readonly BinaryOperator[], operand: () => Expression): Expression {
    let left = operand();
    for (;;) {
      const operator = operators.find((one) => this.stream.isOperator(one));
      if (operator === undefined) return left;
      this.stream.take();
      left = { kind: "binary", operator, left, right: operand() };
    }
  }

  /** A value with a sign, its attributes and filters. */
  protected unary(withFilter = true): Expression {
    let node: Expression;
    if (this.stream.isOperator("-") || this.stream.isOperator("+")) {
      const operator = this.stream.take().value === "-" ? "-" : "+";
      node = { kind: "unary", operator, target: this.stream.nested(() => this.unary(false)) };
    } else node = this.#primary();
    node = this.#postfix(node);
    return withFilter ? this.#filtered(node) : node;
  }

  #primary(): Expression {
    const { next } = this.stream;
    switch (next.type) {
      case "name": {
        this.stream.take();
        const value = constants.get(next.value);
        return value === undefined ? { kind: "name", name: next.value } : { kind: "constant", value };
      }
      case "string":
        return { kind: "constant", value: this.#strings() };
      case "integer":
      case "float":
        this.stream.take();
        return { kind: "constant", value: next.value };
      default:
        if (this.stream.takeOperator("(")) {
          const node = this.tuple({ inParentheses: true });
          this.stream.expectOperator(")");
          return node;
        }
        if (this.stream.takeOperator("[")) return { kind: "list", items: this.#items("]", () => this.expression()) };
        if (this.stream.takeOperator("{")) return { kind: "dict", entries: this.#items("}", () => this.#entry()) };
        return this.stream.fail(`unexpected '${next.value === "" ? next.type : next.value}'`);
    }
  }

  #strings(): string {
    let value = "";
    for (let { next } = this.stream; next.type === "string"; next = this.stream.next) {
      value += next.value;
      this.stream.take();
    }
    return value;
  }

  #items<T>(close: string, item: () => T): T[] {
    const items: T[] = [];
    while (!this.stream.takeOperator(close)) {
      if (items.length > 0) {
        this.stream.expectOperator(",");
        if (this.stream.takeOperator(close)) break;
      }
      items.push(item());
    }
    return items;
  }

  #entry(): readonly [Expression, Expression] {
    const key = this.expression();
    this.stream.expectOperator(":");
    return [key, this.expression()];
  }

  #postfix(target: Expression): Expression {
    let node = target;
    for (;;) {
      if (this.stream.takeOperator(".")) node = this.#member(node);
      else if (this.stream.takeOperator("[")) node = { kind: "item", target: node, key: this.#subscript() };
      else if (this.stream.isOperator("(")) node = { kind: "call", target: node, args: this.callArguments() };
      else return node;
    }
  }

  #member(target: Expression): Expression {
    const token = this.stream.take();
    if (token.type === "name") return { kind: "attribute", target, name: token.value };
    if (token.type === "integer") return { kind: "item", target, key: { kind: "constant", value: token.value } };
    return this.stream.fail("expected name or number");
  }

  #subscript(): Expression {
    const keys: Expression[] = [];
    while (!this.stream.takeOperator("]")) {
      if (keys.length > 0) this.stream.expectOperator(",");
      keys.push(this.#key());
    }
    const [key] = keys;
    return keys.length === 1 && key !== undefined ? key : { kind: "tuple", items: keys };
  }

  #key(): Expression {
    let start: Expression | undefined;
    if (!this.stream.takeOperator(":")) {
      start = this.expression();
      if (!this.stream.takeOperator(":")) return start;
    }
    const bound = (): Expression | undefined =>
      this.stream.isOperator(":") || this.stream.isOperator("]") || this.stream.isOperator(",")
        ? undefined
        : this.expression();
    const stop = bound();
    const step = this.stream.takeOperator(":") ? bound() : undefined;
    return { kind: "slice", start, stop, step };
  }

  /** Arguments in parentheses. */
  protected callArguments(): CallArguments {
    this.stream.expectOperator("(");
    const positional: Expression[] = [];
    const named: [string, Expression][] = [];
    let list: Expression | undefined;
    let dict: Expression | undefined;
    const ensure = (isRight: boolean): void => {
      if (!isRight) this.stream.fail("invalid syntax for function call expression");
    };
    this.#items(")", () => {
      const { next, second } = this.stream;
      if (this.stream.takeOperator("*")) {
        ensure(list === undefined && dict === undefined);
        list = this.expression();
      } else if (this.stream.takeOperator("**")) {
        ensure(dict === undefined);
        dict = this.expression();
      } else if (next.type === "name" && second.type === "operator" && second.value === "=") {
        ensure(dict === undefined);
        this.stream.take();
        this.stream.take();
        named.push([next.value, this.expression()]);
      } else {
        ensure(list === undefined && dict === undefined && named.length === 0);
        positional.push(this.expression());
      }
    });
    return { positional, named, list, dict };
  }

  #filtered(target: Expression): Expression {
    let node = target;
    for (;;) {
      if (this.stream.takeOperator("|")) node = { kind: "filter", target: node, ...this.filter() };
      else if (this.stream.takeName("is")) node = this.#test(node);
      else if (this.stream.isOperator("(")) node = { kind: "call", target: node, args: this.callArguments() };
      else return node;
    }
  }

  /** The name and arguments of a filter. */
  protected filter(): { name: string; args: CallArguments } {
    const name = this.#dottedName();
    return { name, args: this.stream.isOperator("(") ? this.callArguments() : noArguments };
  }

  #dottedName(): string {
    let name = this.stream.expectName();
    while (this.stream.takeOperator(".")) name += `.${this.stream.expectName()}`;
    return name;
  }

  #test(target: Expression): Expression {
    const isNegated = this.stream.takeName("not");
    const name = this.#dottedName();
    const node: Expression = { kind: "test", target, name, args: this.#testArguments() };
    return isNegated ? { kind: "not", target: node } : node;
  }

  #testArguments(): CallArguments {
    if (this.stream.isOperator("(")) return this.callArguments();
    const { type } = this.stream.next;
    const begins = ["name", "string", "integer", "float"].includes(type) || this.stream.isOperator("[") ||
      this.stream.isOperator("{");
    if (!begins || this.stream.isName("else", "or", "and")) return noArguments;
    if (this.stream.isName("is")) this.stream.fail("You cannot chain multiple tests with is");
    return { ...noArguments, positional: [this.#postfix(this.#primary())] };
  }
}
