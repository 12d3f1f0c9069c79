/**
 * From schemas to the rules of a grammar.
 *
 * @module
 */

import { SchemaContradictionError, UnsupportedKeywordError } from "../errors.ts";
import type { SchemaDocument, SchemaNode } from "./document.ts";
import { Feasibility } from "./feasible.ts";
import { chars, choice, empty, type Expr, isNever, never, optional, repeat, rule, sequence, text } from "./gbnf.ts";
import { keyOf, type Leaf } from "./leaves.ts";
import { mergeArrays, mergeLeaf, mergeNumbers, mergeObjects, mergeStrings, placeOf } from "./merge.ts";
import type { TypeName } from "./keywords.ts";
import { numberExpr } from "./numbers.ts";
import { membersExpr } from "./members.ts";
import type { Rules } from "./rules.ts";
import { anyString, freeString, stringExpr, type StringRules } from "./strings.ts";

/** Where white space may stand. */
export type Whitespace = "compact" | "flexible";

/** Writes the rules of one schema. */
export class SchemaWriter {
  readonly #document: SchemaDocument;
  readonly #rules: Rules;
  readonly #feasible: Feasibility;
  readonly #known = new Map<string, { readonly name: string; used: boolean; expr: Expr | undefined }>();
  readonly #space: Expr;
  #any: Expr | undefined;

  /** Rules are added to those given. */
  constructor(document: SchemaDocument, rules: Rules, whitespace: Whitespace) {
    this.#document = document;
    this.#rules = rules;
    this.#feasible = new Feasibility(document);
    this.#space = whitespace === "compact"
      ? empty
      : rules.add("ws", choice(empty, text(" "), sequence(text("\n"), repeat(chars([9, 9, 32, 32]), 0, 20))));
  }

  /** The grammar of what is valid for all of some schemas; something is. */
  value(nodes: readonly SchemaNode[], hint: string): Expr {
    const key = keyOf(nodes);
    const made = this.#known.get(key);
    if (made !== undefined) {
      made.used = true;
      return made.expr ?? rule(made.name);
    }
    const leaves = this.#feasible.leaves.of(nodes).filter((leaf) => this.#feasible.leafProblem(leaf) === undefined);
    if (leaves.every((leaf) => leaf.length === 0)) return this.#anyValue();
    const known = { name: this.#rules.name(hint), used: false, expr: undefined as Expr | undefined };
    this.#known.set(key, known);
    const body = choice(...leaves.map((leaf) => this.#leaf(leaf, hint)));
    // What only stands for another rule needs no name, unless it was referred to from within.
    if (!known.used && (body.kind === "rule" || (body.kind === "text" && body.text.length < 12))) {
      return known.expr = body;
    }
    this.#rules.set(known.name, body);
    return known.expr = rule(known.name);
  }

  /** Throws {@linkcode SchemaContradictionError} when nothing is valid for a schema. */
  assertFeasible(nodes: readonly SchemaNode[]): void {
    const problem = this.#feasible.problem(nodes);
    if (problem === undefined) return;
    const path = nodes[0]?.path ?? "";
    throw new SchemaContradictionError(
      `nothing can be valid for the schema${path === "" ? "" : ` at ${path}`}: ${problem}`,
      {
        path,
        expected: "a schema that something is valid for",
      },
    );
  }

  #leaf(leaf: Leaf, hint: string): Expr {
    if (leaf.length === 0) return this.#anyValue();
    const { types, values } = mergeLeaf(this.#document, leaf, true);
    if (values !== undefined) return choice(...values.map((value) => text(JSON.stringify(value))));
    const options = [...types].filter((type) => this.#feasible.typeProblem(leaf, type) === undefined);
    return choice(...options.map((type) => this.#type(leaf, type, hint)));
  }

  #type(leaf: Leaf, type: TypeName, hint: string): Expr {
    switch (type) {
      case "null":
        return text("null");
      case "boolean":
        return choice(text("true"), text("false"));
      case "number":
      case "integer":
        return this.#rules.add(type, numberExpr(mergeNumbers(leaf, type === "integer")));
      case "string":
        return this.#string(mergeStrings(leaf), hint);
      case "array":
        return this.#array(leaf, hint);
      case "object":
        return this.#object(leaf, hint);
    }
  }

  readonly #strings = new Map<string, Expr>();

  #string(rules: StringRules, hint: string): Expr {
    const key = JSON.stringify([
      rules.patterns.map(({ source }) => source),
      rules.formats,
      rules.minLength,
      String(rules.maxLength),
      rules.except,
    ]);
    let expr = this.#strings.get(key);
    if (expr === undefined) {
      const [format] = rules.formats;
      const name = rules.patterns.length === 0 && format !== undefined
        ? format
        : rules.patterns.length > 0
        ? hint
        : "string";
      this.#strings.set(key, expr = this.#rules.add(name, stringExpr(this.#rules, rules, name)));
    }
    return expr;
  }

  #array(leaf: Leaf, hint: string): Expr {
    const { first, rest, min, max } = mergeArrays(this.#document, leaf);
    const possible = first.findIndex((item) => this.#feasible.problem(item) !== undefined);
    const count = possible < 0 ? first.length : possible;
    const others = rest === undefined || possible >= 0 || this.#feasible.problem(rest) !== undefined
      ? undefined
      : this.value(rest, `${hint}-item`);
    const most = others === undefined ? Math.min(max, count) : max;
    const comma = sequence(text(","), this.#space);
    /** What follows once `done` items are written. */
    const after = (done: number): Expr => {
      if (done >= most) return empty;
      if (done >= count) {
        const more = this.#rules.add(`${hint}-more`, sequence(comma, others ?? never));
        return this.#rules.repeated(hint, more, Math.max(0, min - done), most - done, placeOf(leaf, "maxItems"));
      }
      const more = sequence(comma, this.value(first[done] ?? [], `${hint}-${done}`), after(done + 1));
      return done < min ? more : optional(this.#rules.add(`${hint}-from-${done}`, more));
    };
    const some = most === 0
      ? empty
      : sequence(count > 0 ? this.value(first[0] ?? [], `${hint}-0`) : others ?? never, after(1), this.#space);
    return sequence(
      text("["),
      this.#space,
      min === 0 && most > 0 ? optional(this.#rules.add(`${hint}-items`, some)) : some,
      text("]"),
    );
  }

  #object(leaf: Leaf, hint: string): Expr {
    const rules = mergeObjects(this.#document, leaf);
    const members: { name: string; expr: Expr; required: boolean }[] = [];
    const names = this.#names(rules.names, leaf);
    const add = (name: string, nodes: readonly SchemaNode[]) => {
      if (!this.#feasible.nameAllowed(rules.names, name)) return;
      const required = rules.required.has(name);
      const problem = this.#feasible.problem(nodes);
      if (problem !== undefined) {
        // An explicit `false`, or what only the combination of several schemas forbids, is a property that never is there.
        const [node] = nodes;
        if (nodes.length === 1 && node?.schema !== undefined && leaf.length === 1) this.assertFeasible(nodes);
        return;
      }
      const inner = this.value(nodes, `${hint}-${name}`);
      members.push({ name, required, expr: sequence(text(`${JSON.stringify(name)}:`), this.#space, inner) });
    };
    for (const [name, nodes] of rules.properties) add(name, nodes);
    const open = rules.other !== undefined && this.#feasible.problem(rules.other) === undefined
      ? rules.other
      : undefined;
    if (open !== undefined && names.only !== undefined) {
      for (const name of names.only) if (!rules.properties.has(name)) add(name, open);
    }
    const other =
      open === undefined || names.only !== undefined || rules.max <= members.filter(({ required }) => required).length
        ? undefined
        : this.#otherMember(open, { ...(names.rules ?? anyString), except: [...rules.properties.keys()] }, hint);
    const inner = membersExpr(this.#rules, {
      members,
      other,
      space: this.#space,
      hint,
      min: rules.min,
      max: rules.max,
      leaf,
    });
    return sequence(text("{"), this.#space, inner, text("}"));
  }

  /** What names may be: a few, those that keep to rules, or any. */
  #names(nodes: readonly SchemaNode[], leaf: Leaf): { only?: readonly string[]; rules?: StringRules } {
    if (nodes.length === 0) return {};
    const leaves = this.#feasible.leaves.of(nodes).filter((one) => this.#feasible.leafProblem(one) === undefined);
    const merged = leaves.map((one) => mergeLeaf(this.#document, one, false));
    if (merged.every(({ values }) => values !== undefined)) {
      return { only: merged.flatMap(({ values }) => values ?? []).filter((value) => typeof value === "string") };
    }
    const [only, ...more] = leaves;
    if (only !== undefined && more.length === 0) {
      return merged[0]?.types.has("string") ? { rules: mergeStrings(only) } : { only: [] };
    }
    const path = placeOf(leaf, "propertyNames");
    throw new UnsupportedKeywordError(
      `the schema's ${path} has several kinds of names, which can't be kept to; give one`,
      {
        path,
        expected: "a schema of strings, or an enum",
      },
    );
  }

  #otherMember(nodes: readonly SchemaNode[], names: StringRules, hint: string): Expr {
    const key = this.#string(names, `${hint}-key`);
    const value = this.value(nodes, `${hint}-other`);
    return isNever(key) ? never : this.#rules.add(`${hint}-pair`, sequence(key, text(":"), this.#space, value));
  }

  /** Any JSON value. */
  #anyValue(): Expr {
    if (this.#any !== undefined) return this.#any;
    const name = this.#rules.name("value");
    const value = this.#any = rule(name);
    const string = this.#rules.add("string", freeString(this.#rules, anyString));
    const comma = sequence(text(","), this.#space);
    const pair = this.#rules.add("pair", sequence(string, text(":"), this.#space, value));
    const list = (item: Expr) => optional(sequence(item, repeat(sequence(comma, item), 0, Infinity), this.#space));
    const object = this.#rules.add("object", sequence(text("{"), this.#space, list(pair), text("}")));
    const array = this.#rules.add("array", sequence(text("["), this.#space, list(value), text("]")));
    const number = this.#rules.add("number", numberExpr({ integer: false, min: -Infinity, max: Infinity }));
    this.#rules.set(name, choice(object, array, string, number, text("true"), text("false"), text("null")));
    return value;
  }
}
