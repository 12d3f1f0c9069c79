/**
 * Schemas that speak of the same value, taken apart: each way to be valid is a list of schemas of which only their own keywords count.
 *
 * @module
 */

import { JsonSchemaError, SchemaTooComplexError, UnsupportedKeywordError } from "../errors.ts";
import type { SchemaDocument, SchemaNode } from "./document.ts";
import { isArray } from "./json.ts";

/** One way to be valid: every schema's own keywords count. A `false` among them is why nothing is valid so. */
export type Leaf = readonly SchemaNode[];

/** Says whether what is generated for one leaf can never be valid for another. */
export type Disjoint = (generated: Leaf, other: Leaf) => boolean;

const MAX_LEAVES = 1000;

/** An `anyOf` or `oneOf` of which a branch must be chosen. */
interface Choice {
  readonly node: SchemaNode;
  readonly keyword: "anyOf" | "oneOf";
  readonly active: ReadonlySet<number>;
}

interface State {
  readonly atoms: Set<SchemaNode>;
  readonly choices: Choice[];
}

/** Finds the leaves of schemas, and keeps them. */
export class Leaves {
  readonly #document: SchemaDocument;
  readonly #disjoint: Disjoint;
  readonly #known = new Map<string, readonly Leaf[]>();
  readonly #checked = new Set<string>();

  /** `disjoint` is asked about the branches of each `oneOf`. */
  constructor(document: SchemaDocument, disjoint: Disjoint) {
    this.#document = document;
    this.#disjoint = disjoint;
  }

  /** The leaves of schemas that all speak of the same value. */
  of(nodes: readonly SchemaNode[]): readonly Leaf[] {
    const key = keyOf(nodes);
    let leaves = this.#known.get(key);
    if (leaves === undefined) {
      const state: State = { atoms: new Set(), choices: [] };
      for (const node of nodes) this.#collect(node, state, new Set());
      const found: Leaf[] = [];
      const keys = new Set<string>();
      this.#alternatives(state, (leaf) => {
        const leafKey = keyOf(leaf);
        if (keys.has(leafKey)) return;
        keys.add(leafKey);
        found.push(leaf);
        if (found.length > MAX_LEAVES) this.#tooMany(nodes);
      });
      this.#known.set(key, leaves = found);
    }
    return leaves;
  }

  #tooMany(nodes: readonly SchemaNode[]): never {
    const path = nodes[0]?.path ?? "";
    throw new SchemaTooComplexError(
      `anyOf and oneOf at ${
        path || "the schema's root"
      } can be combined in more than ${MAX_LEAVES} ways; have fewer of them`,
      { path, expected: `at most ${MAX_LEAVES} ways` },
    );
  }

  /** Adds a schema and those it brings in. `active` are the schemas on the way here: meeting one again would never end. */
  #collect(node: SchemaNode, state: State, active: ReadonlySet<number>): void {
    if (active.has(node.id)) {
      throw new JsonSchemaError(
        `the schema at ${
          node.path || "its root"
        } is defined by itself, which says nothing; let it refer to itself from within a property or an item only`,
        { path: node.path, expected: "a schema that ends" },
      );
    }
    const { schema } = node;
    if (schema === undefined) return void state.atoms.add(node);
    const here = new Set(active).add(node.id);
    for (const keyword of Object.keys(schema)) {
      if (keyword === "$ref") this.#collect(this.#document.target(node), state, here);
      else if (keyword === "anyOf" || keyword === "oneOf") state.choices.push({ node, keyword, active: here });
      else if (keyword === "allOf") {
        const list = schema[keyword];
        if (isArray(list)) list.forEach((_, i) => this.#collect(this.#document.child(node, "allOf", i), state, here));
      } else state.atoms.add(node);
    }
  }

  #alternatives({ atoms, choices }: State, found: (leaf: Leaf) => void): void {
    const [choice, ...rest] = choices;
    if (choice === undefined) return found([...atoms]);
    const { node, keyword, active } = choice;
    const list = node.schema?.[keyword];
    const branches = (isArray(list) ? list : []).map((_, index) => {
      const state: State = { atoms: new Set(atoms), choices: [...rest] };
      this.#collect(this.#document.child(node, keyword, index), state, active);
      const leaves: Leaf[] = [];
      this.#alternatives(state, (leaf) => {
        leaves.push(leaf);
        if (leaves.length > MAX_LEAVES) this.#tooMany([node]);
      });
      return leaves;
    });
    if (keyword === "oneOf") this.#checkDisjoint(node, branches);
    for (const leaves of branches) leaves.forEach(found);
  }

  #checkDisjoint(node: SchemaNode, branches: readonly (readonly Leaf[])[]): void {
    const key = `${node.id}:${branches.map((leaves) => leaves.map(keyOf).join("/")).join()}`;
    if (this.#checked.has(key)) return;
    this.#checked.add(key);
    branches.forEach((leaves, i) =>
      branches.forEach((others, j) => {
        if (i === j || leaves.every((leaf) => others.every((other) => this.#disjoint(leaf, other)))) return;
        const path = `${node.path}/oneOf`;
        throw new UnsupportedKeywordError(
          `a value may be valid for both ${path}/${Math.min(i, j)} and ${path}/${
            Math.max(i, j)
          }, which oneOf forbids and a grammar can't tell; use anyOf, or tell them apart by a const property or their types`,
          { path, value: "oneOf", expected: "branches that exclude each other" },
        );
      })
    );
  }
}

/** A key that is the same for the same schemas. */
export function keyOf(nodes: readonly SchemaNode[]): string {
  if (nodes.length < 2) return String(nodes[0]?.id ?? "");
  return [...new Set(nodes.map(({ id }) => id))].sort((a, b) => a - b).join();
}
