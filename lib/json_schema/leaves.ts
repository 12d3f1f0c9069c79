/**
 * Schemas that speak of the same value, taken apart: each way to be valid is a list of schemas of which only their own keywords count.
 *
 * @module
 */

import { JsonSchemaError, SchemaTooComplexError, UnsupportedKeywordError } from "../errors.ts";
import type { SchemaDocument, SchemaNode } from "./document.ts";
import { isArray, isObject, type JsonObject, type JsonValue } from "./json.ts";
import { internal, typeNames } from "./keywords.ts";
import { finiteValues, negationsOf } from "./negate.ts";
import { itemKeywords, validate } from "./validate.ts";
import { countWork } from "./work.ts";

/** One way to be valid: every schema's own keywords count. A `false` among them is why nothing is valid so. */
export type Leaf = readonly SchemaNode[];

/** Questions about leaves that are answered elsewhere. */
export interface LeafFacts {
  /** Whether what is generated for one leaf can never be valid for another. */
  disjoint(generated: Leaf, other: Leaf): boolean;
  /** Whether it is seen at once that nothing is generated for all of some schemas' own keywords. */
  impossible(leaf: Leaf): boolean;
  /** Whether it is seen at once that nothing at all is valid for them. */
  impossibleAtAll(leaf: Leaf): boolean;
}

const MAX_LEAVES = 1000;
/** Branches that are looked at for one value, and for all: conversions are synchronous, and have to end soon. */
const MAX_BRANCHES = 20_000;
const MAX_ALL_BRANCHES = 40_000;

/** A branch of a choice: schemas that are taken as they are, and schemas that are taken apart. */
interface Branch {
  readonly atoms: readonly SchemaNode[];
  readonly nodes: readonly SchemaNode[];
  readonly silent: boolean;
}

/** Branches of which one must be chosen. */
interface Choice {
  readonly path: string;
  readonly branches: () => readonly Branch[];
  /** The branches must exclude each other. */
  readonly exclusive: boolean;
  readonly active: ReadonlySet<number>;
}

interface State {
  readonly atoms: Set<SchemaNode>;
  readonly seen: Set<string>;
  readonly choices: Choice[];
}

/** Finds the leaves of schemas, and keeps them. */
export class Leaves {
  readonly #document: SchemaDocument;
  readonly #facts: LeafFacts;
  readonly #known = new Map<string, readonly Leaf[]>();
  readonly #disjoint = new Map<string, boolean>();
  #branches = 0;
  #allBranches = 0;
  /** Whether all leaves are looked for, rather than those for which something is generated. */
  #all = false;

  /** For the schemas of a document. */
  constructor(document: SchemaDocument, facts: LeafFacts) {
    this.#document = document;
    this.#facts = facts;
  }

  /** Returns the leaves of schemas that all speak of the same value. */
  of(nodes: readonly SchemaNode[]): readonly Leaf[] {
    const key = keyOf(nodes);
    let leaves = this.#known.get(key);
    if (leaves === undefined) {
      this.#branches = 0;
      this.#known.set(key, leaves = this.#finite(nodes) ?? this.#leaves(nodes, new Set()));
    }
    return leaves;
  }

  #leaves(nodes: readonly SchemaNode[], active: ReadonlySet<number>): readonly Leaf[] {
    const state: State = { atoms: new Set(), seen: new Set(), choices: [] };
    for (const node of nodes) this.#collect(node, state, active, false);
    const found = new Map<string, Leaf>();
    this.#alternatives(state, (leaf) => {
      found.set(keyOf(leaf), leaf);
      if (found.size > MAX_LEAVES) tooMany(nodes[0]?.path ?? "");
    });
    return [...found.values()];
  }

  /** Where some values are named, those that are valid for all: any keyword can be kept to. */
  #finite(nodes: readonly SchemaNode[]): readonly Leaf[] | undefined {
    const naming = this.#naming(nodes);
    if (naming === undefined) return undefined;
    const { schema = {} } = naming;
    const list = schema["const"] !== undefined ? [schema["const"]] : schema["enum"] as readonly JsonValue[];
    const values = list.filter((value) => nodes.every((node) => validate(this.#document, node, value) === undefined));
    return [[this.#document.make(naming, `enum of ${keyOf(nodes)}`, () => ({ enum: values }))]];
  }

  /** A schema that names values, among those that count in any case. */
  #naming(nodes: readonly SchemaNode[]): SchemaNode | undefined {
    const todo = [...nodes];
    const seen = new Set<SchemaNode>();
    for (const node of todo) {
      const { schema } = node;
      if (schema === undefined || seen.has(node)) continue;
      seen.add(node);
      if (schema["const"] !== undefined || schema["enum"] !== undefined) return node;
      for (const keyword of ["$ref", "$dynamicRef"] as const) {
        if (schema[keyword] !== undefined) todo.push(this.#document.target(node, keyword));
      }
      todo.push(...this.#children(node, "allOf"));
    }
    return undefined;
  }

  #children(node: SchemaNode, keyword: string): SchemaNode[] {
    const list = node.schema?.[keyword];
    return isArray(list) ? list.map((_, index) => this.#document.child(node, keyword, index)) : [];
  }

  /** Adds a schema and those it brings in. `active` are the schemas on the way here: meeting one again would never end. */
  #collect(node: SchemaNode, state: State, active: ReadonlySet<number>, silent: boolean): void {
    if (active.has(node.id)) {
      throw new JsonSchemaError(
        `the schema at ${
          node.path || "its root"
        } is defined by itself, which says nothing; let it refer to itself from within a property or an item only`,
        { path: node.path, expected: "a schema that ends" },
      );
    }
    const key = `${node.id} ${silent}`;
    if (state.seen.has(key)) return;
    state.seen.add(key);
    const { schema } = node;
    if (schema === undefined) return void state.atoms.add(node);
    const here = new Set(active).add(node.id);
    const values = finiteValues(this.#document, node);
    if (values !== undefined) {
      const named = this.#document.make(node, "enum", () => ({ enum: values }));
      return void state.atoms.add(silent ? this.#document.silenced(named) : named);
    }
    if (schema["unevaluatedProperties"] !== undefined || schema["unevaluatedItems"] !== undefined) {
      return void state.choices.push(this.#unevaluated(node, schema, here, silent));
    }
    for (const keyword of Object.keys(schema)) this.#keyword(keyword, node, state, here, silent);
  }

  #keyword(keyword: string, node: SchemaNode, state: State, active: ReadonlySet<number>, silent: boolean): void {
    const document = this.#document;
    const path = `${node.path}/${keyword}`;
    const choose = (branches: () => readonly Branch[], exclusive = false) =>
      state.choices.push({ path, branches, exclusive, active });
    switch (keyword) {
      case "$ref":
      case "$dynamicRef":
        return this.#collect(document.target(node, keyword), state, active, silent);
      case "allOf":
        return this.#children(node, keyword).forEach((child) => this.#collect(child, state, active, silent));
      case "anyOf":
      case "oneOf": {
        const children = this.#children(node, keyword);
        const different = keyword === "anyOf" ? new Set(children) : children;
        choose(() => [...different].map((child) => branch([child], silent)), keyword === "oneOf");
        return;
      }
      case "not":
        choose(() => negationsOf(document, document.child(node, "not"), path).map((nodes) => branch(nodes, true)));
        return;
      case "if":
        if (node.schema?.["then"] === undefined && node.schema?.["else"] === undefined) return;
        choose(() => this.#conditional(node, silent));
        return;
      case "then":
      case "else":
        return;
      case "dependentRequired":
      case "dependentSchemas":
      case "dependencies":
        for (const name of Object.keys(node.schema?.[keyword] as JsonObject)) {
          choose(() => this.#dependent(node, keyword, name, silent));
        }
        return;
      default:
        state.atoms.add(silent ? document.silenced(node) : node);
    }
  }

  #conditional(node: SchemaNode, silent: boolean): Branch[] {
    const condition = this.#document.child(node, "if");
    const then = node.schema?.["then"] === undefined ? [] : [this.#document.child(node, "then")];
    const otherwise = node.schema?.["else"] === undefined ? [] : [this.#document.child(node, "else")];
    return [
      branch([condition, ...then], silent),
      ...negationsOf(this.#document, condition, `${node.path}/if`).map((nodes) =>
        this.#silently(nodes, otherwise, silent)
      ),
    ];
  }

  /** A branch of schemas that evaluate nothing, and of others. */
  #silently(nodes: readonly SchemaNode[], others: readonly SchemaNode[], silent: boolean): Branch {
    if (!this.#document.usesUnevaluated) return branch([...nodes, ...others], silent);
    const quiet = nodes.map((node) => this.#document.silenced(node));
    return branch([...quiet, ...others], silent);
  }

  #dependent(node: SchemaNode, keyword: string, name: string, silent: boolean): Branch[] {
    const document = this.#document;
    const one = (node.schema?.[keyword] as JsonObject)[name];
    const type = "object";
    const lacks = document.make(node, `lacks ${name}`, () => ({ type, [internal.lacks]: [name] }));
    const required = [name, ...(isArray(one) ? one : [])];
    const has = document.make(node, `has ${required.join("\0")}`, () => ({ type, required }));
    const then = isArray(one) ? [] : [document.child(node, keyword, name)];
    const types = typeNames.filter((other) => other !== type && other !== "integer");
    const other = document.make(node, "no object", () => ({ type: types }));
    return [branch([lacks], silent), branch([has, ...then], silent), branch([other], silent)];
  }

  /** Each way to be valid for the rest of a schema says which properties and items are evaluated. */
  #unevaluated(node: SchemaNode, schema: JsonObject, active: ReadonlySet<number>, silent: boolean): Choice {
    const document = this.#document;
    const branches = () => {
      const { unevaluatedProperties: properties, unevaluatedItems: items, ...rest } = schema;
      const base = document.rewrite(node, "evaluated", () => rest);
      return this.#leaves([base], active).map((leaf): Branch => {
        const others = [
          ...(properties === undefined ? [] : [unevaluatedProperties(leaf, properties)]),
          ...(items === undefined ? [] : [unevaluatedItems(leaf, items)]),
        ].filter((one) => one !== undefined);
        const made = others.map((one, at) => document.rewrite(node, `unevaluated ${at} ${keyOf(leaf)}`, () => one));
        return { atoms: [...leaf, ...made].map((atom) => silent ? document.silenced(atom) : atom), nodes: [], silent };
      });
    };
    return { path: node.path, branches, exclusive: false, active };
  }

  #alternatives({ atoms, seen, choices }: State, found: (leaf: Leaf) => void): void {
    const [choice, ...rest] = choices;
    if (choice === undefined) return found([...atoms]);
    const ways = (branch: Branch, more: readonly SchemaNode[] = []): Leaf[] => {
      countWork(1);
      if (++this.#branches > MAX_BRANCHES || ++this.#allBranches > MAX_ALL_BRANCHES) tooMany(choice.path);
      const state: State = { atoms: new Set(atoms), seen: new Set(seen), choices: [...rest] };
      for (const atom of branch.atoms) state.atoms.add(atom);
      for (const node of branch.nodes) this.#collect(node, state, choice.active, branch.silent || node.silent);
      for (const node of more) this.#collect(node, state, choice.active, true);
      const atomsSoFar = [...state.atoms];
      if (this.#all ? this.#facts.impossibleAtAll(atomsSoFar) : this.#facts.impossible(atomsSoFar)) return [];
      const leaves: Leaf[] = [];
      this.#alternatives(state, (leaf) => {
        leaves.push(leaf);
        if (leaves.length > MAX_LEAVES) tooMany(choice.path);
      });
      return leaves;
    };
    const branches = choice.branches();
    const all = branches.map((branch) => ways(branch));
    const everything = choice.exclusive && !this.#all ? this.#allOf(() => branches.map((branch) => ways(branch))) : all;
    const exclusive = choice.exclusive
      ? all.map((leaves, index) =>
        this.#exclusive(choice, index, leaves, everything, (others) => {
          const negated = others.flatMap((at) => (branches[at] as Branch).nodes).map((node) =>
            this.#document.not(node)
          );
          return ways(branches[index] as Branch, negated);
        })
      )
      : all;
    // Something must say why nothing is valid.
    if (all.length === 0 || all.every((leaves) => leaves.length === 0)) {
      return found([...atoms, this.#document.nothing(choice.path)]);
    }
    for (const leaves of exclusive) leaves.forEach(found);
  }

  #allOf<T>(find: () => T): T {
    const before = this.#all;
    this.#all = true;
    try {
      return find();
    } finally {
      this.#all = before;
    }
  }

  /** The leaves of a branch without what is valid for other ones. What is added may be wider than what was there, so that each outcome is looked at. */
  #exclusive(
    choice: Choice,
    index: number,
    first: readonly Leaf[],
    everything: readonly (readonly Leaf[])[],
    without: (others: readonly number[]) => Leaf[],
  ): readonly Leaf[] {
    let leaves = first;
    const others = new Set<number>();
    for (;;) {
      const more = everything.flatMap((other, at) =>
        at === index || others.has(at) || this.#areDisjoint(leaves, other) ? [] : [at]
      );
      if (more.length === 0) return leaves;
      for (const at of more) others.add(at);
      leaves = this.#excluding(choice, index, [...others], () => without([...others]));
    }
  }

  #excluding(choice: Choice, index: number, others: readonly number[], ways: () => Leaf[]): Leaf[] {
    try {
      return ways();
    } catch (error) {
      if (!(error instanceof UnsupportedKeywordError || error instanceof SchemaTooComplexError)) throw error;
      const { path } = choice;
      const [first, second] = [index, others[0] as number].sort((a, b) => a - b);
      throw new UnsupportedKeywordError(
        `a value may be valid for both ${path}/${first} and ${path}/${second}, which oneOf forbids and no grammar can express here (${error.message}); use anyOf, or tell them apart by a const property or their types`,
        { path, value: "oneOf", expected: "branches that exclude each other", cause: error },
      );
    }
  }

  #areDisjoint(leaves: readonly Leaf[], others: readonly Leaf[]): boolean {
    const key = `${leaves.map(keyOf).join("/")} ${others.map(keyOf).join("/")}`;
    let known = this.#disjoint.get(key);
    if (known === undefined) {
      known = leaves.every((leaf) => others.every((other) => this.#facts.disjoint(leaf, other)));
      this.#disjoint.set(key, known);
    }
    return known;
  }
}

function branch(nodes: readonly SchemaNode[], silent: boolean): Branch {
  return { atoms: [], nodes, silent };
}

function tooMany(path: string): never {
  throw new SchemaTooComplexError(
    `anyOf, oneOf, not and if at ${
      path || "the schema's root"
    } can be combined in more than ${MAX_LEAVES} ways; have fewer of them`,
    { path, expected: `at most ${MAX_LEAVES} ways` },
  );
}

/** Returns the schema of the properties that a leaf doesn't evaluate; `undefined` where it evaluates all. */
function unevaluatedProperties(leaf: Leaf, rest: JsonValue): JsonObject | undefined {
  const speaking = leaf.filter(({ silent }) => !silent);
  if (speaking.some(({ schema }) => schema?.["additionalProperties"] !== undefined)) return undefined;
  const names = (keyword: string) =>
    Object.fromEntries(
      speaking.flatMap(({ schema }) => isObject(schema?.[keyword]) ? Object.keys(schema[keyword]) : []).map((
        name,
      ) => [name, true]),
    );
  return { properties: names("properties"), patternProperties: names("patternProperties"), additionalProperties: rest };
}

/** Returns the schema of the items that a leaf doesn't evaluate; `undefined` where it evaluates all. */
function unevaluatedItems(leaf: Leaf, rest: JsonValue): JsonObject | undefined {
  const speaking = leaf.filter(({ silent }) => !silent);
  if (speaking.some(({ schema }) => schema?.[itemKeywords(schema ?? {}).rest] !== undefined)) return undefined;
  const lengths = speaking.map(({ schema }) => {
    const list = schema?.[itemKeywords(schema).first];
    return isArray(list) ? list.length : 0;
  });
  const length = Math.max(0, ...lengths);
  return length === 0 ? { items: rest } : { prefixItems: new Array<JsonValue>(length).fill(true), items: rest };
}

/** Returns a key that is the same for the same schemas. */
export function keyOf(nodes: readonly SchemaNode[]): string {
  if (nodes.length < 2) return String(nodes[0]?.id ?? "");
  return [...new Set(nodes.map(({ id }) => id))].sort((a, b) => a - b).join();
}
