/**
 * Whether anything can be valid at all, as far as can be seen without trying.
 *
 * @module
 */

import type { SchemaDocument, SchemaNode } from "./document.ts";
import { keyOf, type Leaf, Leaves } from "./leaves.ts";
import { mergeArrays, mergeLeaf, mergeNumbers, mergeObjects, mergeStrings } from "./merge.ts";
import { tooFar } from "./numbers.ts";
import type { TypeName } from "./keywords.ts";
import { stringAutomaton } from "./strings.ts";
import { validateOwn } from "./validate.ts";

/** Finds out what is impossible. */
export class Feasibility {
  readonly #document: SchemaDocument;
  readonly #known = new Map<string, string | undefined>();
  readonly #active = new Set<string>();
  /** The leaves of the schemas. */
  readonly leaves: Leaves;

  /** For the schemas of a document. */
  constructor(document: SchemaDocument) {
    this.#document = document;
    this.leaves = new Leaves(document, (generated, other) => this.#disjoint(generated, other));
  }

  /** Why nothing can be valid for all of some schemas; nothing when something may be. */
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

  /** Why nothing can be valid for a leaf. */
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
    const { types, values, path } = mergeLeaf(this.#document, leaf, true);
    const where = path || "the root";
    if (values !== undefined) {
      return values.length > 0 ? undefined : `none of the values that ${where} names is valid for all it says`;
    }
    if (types.size === 0) return `the types asked for at ${where} have nothing in common`;
    const problems = [...types].map((type) => this.typeProblem(leaf, type));
    return problems.every((problem) => problem !== undefined) ? problems[0] : undefined;
  }

  /** Why no value of a type can be valid for a leaf. */
  typeProblem(leaf: Leaf, type: TypeName): string | undefined {
    const where = leaf[0]?.path || "the root";
    switch (type) {
      case "number":
      case "integer": {
        const bounds = mergeNumbers(leaf, type === "integer");
        const [low, high] = bounds.integer ? [Math.ceil(bounds.min), Math.floor(bounds.max)] : [bounds.min, bounds.max];
        if (tooFar(bounds)) return `the bounds at ${where} leave only numbers too large to be written out`;
        return low > high ? `no ${type} is within the bounds at ${where}` : undefined;
      }
      case "string": {
        const rules = mergeStrings(leaf);
        if (rules.minLength > rules.maxLength) return `no string has the length that ${where} asks for`;
        if (rules.patterns.length + rules.formats.length === 0) return undefined;
        return stringAutomaton(rules) === undefined ? `no string fits what ${where} says of it` : undefined;
      }
      case "array":
        return this.#arrayProblem(leaf, where);
      case "object":
        return this.#objectProblem(leaf, where);
      default:
        return undefined;
    }
  }

  #arrayProblem(leaf: Leaf, where: string): string | undefined {
    const { first, rest, min, max } = mergeArrays(this.#document, leaf);
    if (min > max) return `no array has the number of items that ${where} asks for`;
    for (let index = 0; index < Math.min(min, first.length); index++) {
      const problem = this.problem(first[index] ?? []);
      if (problem !== undefined) return problem;
    }
    return min > first.length && rest !== undefined ? this.problem(rest) : undefined;
  }

  #objectProblem(leaf: Leaf, where: string): string | undefined {
    const { properties, required, names, min, max } = mergeObjects(this.#document, leaf);
    if (min > max) return `no object has the number of properties that ${where} asks for`;
    for (const name of required) {
      const problem = this.problem(properties.get(name) ?? []);
      if (problem !== undefined) return `the property ${JSON.stringify(name)} is required and impossible: ${problem}`;
      if (!this.nameAllowed(names, name)) {
        return `the property ${JSON.stringify(name)} is required, and propertyNames at ${where} forbids its name`;
      }
    }
    return undefined;
  }

  /** Whether a property may have a name. */
  nameAllowed(names: readonly SchemaNode[], name: string): boolean {
    return names.length === 0 ||
      this.leaves.of(names).some((leaf) => leaf.every((node) => validateOwn(this.#document, node, name) === undefined));
  }

  /** Whether what is generated for one leaf, which is narrower than the schema, can never be valid for another. */
  #disjoint(generated: Leaf, other: Leaf): boolean {
    const own = mergeLeaf(this.#document, generated, true);
    if (own.values !== undefined) {
      return own.values.every((value) => other.some((node) => validateOwn(this.#document, node, value) !== undefined));
    }
    const both = [...new Set([...generated, ...other])];
    const merged = mergeLeaf(this.#document, both, false);
    if (merged.values !== undefined && merged.values.length === 0) return true;
    const types = [...merged.types].filter((type) =>
      own.types.has(type) || (type === "integer" && own.types.has("number")) ||
      (type === "number" && own.types.has("integer"))
    );
    return types.every((type) => {
      if (this.typeProblem(both, type) !== undefined) return true;
      if (type !== "object") return false;
      // Properties that the one needs and the other never has.
      const { properties, other: open } = mergeObjects(this.#document, generated);
      const needed = mergeObjects(this.#document, other).required;
      return open === undefined && [...needed].some((name) => !properties.has(name));
    });
  }
}
