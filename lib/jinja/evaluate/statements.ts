import { callValue } from "../attributes.ts";
import { JinjaError, typeError, valueError } from "../errors.ts";
import type { BlockFilter, Expression, MacroDefinition, Statement, Target } from "../parse/nodes.ts";
import type { Run } from "../run.ts";
import { isTrue, iterate } from "../values/protocol.ts";
import { str } from "../values/repr.ts";
import type { Str } from "../values/text.ts";
import { Iter, Namespace, Undefined, type Value } from "../values/types.ts";
import { callFilter, evaluate, evaluateArguments } from "./expressions.ts";
import { Loop } from "./loop.ts";
import { Macro } from "./macro.ts";
import { Output, Scope } from "./scope.ts";

/** How statements ended: at their end, or in a loop by one of its statements. */
type Ending = "end" | "break" | "continue";

/** What statements are executed with. */
interface Frame {
  readonly run: Run;
  readonly scope: Scope;
  readonly output: Output;
}

/** Executes statements; gives the text that they write. */
export function execute(statements: readonly Statement[], scope: Scope, run: Run): Str {
  const output = new Output(run);
  executeAll(statements, { run, scope, output });
  return output.text();
}

function executeAll(statements: readonly Statement[], frame: Frame): Ending {
  const { run } = frame;
  run.enter();
  let ending: Ending = "end";
  for (const statement of statements) {
    run.charge(1);
    ending = executeOne(statement, frame);
    if (ending !== "end") break;
  }
  run.leave();
  return ending;
}

function executeOne(statement: Statement, frame: Frame): Ending {
  const { run, scope, output } = frame;
  switch (statement.kind) {
    case "text":
      output.write(statement.text);
      return "end";
    case "output":
      output.write(str(evaluate(statement.value, scope, run), run));
      return "end";
    case "if":
      return executeIf(statement, frame);
    case "for":
      forLoop(statement, evaluate(statement.iterable, scope, run), 0, frame);
      return "end";
    case "break":
    case "continue":
      return statement.kind;
    case "set":
      assign(statement.target, evaluate(statement.value, scope, run), scope, run);
      return "end";
    case "setBlock": {
      const text = filtered(statement.filters, statement.body, scope, run);
      assign(statement.target, text, scope, run);
      return "end";
    }
    case "with":
      executeWith(statement, frame);
      return "end";
    case "filterBlock":
      output.write(str(filtered(statement.filters, statement.body, scope, run), run));
      return "end";
    case "macro":
      scope.set(statement.macro.name, macro(statement.macro, scope));
      return "end";
    case "callBlock":
      output.write(callBlock(statement, scope, run));
      return "end";
    case "scope":
      output.write(execute(statement.body, new Scope(scope), run));
      return "end";
    case "block":
      output.write(execute(statement.body, new Scope(statement.isScoped ? scope : scope.root), run));
      return "end";
    case "refused":
      throw new JinjaError("TypeError", `a chat template stands alone: ${statement.what} isn't supported`);
  }
}

function executeIf(statement: Extract<Statement, { kind: "if" }>, frame: Frame): Ending {
  for (const { test, body } of statement.branches) {
    if (isTrue(evaluate(test, frame.scope, frame.run), frame.run)) return executeAll(body, frame);
  }
  return executeAll(statement.otherwise, frame);
}

type For = Extract<Statement, { kind: "for" }>;

function forLoop(statement: For, given: Value, depth: number, frame: Frame): void {
  const { run, scope, output } = frame;
  const { target, test, body, recursive } = statement;
  const recurse = (iterable: Value, level: number): Value => {
    const inner = new Output(run);
    forLoop(statement, iterable, level, { run, scope, output: inner });
    return inner.text();
  };
  const values = test === undefined ? given : new Iter(selected(target, test, given, scope, run));
  const loop = new Loop(values, run, depth, recursive ? recurse : undefined);
  // As in Python's Jinja a turn that was left by break or continue doesn't count.
  let isEmpty = true;
  for (let next = loop.next(); next !== undefined; next = loop.next()) {
    run.charge(STEPS_PER_TURN);
    const inner = new Scope(scope);
    inner.set("loop", loop);
    assign(target, next.value, inner, run);
    const ending = executeAll(body, { run, scope: inner, output });
    if (ending === "break") break;
    if (ending === "end") isEmpty = false;
  }
  if (isEmpty) executeAll(statement.otherwise, { run, scope: new Scope(scope), output });
}

/** Steps that each turn of a loop takes before its body is executed. */
const STEPS_PER_TURN = 4;

/** The elements for which a loop's condition holds, which is asked as the loop comes to them. */
function* selected(
  target: Target,
  test: Expression,
  given: Value,
  scope: Scope,
  run: Run,
): Generator<Value, void, undefined> {
  const iterator = iterate(given, run);
  for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
    run.charge(STEPS_PER_TURN);
    const inner = new Scope(scope);
    assign(target, next.value, inner, run);
    if (isTrue(evaluate(test, inner, run), run)) yield next.value;
  }
}

function assign(target: Target, value: Value, scope: Scope, run: Run): void {
  switch (target.kind) {
    case "name":
      return scope.set(target.name, value);
    case "namespace": {
      const namespace = scope.get(target.name);
      if (!(namespace instanceof Namespace)) {
        throw new JinjaError("TemplateRuntimeError", "cannot assign attribute on non-namespace object");
      }
      namespace.values.set(target.attribute, value);
      return;
    }
    case "tuple": {
      const wanted = target.items.length;
      const iterator = iterate(value, run);
      for (const [at, one] of target.items.entries()) {
        const next = iterator.next();
        if (next.done === true) return valueError(`not enough values to unpack (expected ${wanted}, got ${at})`);
        assign(one, next.value, scope, run);
      }
      if (iterator.next().done !== true) valueError(`too many values to unpack (expected ${wanted})`);
    }
  }
}

function executeWith(statement: Extract<Statement, { kind: "with" }>, { run, scope, output }: Frame): void {
  const inner = new Scope(scope);
  const values = statement.values.map(([target, value]) => [target, evaluate(value, scope, run)] as const);
  for (const [target, value] of values) assign(target, value, inner, run);
  executeAll(statement.body, { run, scope: inner, output });
}

function filtered(filters: readonly BlockFilter[], body: readonly Statement[], scope: Scope, run: Run): Value {
  const inner = new Scope(scope);
  const text: Value = execute(body, inner, run);
  return filters.reduce<Value>(
    (value, { name, args }) => callFilter(run, name, value, evaluateArguments(args, inner, run)),
    text,
  );
}

function macro(definition: MacroDefinition, scope: Scope): Macro {
  return new Macro(definition, scope, ({ body }, inner, run) => execute(body, inner, run));
}

function callBlock(statement: Extract<Statement, { kind: "callBlock" }>, scope: Scope, run: Run): Str {
  const target = evaluate(statement.target, scope, run);
  const { positional, named } = evaluateArguments(statement.args, scope, run);
  if (named.has("caller")) typeError("got multiple values for keyword argument 'caller'");
  const withCaller = new Map([...named, ["caller", macro(statement.caller, scope)] as const]);
  if (target instanceof Undefined) return typeError(target.message);
  return str(callValue(run, target, { positional, named: withCaller }), run);
}
