import { typeError } from "../errors.ts";
import type { MacroDefinition } from "../parse/nodes.ts";
import type { Run } from "../run.ts";
import { Dict } from "../values/dict.ts";
import type { Str } from "../values/text.ts";
import { type Args, Obj, orElse, Tuple, Undefined, type Value } from "../values/types.ts";
import { evaluate } from "./expressions.ts";
import { Scope } from "./scope.ts";

/** A macro: gives the text that its body writes. */
export class Macro extends Obj {
  override readonly type = "Macro";
  readonly #definition: MacroDefinition;
  readonly #scope: Scope;
  readonly #render: (definition: MacroDefinition, scope: Scope, run: Run) => Str;

  /** Defined in a scope; `render` renders the body. */
  constructor(
    definition: MacroDefinition,
    scope: Scope,
    render: (definition: MacroDefinition, scope: Scope, run: Run) => Str,
  ) {
    super();
    this.#definition = definition;
    this.#scope = scope;
    this.#render = render;
  }

  override call(args: Args, run: Run): Value {
    const scope = new Scope(this.#scope);
    this.#bind(scope, args, run);
    return this.#render(this.#definition, scope, run);
  }

  #bind(scope: Scope, { positional, named }: Args, run: Run): void {
    const { name, parameters, defaults, uses } = this.#definition;
    const rest = new Map(named);
    const firstDefault = parameters.length - defaults.length;
    for (const [at, parameter] of parameters.entries()) {
      let value = positional[at];
      if (value === undefined) {
        value = rest.get(parameter);
        rest.delete(parameter);
      }
      const other = defaults[at - firstDefault];
      if (value === undefined && other !== undefined) value = evaluate(other, scope, run);
      scope.set(parameter, orElse(value, () => new Undefined(`parameter '${parameter}' was not provided`)));
    }
    if (uses.has("caller") && !parameters.includes("caller")) {
      scope.set("caller", orElse(rest.get("caller"), () => new Undefined("No caller defined")));
      rest.delete("caller");
    }
    const more = positional.slice(parameters.length);
    if (uses.has("varargs")) scope.set("varargs", new Tuple(more));
    else if (more.length > 0) {
      typeError(`macro '${name}' takes not more than ${parameters.length} argument(s)`);
    }
    if (uses.has("kwargs")) scope.set("kwargs", new Dict(rest));
    else if (rest.size > 0) typeError(`macro '${name}' takes no keyword argument '${[...rest.keys()][0]}'`);
  }

  override attribute(name: string): Value | undefined {
    const { name: own, parameters, uses } = this.#definition;
    switch (name) {
      case "name":
        return own;
      case "arguments":
        return new Tuple(parameters);
      case "catch_kwargs":
        return uses.has("kwargs");
      case "catch_varargs":
        return uses.has("varargs");
      case "caller":
        return uses.has("caller");
      default:
        return undefined;
    }
  }

  override repr(): string {
    return `<Macro '${this.#definition.name}'>`;
  }
}
