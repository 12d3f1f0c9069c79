import { JsonSchemaError, UnsupportedKeywordError } from "../errors.ts";
import { isArray, isObject, type JsonObject, type JsonValue, type PlainSchema } from "./json.ts";
import { escapePointer } from "./pointer.ts";
import { constraintsOf, type Dialect, dialectOf } from "./keywords.ts";
import { shareEqual } from "./share.ts";

/** A schema within a document, under a dynamic scope. The same schema under the same scope is always the same node. */
export interface SchemaNode {
  /** Unique within the document. */
  readonly id: number;
  /** Its keywords that constrain values, checked; `true` and `false` are `{}` and `undefined`. */
  readonly schema: JsonObject | undefined;
  /** The schema as it stands in the document. */
  readonly source: JsonValue;
  /** Where it is, as a JSON Pointer; of several equal ones, where the first is. */
  readonly path: string;
  /** Targets of `$dynamicRef`. */
  readonly scope: DynamicScope;
  /** Whether the library made it, rather than the schema's author. */
  readonly made: boolean;
  /** Whether it evaluates no properties and items, as what is inside `not` doesn't. */
  readonly silent: boolean;
}

/** The schemas that dynamic anchors lead to: those of the outermost resources on the way. */
export interface DynamicScope {
  readonly id: number;
  readonly anchors: ReadonlyMap<string, Place>;
}

const maps = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
const lists = ["allOf", "anyOf", "oneOf", "prefixItems"];
const singles = [
  "items",
  "additionalItems",
  "additionalProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "unevaluatedProperties",
  "unevaluatedItems",
];

interface Place {
  readonly value: JsonObject;
  readonly path: string;
  readonly base: string;
  readonly dialect: Dialect;
}

const NO_BASE = "schema:/";

/** A schema with all that it refers to. */
export class SchemaDocument {
  readonly #root: PlainSchema;
  readonly #nodes = new Map<JsonObject, Map<number, SchemaNode>>();
  readonly #places = new Map<JsonObject, Place>();
  readonly #named = new Map<string, Place>();
  readonly #dynamic = new Map<string, Map<string, Place>>();
  readonly #scopes = new Map<string, DynamicScope>();
  readonly #never = new Map<string, SchemaNode>();
  readonly #made = new Map<string, SchemaNode>();
  readonly #outermost: DynamicScope = { id: 0, anchors: new Map() };
  #ids = 1;
  #dialect: Dialect = "any";
  /** Whether any schema has `unevaluatedProperties` or `unevaluatedItems`. */
  usesUnevaluated = false;
  /** The schema that allows everything. */
  readonly always: SchemaNode = {
    id: 0,
    schema: {},
    source: true,
    path: "",
    scope: this.#outermost,
    made: true,
    silent: false,
  };
  /** The whole schema. */
  readonly root: SchemaNode;

  /** Takes plain data, and the schemas that it may refer to, by their addresses. */
  constructor(root: PlainSchema, others: ReadonlyMap<string, PlainSchema> = new Map()) {
    this.#root = isObject(root) ? shareEqual(root) : root;
    const dialect = isObject(root) ? dialectOf(root["$schema"]) ?? "any" : "any";
    this.#dialect = dialect;
    for (const [address, schema] of others) {
      const base = resolve(address.replace(/#$/, ""), NO_BASE);
      if (!isObject(schema)) continue;
      const own = dialectOf(schema["$schema"]) ?? dialect;
      this.#named.set(base, { value: schema, path: `${base}#`, base, dialect: own });
      this.#index(schema, `${base}#`, base, own);
    }
    if (isObject(this.#root)) {
      this.#named.set(NO_BASE, { value: this.#root, path: "", base: NO_BASE, dialect });
      this.#index(this.#root, "", NO_BASE, dialect);
    }
    this.root = this.node(this.#root, "", this.#outermost);
  }

  /** Returns the node of a schema inside. Throws {@linkcode JsonSchemaError} for keywords with wrong values. */
  node(value: JsonValue, path: string, scope: DynamicScope): SchemaNode {
    if (value === true) return this.always;
    if (!isObject(value)) return this.nothing(path);
    const place = this.#places.get(value);
    const inside = place === undefined ? scope : this.#enter(scope, place.base);
    let byScope = this.#nodes.get(value);
    if (byScope === undefined) this.#nodes.set(value, byScope = new Map());
    let node = byScope.get(inside.id);
    if (node === undefined) {
      const made = place === undefined;
      const at = place?.path ?? path;
      const schema = made && isMade(value) ? value : constraintsOf(value, at, place?.dialect ?? this.#dialect);
      node = { id: this.#ids++, schema, source: value, path: at, scope: inside, made, silent: false };
      byScope.set(inside.id, node);
    }
    return node;
  }

  /** Returns the node of a keyword's schema. */
  child(node: SchemaNode, ...keys: readonly (string | number)[]): SchemaNode {
    let value: JsonValue | undefined = node.schema;
    for (const key of keys) value = (value as JsonObject)[key];
    const path = node.path + keys.map((key) => `/${escapePointer(String(key))}`).join("");
    return this.node(value as JsonValue, path, node.scope);
  }

  /** Returns a node of the library's own beside another, with its place and scope; the same one for the same key. */
  make(beside: SchemaNode, key: string, schema: () => JsonObject): SchemaNode {
    return this.#make(beside, key, schema, undefined);
  }

  /** Returns a node with other keywords in the place of another one, as if its author had written them. */
  rewrite(node: SchemaNode, key: string, schema: () => JsonObject): SchemaNode {
    return this.#make(node, key, schema, node.source);
  }

  #make(beside: SchemaNode, key: string, schema: () => JsonObject, source: JsonValue | undefined): SchemaNode {
    const known = `${beside.id} ${key}`;
    let node = this.#made.get(known);
    if (node === undefined) {
      const own = schema();
      const made = source === undefined;
      node = { ...beside, id: this.#ids++, schema: own, source: source ?? markMade(own), made, silent: false };
      if (source === undefined) {
        // Found again by its source, as a child of others.
        this.#nodes.set(node.source as JsonObject, new Map([[node.scope.id, node]]));
      }
      this.#made.set(known, node);
    }
    return node;
  }

  /** Returns the negation of a node. */
  not(node: SchemaNode): SchemaNode {
    if (node.schema === undefined) return this.always;
    return this.make(node, "not", () => ({ not: node.source }));
  }

  /** Returns a node that constrains the same and evaluates nothing. */
  silenced(node: SchemaNode): SchemaNode {
    if (!this.usesUnevaluated || node.silent || node.schema === undefined) return node;
    const key = `${node.id} silent`;
    let silent = this.#made.get(key);
    if (silent === undefined) this.#made.set(key, silent = { ...node, id: this.#ids++, silent: true });
    return silent;
  }

  /** Returns what allows nothing. */
  nothing(path: string): SchemaNode {
    let node = this.#never.get(path);
    if (node === undefined) {
      node = {
        id: this.#ids++,
        schema: undefined,
        source: false,
        path,
        scope: this.#outermost,
        made: false,
        silent: false,
      };
      this.#never.set(path, node);
    }
    return node;
  }

  /** Returns what a node's `$ref` or `$dynamicRef` refers to. Throws {@linkcode JsonSchemaError} for a reference to nothing. */
  target(node: SchemaNode, keyword: "$ref" | "$dynamicRef" = "$ref"): SchemaNode {
    const ref = node.schema?.[keyword] as string;
    const at = `${node.path}/${keyword}`;
    const [resource = "", fragment = ""] = splitOnce(ref, "#");
    const place = this.#places.get(node.source as JsonObject);
    const base = place?.base ?? NO_BASE;
    const address = resource === "" ? base : resolve(resource, base);
    const start = this.#named.get(address);
    if (start === undefined) return missing(ref, address, at);
    const scope = this.#enter(node.scope, start.base);
    if (fragment !== "" && !fragment.startsWith("/")) {
      const name = decode(fragment);
      const anchor = this.#named.get(`${start.base}#${name}`);
      if (anchor === undefined) return missing(ref, address, at);
      const dynamic = keyword === "$dynamicRef" && this.#dynamic.get(start.base)?.has(name)
        ? scope.anchors.get(name)
        : undefined;
      const found = dynamic ?? anchor;
      return this.node(found.value, found.path, this.#enter(scope, found.base));
    }
    return this.#pointer(start, fragment, scope) ?? missing(ref, address, at);
  }

  #pointer(start: Place, fragment: string, scope: DynamicScope): SchemaNode | undefined {
    let value: JsonValue | undefined = start.value;
    let { path, base, dialect } = start;
    for (const part of pointerParts(fragment)) {
      value = isArray(value) || isObject(value) ? ownValue(value, part) : undefined;
      path += `/${escapePointer(part)}`;
      const place = isObject(value) ? this.#places.get(value) : undefined;
      if (place !== undefined) ({ base, dialect } = place);
    }
    if (!isObject(value) && typeof value !== "boolean") return undefined;
    // A place where no schema was looked for, such as under an unknown keyword.
    this.#index(value, path, base, dialect);
    return this.node(value, path, scope);
  }

  /** The scope inside a resource: its dynamic anchors count where none outside has the name. */
  #enter(scope: DynamicScope, base: string): DynamicScope {
    const own = this.#dynamic.get(base);
    if (own === undefined) return scope;
    const added = [...own].filter(([name]) => !scope.anchors.has(name));
    if (added.length === 0) return scope;
    const anchors = new Map([...scope.anchors, ...added]);
    const key = [...anchors].map(([name, { path }]) => `${name} ${path}`).sort().join("\n");
    let entered = this.#scopes.get(key);
    if (entered === undefined) this.#scopes.set(key, entered = { id: this.#scopes.size + 1, anchors });
    return entered;
  }

  #index(value: JsonValue | undefined, path: string, base: string, dialect: Dialect): void {
    if (!isObject(value) || this.#places.has(value)) return;
    const isReference = dialect === "draft-07" && typeof value["$ref"] === "string";
    const id = isReference ? undefined : value["$id"];
    let own = base;
    let inner = dialect;
    if (typeof id === "string" && !id.startsWith("#")) {
      own = resolve(id.replace(/#$/, ""), base);
      inner = dialectOf(value["$schema"]) ?? dialect;
      this.#named.set(own, { value, path, base: own, dialect: inner });
      if (path === "") this.#named.set(NO_BASE, { value, path, base: own, dialect: inner });
    } else if (typeof id === "string") this.#named.set(`${base}${id}`, { value, path, base, dialect });
    const place = { value, path, base: own, dialect: inner };
    this.#places.set(value, place);
    if ("unevaluatedProperties" in value || "unevaluatedItems" in value) this.usesUnevaluated = true;
    if (dialect !== "draft-07") this.#indexAnchors(place);
    for (const key of maps) {
      const map = value[key];
      if (!isObject(map)) continue;
      for (const [name, one] of Object.entries(map)) {
        this.#index(one, `${path}/${key}/${escapePointer(name)}`, own, inner);
      }
    }
    for (const key of [...lists, ...singles]) {
      const some = value[key];
      if (isArray(some)) some.forEach((one, index) => this.#index(one, `${path}/${key}/${index}`, own, inner));
      else this.#index(some, `${path}/${key}`, own, inner);
    }
  }

  #indexAnchors(place: Place): void {
    const { value, base } = place;
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      const anchor = value[keyword];
      if (typeof anchor !== "string") continue;
      this.#named.set(`${base}#${anchor}`, place);
      if (keyword === "$anchor") continue;
      let dynamic = this.#dynamic.get(base);
      if (dynamic === undefined) this.#dynamic.set(base, dynamic = new Map());
      dynamic.set(anchor, place);
    }
  }
}

/** Schemas of the library's own, whose keywords need no check and may be internal ones. */
const madeSchemas = new WeakSet<JsonObject>();

function isMade(schema: JsonObject): boolean {
  return madeSchemas.has(schema);
}

function markMade(schema: JsonObject): JsonObject {
  madeSchemas.add(schema);
  return schema;
}

function ownValue(value: JsonObject | readonly JsonValue[], key: string): JsonValue | undefined {
  if (isArray(value)) return /^(?:0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** Resolves an address against another. */
export function resolve(address: string, base: string): string {
  try {
    return new URL(address, base).href;
  } catch {
    return address;
  }
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // Not encoded, with a stray % in it.
    return fragment;
  }
}

function pointerParts(fragment: string): string[] {
  if (fragment === "") return [];
  return decode(fragment).slice(1).split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function missing(ref: string, address: string, path: string): never {
  if (address.startsWith(NO_BASE)) {
    throw new JsonSchemaError(`the schema's ${path} refers to ${ref}, and there is no such part of the schema`, {
      path,
      value: ref,
      expected: "a reference to a part of this schema",
    });
  }
  throw new UnsupportedKeywordError(
    `the schema's ${path} refers to ${ref}, which isn't in this schema; put it into its $defs, or give its schema by the option schemas`,
    { path, value: ref, expected: "a reference to a part of this schema, or of one in the option schemas" },
  );
}
