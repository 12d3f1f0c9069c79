import { JsonSchemaError, UnsupportedKeywordError } from "../errors.ts";
import { isArray, isObject, type JsonObject, type JsonValue } from "./json.ts";
import { checkKeywords, escapePointer } from "./keywords.ts";
import { shareEqual } from "./share.ts";

/** A schema within a document. The same schema is always the same node. */
export interface SchemaNode {
  /** Unlike that of any other node. */
  readonly id: number;
  /** Its keywords, checked; `true` and `false` are `{}` and `undefined`. */
  readonly schema: JsonObject | undefined;
  /** Where it is, as a JSON Pointer; of several equal ones, where the first is. */
  readonly path: string;
}

const maps = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
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
}

const NO_BASE = "schema:/";

/** A schema with all that it refers to. */
export class SchemaDocument {
  readonly #root: JsonObject | boolean;
  readonly #nodes = new Map<JsonObject, SchemaNode>();
  readonly #places = new Map<JsonObject, Place>();
  readonly #named = new Map<string, Place>();
  readonly #never = new Map<string, SchemaNode>();
  readonly #always: SchemaNode = { id: 0, schema: {}, path: "" };
  #ids = 1;
  /** The whole schema. */
  readonly root: SchemaNode;

  /** Takes plain data. */
  constructor(root: JsonObject | boolean) {
    this.#root = isObject(root) ? shareEqual(root) : root;
    if (isObject(this.#root)) this.#index(this.#root, "", NO_BASE);
    this.root = this.node(this.#root, "");
  }

  /** The node of a schema inside. Throws {@linkcode JsonSchemaError} for keywords that can't be used. */
  node(value: JsonValue, path: string): SchemaNode {
    if (value === true) return this.#always;
    if (!isObject(value)) return this.#nothing(path);
    let node = this.#nodes.get(value);
    if (node === undefined) {
      checkKeywords(value, path);
      this.#nodes.set(value, node = { id: this.#ids++, schema: value, path });
    }
    return node;
  }

  /** The node of a keyword's schema. */
  child(node: SchemaNode, ...keys: readonly (string | number)[]): SchemaNode {
    let value: JsonValue | undefined = node.schema;
    for (const key of keys) value = (value as JsonObject)[key];
    return this.node(value as JsonValue, node.path + keys.map((key) => `/${escapePointer(String(key))}`).join(""));
  }

  #nothing(path: string): SchemaNode {
    let node = this.#never.get(path);
    if (node === undefined) this.#never.set(path, node = { id: this.#ids++, schema: undefined, path });
    return node;
  }

  /** What a node's `$ref` refers to. */
  target(node: SchemaNode): SchemaNode {
    const ref = node.schema?.["$ref"] as string;
    const place = `${node.path}/$ref`;
    const [resource = "", fragment = ""] = splitOnce(ref, "#");
    const base = this.#places.get(node.schema as JsonObject)?.base ?? NO_BASE;
    const address = resource === "" ? base : resolve(resource, base);
    const start = address === NO_BASE ? { value: this.#root, path: "" } : this.#named.get(address);
    if (start === undefined) return missing(ref, place);
    if (fragment !== "" && !fragment.startsWith("/")) {
      const anchor = this.#named.get(`${address}#${fragment}`);
      return anchor === undefined ? missing(ref, place) : this.node(anchor.value, anchor.path);
    }
    let value: JsonValue | undefined = start.value;
    let path = start.path;
    for (const part of pointerParts(fragment)) {
      value = isArray(value) || isObject(value) ? ownValue(value, part) : undefined;
      path += `/${escapePointer(part)}`;
    }
    if (!isObject(value) && typeof value !== "boolean") return missing(ref, place);
    return this.node(value, path);
  }

  #index(value: JsonValue | undefined, path: string, base: string): void {
    if (!isObject(value) || this.#places.has(value)) return;
    const id = value["$id"];
    let own = base;
    if (typeof id === "string" && !id.startsWith("#")) {
      own = resolve(id.replace(/#$/, ""), base);
      this.#named.set(own, { value, path, base: own });
    } else if (typeof id === "string") this.#named.set(`${base}${id}`, { value, path, base });
    this.#places.set(value, { value, path, base: own });
    const anchor = value["$anchor"];
    if (typeof anchor === "string") this.#named.set(`${own}#${anchor}`, { value, path, base: own });
    for (const key of maps) {
      const map = value[key];
      if (!isObject(map)) continue;
      for (const [name, one] of Object.entries(map)) this.#index(one, `${path}/${key}/${escapePointer(name)}`, own);
    }
    for (const key of [...lists, ...singles]) {
      const some = value[key];
      if (isArray(some)) some.forEach((one, index) => this.#index(one, `${path}/${key}/${index}`, own));
      else this.#index(some, `${path}/${key}`, own);
    }
  }
}

function ownValue(value: JsonObject | readonly JsonValue[], key: string): JsonValue | undefined {
  if (isArray(value)) return /^(?:0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
}

function resolve(address: string, base: string): string {
  try {
    return new URL(address, base).href;
  } catch {
    return address;
  }
}

function pointerParts(fragment: string): string[] {
  if (fragment === "") return [];
  let decoded = fragment;
  try {
    decoded = decodeURIComponent(fragment);
  } catch {
    // Not encoded, with a stray % in it.
  }
  return decoded.slice(1).split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function missing(ref: string, path: string): never {
  const isRemote = /^[a-z][a-z0-9+.-]*:/i.test(ref);
  const details = { path, value: ref, expected: "a reference to a part of this schema" };
  if (isRemote) {
    throw new UnsupportedKeywordError(
      `the schema's ${path} refers to ${ref}, which isn't in this schema; put it into its $defs`,
      details,
    );
  }
  throw new JsonSchemaError(`the schema's ${path} refers to ${ref}, and there is no such part of the schema`, details);
}
