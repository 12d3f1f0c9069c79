/**
 * From schemas to the rules of a grammar.
 *
 * @module
 */

import { SchemaContradictionError, UnsupportedKeywordError } from "../errors.ts";
import { ArrayWriter } from "./arrays.ts";
import type { SchemaDocument, SchemaNode } from "./document.ts";
import { booleansOf, Feasibility } from "./feasible.ts";
import { chars, choice, empty, type Expr, isNever, never, optional, repeat, rule, sequence, text } from "./gbnf.ts";
import { keyOf, type Leaf } from "./leaves.ts";
import {
  allowsValue,
  mergeArrays,
  mergeLeaf,
  mergeNumbers,
  mergeObjects,
  mergeStrings,
  type NameClass,
  type ObjectRules,
  placeOf,
} from "./merge.ts";
import type { TypeName } from "./keywords.ts";
import { hasManyRemainders, listedMultiples, needsDigits, numberAutomaton } from "./number_automaton.ts";
import { intervalsOf, numberExpr, type NumberRules } from "./numbers.ts";
import { membersExpr, nameGroups } from "./members.ts";
import type { Rules } from "./rules.ts";
import { anyString, automatonExpr, freeString, stringExpr, stringKey, type StringRules } from "./strings.ts";
import { fitsPattern } from "./assertions.ts";

/** The places where white space is allowed. */
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

  /**
   * Throws {@linkcode SchemaContradictionError} when nothing is valid for a schema, and {@linkcode UnsupportedKeywordError} when only values are valid whose
   * type the schema neither names nor speaks of.
   */
  assertFeasible(nodes: readonly SchemaNode[]): void {
    const problem = this.#feasible.problem(nodes);
    if (problem === undefined) return;
    const path = nodes[0]?.path ?? "";
    const { wide } = this.#feasible;
    const isOfOtherTypes = wide.leaves.of(nodes).some((leaf) =>
      wide.leafProblem(leaf) === undefined && mergeLeaf(this.#document, leaf, true).types.size === 0
    );
    if (isOfOtherTypes) {
      throw new UnsupportedKeywordError(
        `the schema${
          path === "" ? "" : ` at ${path}`
        } has no type, its keywords speak of values of one type, and these aren't valid (${problem}); name the types that are meant by type`,
        { path, expected: "a type" },
      );
    }
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
        return choice(...booleansOf(this.#document, leaf).map((value) => text(String(value))));
      case "number":
      case "integer":
        return this.#number(mergeNumbers(leaf, type === "integer"), type);
      case "string":
        return this.#string(mergeStrings(leaf), hint);
      case "array":
        return this.#array(leaf, hint);
      case "object":
        return this.#object(leaf, hint);
    }
  }

  #number(rules: NumberRules, type: TypeName): Expr {
    if (!needsDigits(rules)) return this.#rules.add(type, choice(...intervalsOf(rules).map(numberExpr)));
    if (hasManyRemainders(rules)) return this.#rules.add(type, listedMultiples(rules));
    const automaton = numberAutomaton(rules);
    return automaton === undefined ? never : automatonExpr(this.#rules, automaton, type, chars, empty);
  }

  readonly #strings = new Map<string, Expr>();

  #string(rules: StringRules, hint: string): Expr {
    const key = stringKey(rules);
    let expr = this.#strings.get(key);
    if (expr === undefined) {
      const [format] = rules.formats;
      const patterns = rules.patterns.length + rules.notPatterns.length;
      const name = patterns > 0 ? hint : format ?? "string";
      this.#strings.set(key, expr = this.#rules.add(name, stringExpr(this.#rules, rules, name)));
    }
    return expr;
  }

  #array(leaf: Leaf, hint: string): Expr {
    const rules = mergeArrays(this.#document, leaf);
    const place = (keyword: string) => placeOf(leaf, keyword);
    return new ArrayWriter({
      document: this.#document,
      rules: this.#rules,
      feasible: this.#feasible,
      space: this.#space,
      value: (nodes, name) => this.value(nodes, name),
      place,
      hint,
    }).write(rules);
  }

  #object(leaf: Leaf, hint: string): Expr {
    const ways = mergeObjects(this.#document, leaf);
    const possible = ways.filter((rules) => this.#feasible.objectProblem(rules, "") === undefined);
    return choice(...possible.map((rules) => this.#objectOf(rules, leaf, hint)).filter((expr) => !isNever(expr)));
  }

  #objectOf(rules: ObjectRules, leaf: Leaf, hint: string): Expr {
    const members: { name: string; expr: Expr; required: boolean }[] = [];
    const names = this.#names(rules.names);
    const add = (name: string, nodes: readonly SchemaNode[]) => {
      if (!this.#feasible.nameAllowed(rules.names, name)) return;
      const required = rules.required.has(name);
      if (this.#feasible.problem(nodes) !== undefined) {
        // An explicit `false`, or what only the combination of several schemas forbids, is a property that never is there.
        const [node] = nodes;
        if (nodes.length === 1 && node?.schema !== undefined && !node.made && leaf.length === 1) {
          this.assertFeasible(nodes);
        }
        return;
      }
      const inner = this.value(nodes, `${hint}-${name}`);
      members.push({ name, required, expr: sequence(text(`${JSON.stringify(name)}:`), this.#space, inner) });
    };
    for (const [name, nodes] of rules.properties) add(name, nodes);
    const others = this.#possible(rules.others);
    if (names.only !== undefined && rules.last.length === 0) {
      for (const name of names.only) {
        const own = others.find((one) => this.#isNamed(one, name));
        if (!rules.properties.has(name) && own !== undefined) add(name, own.nodes);
      }
    }
    const except = [...rules.properties.keys()];
    const mayHaveMore = rules.max > members.filter(({ required }) => required).length;
    const kinds = names.only === undefined || rules.last.length > 0 ? names.kinds : [];
    const other = (group?: string) => mayHaveMore ? this.#others(others, kinds, except, group, hint) : never;
    const free = other();
    const last = rules.last.length === 0
      ? undefined
      : this.#others(this.#possible(rules.last), kinds, except, undefined, `${hint}-last`);
    if (last !== undefined && isNever(last)) return never;
    const inner = membersExpr(this.#rules, {
      members,
      other: isNever(free) ? undefined : free,
      grouped: (group) => other(nameGroups[group]),
      last,
      space: this.#space,
      hint,
      min: rules.min,
      max: rules.max,
      leaf,
    });
    return isNever(inner) ? never : sequence(text("{"), this.#space, inner, text("}"));
  }

  #possible(classes: readonly NameClass[]): NameClass[] {
    return classes.filter(({ nodes }) => this.#feasible.problem(nodes) === undefined);
  }

  #isNamed({ match, miss }: NameClass, name: string): boolean {
    return match.every((one) => fitsPattern(one, name)) && !miss.some((one) => fitsPattern(one, name));
  }

  /** The rules that names keep to, of which one suffices; `only` where they are listed. */
  #names(nodes: readonly SchemaNode[]): { only?: readonly string[]; kinds: readonly StringRules[] } {
    if (nodes.length === 0) return { kinds: [anyString] };
    const leaves = this.#feasible.leaves.of(nodes).filter((one) => this.#feasible.leafProblem(one) === undefined);
    const merged = leaves.map((one) => ({ leaf: one, ...mergeLeaf(this.#document, one, false) }));
    if (merged.every(({ values }) => values !== undefined)) {
      const only = merged.flatMap(({ values }) => values ?? []).filter((value) => typeof value === "string");
      return { only: [...new Set(only)], kinds: [] };
    }
    const kinds = merged.flatMap(({ leaf, values, types }): StringRules[] => {
      if (values === undefined) return types.has("string") ? [mergeStrings(leaf)] : [];
      const listed = values.filter((value) => typeof value === "string" && allowsValue(this.#document, leaf, value));
      const sources = listed.map((value) => `^${RegExp.escape(value as string)}$`);
      return sources.map((source) => ({ ...anyString, patterns: [{ source, path: "" }] }));
    });
    return { kinds };
  }

  /** Other properties than the named ones, one of several classes with names of one of several kinds. */
  #others(
    classes: readonly NameClass[],
    kinds: readonly StringRules[],
    except: readonly string[],
    group: string | undefined,
    hint: string,
  ): Expr {
    const rule = (source: string) => ({ source, path: "" });
    const pairs = classes.flatMap(({ match, miss, nodes }) =>
      kinds.map((kind) => {
        const patterns = [...kind.patterns, ...match.map(rule), ...(group === undefined ? [] : [rule(group)])];
        const key = this.#string({
          ...kind,
          patterns,
          notPatterns: [...kind.notPatterns, ...miss.map(rule)],
          except: [...kind.except, ...except],
        }, `${hint}-key`);
        if (isNever(key)) return never;
        const value = this.value(nodes, `${hint}-other`);
        return this.#rules.add(`${hint}-pair`, sequence(key, text(":"), this.#space, value));
      })
    );
    return choice(...pairs.filter((pair) => !isNever(pair)));
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
