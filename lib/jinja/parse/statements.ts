import { outerNames } from "./names.ts";
import { ExpressionParser } from "./expressions.ts";
import type { BlockFilter, Expression, MacroDefinition, Statement, Target } from "./nodes.ts";
import { TokenStream } from "./token_stream.ts";

/** Parses a template. Throws {@linkcode JinjaSyntaxError}, and {@linkcode JinjaLimitError} for one that is nested too deep. */
export function parseTemplate(template: string, maxDepth: number): readonly Statement[] {
  return new StatementParser(new TokenStream(template, maxDepth)).template();
}

class StatementParser extends ExpressionParser {
  /** How many loops the next statement is in, within its macro. */
  #loops = 0;

  template(): readonly Statement[] {
    return this.#statements([]).body;
  }

  /** Statements up to a tag of one of these names, which is taken; all the rest when there are none. */
  #statements(ends: readonly string[]): { body: Statement[]; end: string } {
    const body: Statement[] = [];
    for (;;) {
      const token = this.stream.take();
      if (token.type === "end") {
        if (ends.length === 0) return { body, end: "" };
        this.stream.fail(`unexpected end of template; looking for ${ends.map((end) => `'${end}'`).join(" or ")}`);
      }
      if (token.type === "data") body.push({ kind: "text", text: token.value });
      else if (token.type === "variableBegin") {
        body.push({ kind: "output", value: this.tuple() });
        this.stream.expectEnd("variableEnd");
      } else {
        if (this.stream.isName(...ends)) return { body, end: this.stream.expectName() };
        body.push(...this.stream.nested(() => this.#statement()));
        this.stream.expectEnd("blockEnd");
      }
    }
  }

  /** The body of a block, behind its first tag: up to its last one. */
  #body(end: string): Statement[] {
    return this.#block([end]).body;
  }

  #block(ends: readonly string[]): { body: Statement[]; end: string } {
    this.stream.takeOperator(":");
    this.stream.expectEnd("blockEnd");
    return this.#statements(ends);
  }

  #statement(): Statement[] {
    const name = this.stream.next.type === "name" ? this.stream.expectName() : this.stream.fail("tag name expected");
    switch (name) {
      case "if":
        return [this.#if()];
      case "for":
        return [this.#for()];
      case "break":
      case "continue":
        if (this.#loops === 0) this.stream.fail(`'${name}' outside loop`);
        return [{ kind: name }];
      case "set":
        return [this.#set()];
      case "with":
        return [this.#with()];
      case "macro": {
        const macro = this.#macro(this.stream.expectName(), "endmacro", true);
        return [{ kind: "macro", macro }];
      }
      case "call":
        return [this.#call()];
      case "filter":
        return [{ kind: "filterBlock", filters: this.#filters(true), body: this.#body("endfilter") }];
      case "generation":
        return [{ kind: "scope", body: this.#outsideLoops(() => this.#body("endgeneration")) }];
      case "block":
        return [this.#namedBlock()];
      case "print":
        return this.#print();
      case "autoescape":
        return [this.#autoescape()];
      case "include":
      case "import":
      case "extends":
      case "from":
        return [this.#refused(name)];
      default:
        return this.stream.fail(`Encountered unknown tag '${name}'.`);
    }
  }

  #if(): Statement {
    const branches: { test: Expression; body: Statement[] }[] = [];
    for (;;) {
      const test = this.tuple({ conditions: false });
      const { body, end } = this.#block(["elif", "else", "endif"]);
      branches.push({ test, body });
      if (end === "elif") continue;
      return { kind: "if", branches, otherwise: end === "else" ? this.#body("endif") : [] };
    }
  }

  #for(): Statement {
    const target = this.#target(false, "in");
    if (!this.stream.takeName("in")) this.stream.expected("in");
    const iterable = this.tuple({ conditions: false, end: "recursive" });
    const test = this.stream.takeName("if") ? this.expression() : undefined;
    const recursive = this.stream.takeName("recursive");
    this.#loops++;
    const { body, end } = this.#block(["endfor", "else"]);
    this.#loops--;
    const otherwise = end === "else" ? this.#body("endfor") : [];
    return { kind: "for", target, iterable, test, recursive, body, otherwise };
  }

  #set(): Statement {
    const target = this.#target(true);
    if (this.stream.takeOperator("=")) return { kind: "set", target, value: this.tuple() };
    return { kind: "setBlock", target, filters: this.#filters(false), body: this.#body("endset") };
  }

  #with(): Statement {
    const values: [Target, Expression][] = [];
    while (this.stream.next.type !== "blockEnd" && !this.stream.isOperator(":")) {
      if (values.length > 0) this.stream.expectOperator(",");
      const target = this.#target(false);
      this.stream.expectOperator("=");
      values.push([target, this.expression()]);
    }
    return { kind: "with", values, body: this.#body("endwith") };
  }

  #filters(isFirst: boolean): BlockFilter[] {
    const filters: BlockFilter[] = isFirst ? [this.filter()] : [];
    while (this.stream.takeOperator("|")) filters.push(this.filter());
    return filters;
  }

  /** Parameters, if there are some, and the body of a macro. */
  #macro(name: string, end: string, hasParameters: boolean, before?: () => void): MacroDefinition {
    const { parameters, defaults } = hasParameters ? this.#parameters() : { parameters: [], defaults: [] };
    before?.();
    const body = this.#outsideLoops(() => this.#body(end));
    return { name, parameters, defaults, body, uses: outerNames(body, defaults) };
  }

  #parameters(): { parameters: string[]; defaults: Expression[] } {
    const parameters: string[] = [];
    const defaults: Expression[] = [];
    this.stream.expectOperator("(");
    while (!this.stream.takeOperator(")")) {
      if (parameters.length > 0) this.stream.expectOperator(",");
      parameters.push(this.stream.expectName());
      if (this.stream.takeOperator("=")) defaults.push(this.expression());
      else if (defaults.length > 0) this.stream.fail("non-default argument follows default argument");
    }
    return { parameters, defaults };
  }

  #outsideLoops<T>(parse: () => T): T {
    const loops = this.#loops;
    this.#loops = 0;
    const result = parse();
    this.#loops = loops;
    return result;
  }

  #call(): Statement {
    let called: Expression | undefined;
    const caller = this.#macro("caller", "endcall", this.stream.isOperator("("), () => called = this.expression());
    if (called?.kind !== "call") return this.stream.fail("expected call");
    return { kind: "callBlock", target: called.target, args: called.args, caller };
  }

  #namedBlock(): Statement {
    const name = this.stream.expectName();
    const isScoped = this.stream.takeName("scoped");
    this.stream.takeName("required");
    const body = this.#outsideLoops(() => this.#body("endblock"));
    this.stream.takeName(name);
    return { kind: "block", isScoped, body };
  }

  #print(): Statement[] {
    const values: Expression[] = [];
    while (this.stream.next.type !== "blockEnd") {
      if (values.length > 0) this.stream.expectOperator(",");
      values.push(this.expression());
    }
    return values.map((value) => ({ kind: "output", value }));
  }

  #autoescape(): Statement {
    const value = this.expression();
    const body = this.#body("endautoescape");
    if (value.kind === "constant" && value.value === false) return { kind: "scope", body };
    return { kind: "refused", what: "autoescape" };
  }

  /** A statement that takes another template: there is none. */
  #refused(name: string): Statement {
    while (this.stream.next.type !== "blockEnd" && this.stream.next.type !== "end") this.stream.take();
    return { kind: "refused", what: name };
  }

  #target(withNamespace: boolean, end?: string): Target {
    const items: Target[] = [];
    let isTuple = false;
    while (!(end !== undefined && this.stream.isName(end)) && this.stream.next.type !== "blockEnd") {
      items.push(this.#oneTarget(withNamespace));
      if (!this.stream.takeOperator(",")) break;
      isTuple = true;
    }
    const [first] = items;
    if (first === undefined) return this.stream.fail("Expected an expression");
    return isTuple ? { kind: "tuple", items } : first;
  }

  #oneTarget(withNamespace: boolean): Target {
    if (this.stream.takeOperator("(")) {
      const target = this.#targetIn(withNamespace);
      this.stream.expectOperator(")");
      return target;
    }
    const name = this.stream.expectName();
    if (["true", "false", "none", "True", "False", "None"].includes(name)) this.stream.fail("can't assign to 'const'");
    if (!withNamespace || !this.stream.takeOperator(".")) return { kind: "name", name };
    return { kind: "namespace", name, attribute: this.stream.expectName() };
  }

  #targetIn(withNamespace: boolean): Target {
    const items: Target[] = [];
    let isTuple = false;
    while (!this.stream.isOperator(")")) {
      items.push(this.#oneTarget(withNamespace));
      if (!this.stream.takeOperator(",")) break;
      isTuple = true;
    }
    const [first] = items;
    return !isTuple && first !== undefined ? first : { kind: "tuple", items };
  }
}
