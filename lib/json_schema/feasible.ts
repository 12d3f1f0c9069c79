/**
 * Whether anything can be valid at all, as far as can be seen without trying.
 *
 * @module
 */

import { SchemaTooComplexError, UnsupportedKeywordError } from "../errors.ts";
import type { SchemaDocument, SchemaNode } from "./document.ts";
import type { JsonValue } from "./json.ts";
import type { TypeName } from "./keywords.ts";
import { keyOf, type Leaf, Leaves } from "./leaves.ts";
import {
  allowsValue,
  isInClass,
  mergeArrays,
  mergeLeaf,
  mergeNumbers,
  mergeObjects,
  mergeStrings,
  type NameClass,
  type ObjectRules,
} from "./merge.ts";
import { hasFewDigits, hasManyRemainders, needsDigits, numberAutomaton } from "./number_automaton.ts";
import { intervalsOf, type NumberRules } from "./numbers.ts";
import { stringAutomaton, type StringRules } from "./strings.ts";
import { validate } from "./validate.ts";

/** Finds out what is impossible. */
export class Feasibility {
  readonly #document: SchemaDocument;
  readonly #narrow: boolean;
  readonly #known = new Map<string, string | undefined>();
  readonly #active = new Set<string>();
  #wide: Feasibility | undefined;
  /** The leaves of the schemas. */
  readonly leaves: Leaves;

  /** For the schemas of a document: for what is generated, which is narrower than the schema, or for all that is valid. */
  constructor(document: SchemaDocument, narrow = true) {
    this.#document = document;
    this.#narrow = narrow;
    this.leaves = new Leaves(document, {
      disjoint: (generated, other) => this.#disjoint(generated, other),
      impossible: (leaf) => this.#impossible(leaf),
      impossibleAtAll: (leaf) => this.wide.#impossible(leaf),
    });
  }

  /** The same for all that is valid. */
  get wide(): Feasibility {
    return this.#narrow ? this.#wide ??= new Feasibility(this.#document, false) : this;
  }

  /** Returns why nothing can be valid for all of some schemas; nothing when something may be. */
  problem(nodes: readonly SchemaNode[]): string | undefined {
    const key = keyOf(nodes);
    if (this.#known.has(key) || this.#active.has(key)) return this.#known.get(key);
    this.#active.add(key);
    const problems = this.leaves.of(nodes).map((leaf) => this.leafProblem(leaf));
    this.#active.delete(key);
    const found = problems.every((problem) => problem !== undefined) ? problems[0] ?? "nothing is allowed" : undefined;
    this.#known.set(key, found);
    return found;
  }

  readonly #leaves = new WeakMap<Leaf, { readonly problem: string | undefined }>();

  /** Returns why nothing can be valid for a leaf. */
  leafProblem(leaf: Leaf): string | undefined {
    let known = this.#leaves.get(leaf);
    if (known === undefined) {
      known = { problem: this.#leafProblem(leaf) };
      // What was found while a schema that this one holds was asked for is not yet sure.
      if (this.#active.size === 0) this.#leaves.set(leaf, known);
    }
    return known.problem;
  }

  #leafProblem(leaf: Leaf): string | undefined {
    const forbidden = leaf.find(({ schema }) => schema === undefined);
    if (forbidden !== undefined) return `${forbidden.path || "the root"} is false`;
    const { types, values, path } = mergeLeaf(this.#document, leaf, this.#narrow);
    const where = path || "the root";
    if (values !== undefined) {
      return values.length > 0 ? undefined : `none of the values that ${where} names is valid for all it says`;
    }
    if (types.size === 0) return `the types asked for at ${where} have nothing in common`;
    const problems = [...types].map((type) => this.typeProblem(leaf, type));
    return problems.every((problem) => problem !== undefined) ? problems[0] : undefined;
  }

  /** Returns why no value of a type can be valid for a leaf. */
  typeProblem(leaf: Leaf, type: TypeName): string | undefined {
    const where = leaf[0]?.path || "the root";
    switch (type) {
      case "null":
        return allowsValue(this.#document, leaf, null) ? undefined : `null isn't allowed at ${where}`;
      case "boolean":
        return booleansOf(this.#document, leaf).length > 0 ? undefined : `no boolean is allowed at ${where}`;
      case "number":
      case "integer":
        return this.#numberProblem(mergeNumbers(leaf, type === "integer"), type, where);
      case "string": {
        const rules = this.#strings(leaf);
        if (rules.minLength > rules.maxLength) return `no string has the length that ${where} asks for`;
        if (rules.patterns.length + rules.notPatterns.length + rules.formats.length + rules.except.length === 0) {
          return undefined;
        }
        return stringAutomaton(rules) === undefined ? `no string fits what ${where} says of it` : undefined;
      }
      case "array":
        return this.#arrayProblem(leaf, where);
      case "object":
        return this.#objectProblem(leaf, where);
    }
  }

  /** Returns the rules of strings, without formats whose patterns are narrower here than elsewhere. */
  #strings(leaf: Leaf): StringRules {
    const rules = mergeStrings(leaf);
    return this.#narrow ? rules : { ...rules, formats: rules.formats.filter((format) => exactFormats.has(format)) };
  }

  #numberProblem(rules: NumberRules, type: TypeName, where: string): string | undefined {
    if (intervalsOf(rules).length === 0 || (rules.fraction && rules.integer)) {
      return `no ${type} is within the bounds at ${where}`;
    }
    // Only numbers with few digits are generated.
    const isExact = this.#narrow || hasFewDigits(rules);
    if (!isExact || !needsDigits(rules) || hasManyRemainders(rules)) return undefined;
    return numberAutomaton(rules) === undefined
      ? `no ${type} within the bounds at ${where} is such a multiple`
      : undefined;
  }

  #arrayProblem(leaf: Leaf, where: string): string | undefined {
    const { first, rest, min, max, contains } = mergeArrays(this.#document, leaf, this.#narrow);
    if (min > max) return `no array has the number of items that ${where} asks for`;
    for (let index = 0; index < Math.min(min, first.length); index++) {
      const problem = this.problem(first[index] ?? []);
      if (problem !== undefined) return problem;
    }
    for (const { node, min: count, max: most, from } of contains) {
      if (count > most || count + from > max) return `no array contains as many items as ${where} asks for`;
      if (count === 0) continue;
      const places = [...first.slice(from), ...(rest === undefined ? [] : [rest])];
      if (places.every((nodes) => this.problem([...nodes, node]) !== undefined)) {
        return `no item is what ${where} asks for by contains`;
      }
    }
    return min > first.length && rest !== undefined ? this.problem(rest) : undefined;
  }

  #objectProblem(leaf: Leaf, where: string): string | undefined {
    const problems = mergeObjects(this.#document, leaf, this.#narrow).map((rules) => this.objectProblem(rules, where));
    if (problems.length === 0) return `no object is allowed at ${where}`;
    return problems.every((problem) => problem !== undefined) ? problems[0] : undefined;
  }

  /** Returns why no object can keep to rules. */
  objectProblem(
    { properties, required, names, others, last, min, max }: ObjectRules,
    where: string,
  ): string | undefined {
    if (min > max) return `no object has the number of properties that ${where} asks for`;
    if (required.size > max) return `more properties are required at ${where} than are allowed`;
    for (const name of required) {
      const problem = this.problem(properties.get(name) ?? []);
      if (problem !== undefined) return `the property ${JSON.stringify(name)} is required and impossible: ${problem}`;
      if (!this.nameAllowed(names, name)) {
        return `the property ${JSON.stringify(name)} is required, and propertyNames at ${where} forbids its name`;
      }
    }
    if (last.length > 0 && last.every((one) => this.#classProblem(one))) {
      return `another property is required at ${where}, and none is allowed`;
    }
    if (min <= required.size || others.some((one) => !this.#classProblem(one))) return undefined;
    const possible = [...properties].filter(([name, nodes]) =>
      this.problem(nodes) === undefined && this.nameAllowed(names, name)
    );
    return possible.length < min ? `fewer properties are possible at ${where} than are asked for` : undefined;
  }

  #classProblem({ nodes }: NameClass): boolean {
    return this.problem(nodes) !== undefined;
  }

  /** Whether a property may have a name. */
  nameAllowed(names: readonly SchemaNode[], name: string): boolean {
    return names.every((node) => validate(this.#document, node, name) === undefined);
  }

  /** Whether it is seen at once that nothing is valid for a leaf: no type, no value, or no value for a property that must be there. */
  #impossible(leaf: Leaf): boolean {
    if (leaf.some(({ schema }) => schema === undefined)) return true;
    const { types, values } = mergeLeaf(this.#document, leaf, this.#narrow);
    if (values !== undefined) return values.length === 0;
    if (types.size === 0) return true;
    if (types.size > 1 || !types.has("object")) return false;
    return mergeObjects(this.#document, leaf, this.#narrow).every(({ properties, required }) =>
      [...required].some((name) => this.#hasNoValue(properties.get(name) ?? []))
    );
  }

  #hasNoValue(nodes: readonly SchemaNode[]): boolean {
    if (nodes.some(({ schema }) => schema === undefined)) return true;
    const naming = nodes.find(({ schema }) => schema?.["const"] !== undefined || schema?.["enum"] !== undefined);
    if (naming === undefined || nodes.length === 1) return false;
    const { const: only, enum: list } = naming.schema ?? {};
    const values = only === undefined ? list as readonly JsonValue[] : [only];
    return !values.some((value) => nodes.every((node) => validate(this.#document, node, value) === undefined));
  }

  /** Whether what is generated for one leaf, which is narrower than the schema, can never be valid for another. */
  #disjoint(generated: Leaf, other: Leaf): boolean {
    try {
      return this.#areDisjoint(generated, other);
    } catch (error) {
      if (error instanceof UnsupportedKeywordError || error instanceof SchemaTooComplexError) return false;
      throw error;
    }
  }

  #areDisjoint(generated: Leaf, other: Leaf): boolean {
    const own = mergeLeaf(this.#document, generated, this.#narrow);
    if (own.values !== undefined) return own.values.every((value) => !allowsValue(this.#document, other, value));
    const both = [...new Set([...generated, ...other])];
    const merged = mergeLeaf(this.#document, both, false);
    if (merged.values !== undefined && merged.values.length === 0) return true;
    const types = [...merged.types].filter((type) =>
      own.types.has(type) || (type === "integer" && own.types.has("number")) ||
      (type === "number" && own.types.has("integer"))
    );
    return types.every((type) =>
      this.wide.typeProblem(both, type) !== undefined || (type === "object" && this.#neverHas(generated, other))
    );
  }

  /** Whether a leaf's objects never have a property that another one's need. */
  #neverHas(generated: Leaf, other: Leaf): boolean {
    return mergeObjects(this.#document, generated, this.#narrow).every(({ properties, others, last }) =>
      mergeObjects(this.#document, other, false).every(({ required }) =>
        [...required].some((name) => !properties.has(name) && ![...others, ...last].some((one) => isInClass(one, name)))
      )
    );
  }
}

/** Formats of which the pattern here allows all that the usual validators allow, or nearly so. */
const exactFormats = new Set(["date", "time", "date-time", "uuid", "ipv4", "ipv6", "duration"]);

/** Returns the booleans that are valid for a leaf. */
export function booleansOf(document: SchemaDocument, leaf: Leaf): boolean[] {
  return [true, false].filter((value) => allowsValue(document, leaf, value));
}
