/**
 * Templates, parsed.
 *
 * @module
 */

import type { BinaryOperator } from "../operators.ts";
import type { Value } from "../values/types.ts";

/** The arguments of a call. */
export interface CallArguments {
  /** Those without a name. */
  readonly positional: readonly Expression[];
  /** Those with one. */
  readonly named: readonly (readonly [string, Expression])[];
  /** `*list`. */
  readonly list: Expression | undefined;
  /** `**dict`. */
  readonly dict: Expression | undefined;
}

/** How two values are compared. */
export type Comparison = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in";

/** An expression. */
export type Expression =
  | { readonly kind: "constant"; readonly value: Value }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "attribute"; readonly target: Expression; readonly name: string }
  | { readonly kind: "item"; readonly target: Expression; readonly key: Expression }
  | {
    readonly kind: "slice";
    readonly start: Expression | undefined;
    readonly stop: Expression | undefined;
    readonly step: Expression | undefined;
  }
  | { readonly kind: "call"; readonly target: Expression; readonly args: CallArguments }
  | { readonly kind: "filter"; readonly target: Expression; readonly name: string; readonly args: CallArguments }
  | { readonly kind: "test"; readonly target: Expression; readonly name: string; readonly args: CallArguments }
  | { readonly kind: "list" | "tuple"; readonly items: readonly Expression[] }
  | { readonly kind: "dict"; readonly entries: readonly (readonly [Expression, Expression])[] }
  | { readonly kind: "unary"; readonly operator: "-" | "+"; readonly target: Expression }
  | { readonly kind: "not"; readonly target: Expression }
  | {
    readonly kind: "binary";
    readonly operator: BinaryOperator;
    readonly left: Expression;
    readonly right: Expression;
  }
  | { readonly kind: "concat"; readonly items: readonly Expression[] }
  | { readonly kind: "and" | "or"; readonly left: Expression; readonly right: Expression }
  | {
    readonly kind: "compare";
    readonly first: Expression;
    readonly rest: readonly (readonly [Comparison, Expression])[];
  }
  | {
    readonly kind: "condition";
    readonly test: Expression;
    readonly then: Expression;
    readonly otherwise: Expression | undefined;
  };

/** What a value is assigned to. */
export type Target =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "namespace"; readonly name: string; readonly attribute: string }
  | { readonly kind: "tuple"; readonly items: readonly Target[] };

/** A filter of a block. */
export interface BlockFilter {
  /** Its name. */
  readonly name: string;
  /** Its arguments beside the block's text. */
  readonly args: CallArguments;
}

/** Parameters and body of a macro, or of what a call block gives to one. */
export interface MacroDefinition {
  /** Its name. */
  readonly name: string;
  /** The names of the parameters. */
  readonly parameters: readonly string[];
  /** The values of the last of them when none are given. */
  readonly defaults: readonly Expression[];
  /** What it writes. */
  readonly body: readonly Statement[];
  /** Which of `varargs`, `kwargs` and `caller` the body uses. */
  readonly uses: ReadonlySet<string>;
}

/** A statement. */
export type Statement =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "output"; readonly value: Expression }
  | {
    readonly kind: "if";
    readonly branches: readonly { readonly test: Expression; readonly body: readonly Statement[] }[];
    readonly otherwise: readonly Statement[];
  }
  | {
    readonly kind: "for";
    readonly target: Target;
    readonly iterable: Expression;
    readonly test: Expression | undefined;
    readonly recursive: boolean;
    readonly body: readonly Statement[];
    readonly otherwise: readonly Statement[];
  }
  | { readonly kind: "break" | "continue" }
  | { readonly kind: "set"; readonly target: Target; readonly value: Expression }
  | {
    readonly kind: "setBlock";
    readonly target: Target;
    readonly filters: readonly BlockFilter[];
    readonly body: readonly Statement[];
  }
  | {
    readonly kind: "with";
    readonly values: readonly (readonly [Target, Expression])[];
    readonly body: readonly Statement[];
  }
  | { readonly kind: "filterBlock"; readonly filters: readonly BlockFilter[]; readonly body: readonly Statement[] }
  | { readonly kind: "macro"; readonly macro: MacroDefinition }
  | {
    readonly kind: "callBlock";
    readonly target: Expression;
    readonly args: CallArguments;
    readonly caller: MacroDefinition;
  }
  | { readonly kind: "scope"; readonly body: readonly Statement[] }
  | { readonly kind: "block"; readonly isScoped: boolean; readonly body: readonly Statement[] }
  | { readonly kind: "refused"; readonly what: string };
