/**
 * Negation without `not`: a schema is broken where one of its keywords is.
 *
 * @module
 */

import { UnsupportedKeywordError } from "../errors.ts";
import type { SchemaDocument, SchemaNode } from "./document.ts";
import { isArray, isObject, type JsonObject, type JsonValue } from "./json.ts";
import { internal, typeNames } from "./keywords.ts";
import { formats } from "./formats.ts";
import { itemKeywords, validate } from "./validate.ts";

/** Schemas that all hold. */
type Alternative = readonly SchemaNode[];

/**
 * Returns the ways to break a schema, each a list of schemas that all hold; none where everything is valid for it. `path` is where the negation stands.
 *
 * Throws {@linkcode UnsupportedKeywordError} for keywords whose negation no grammar can express.
 */
export function negationsOf(document: SchemaDocument, node: SchemaNode, path: string): readonly Alternative[] {
  if (node.schema === undefined) return [[]];
  return new Negation(document, node, node.schema, path).alternatives();
}

class Negation {
  readonly #document: SchemaDocument;
  readonly #node: SchemaNode;
  readonly #schema: JsonObject;
  readonly #path: string;

  constructor(document: SchemaDocument, node: SchemaNode, schema: JsonObject, path: string) {
    this.#document = document;
    this.#node = node;
    this.#schema = schema;
    this.#path = path;
  }

  alternatives(): Alternative[] {
    const values = finiteValues(this.#document, this.#node);
    if (values !== undefined) return this.#others(values);
    const combined = Object.keys(this.#schema).flatMap((keyword) => this.#keyword(keyword));
    return [...combined, ...this.#items()];
  }

  #keyword(keyword: string): Alternative[] {
    const value = this.#schema[keyword] as JsonValue;
    switch (keyword) {
      case "$ref":
      case "$dynamicRef":
        return [[this.#document.not(this.#document.target(this.#node, keyword))]];
      case "type":
        return this.#otherTypes(isArray(value) ? value : [value]);
      case "allOf":
        return this.#children(keyword).map((child) => [this.#document.not(child)]);
      case "anyOf":
        return [this.#children(keyword).map((child) => this.#document.not(child))];
      case "oneOf":
        return this.#notOne(this.#children(keyword));
      case "not":
        return [[this.#document.child(this.#node, "not")]];
      case "if":
        return this.#conditional();
      case "uniqueItems":
        return value === true ? this.#refuse(keyword) : [];
      case "unevaluatedProperties":
      case "unevaluatedItems":
        return value === true ? [] : this.#refuse(keyword);
      default:
        return this.#number(keyword, value as number) ?? this.#string(keyword, value) ?? this.#array(keyword) ??
          this.#object(keyword, value) ?? [];
    }
  }

  #children(keyword: string): SchemaNode[] {
    const list = this.#schema[keyword];
    return (isArray(list) ? list : []).map((_, index) => this.#document.child(this.#node, keyword, index));
  }

  #one(key: string, schema: JsonObject): Alternative {
    return [this.#document.make(this.#node, `not ${key}`, () => schema)];
  }

  #otherTypes(list: readonly JsonValue[]): Alternative[] {
    const has = (type: JsonValue) => list.includes(type);
    const others = typeNames.filter((type) =>
      type !== "integer" && !has(type) && !(type === "number" && has("integer"))
    );
    const found = others.length === 0 ? [] : [this.#one("type", { type: others })];
    if (!has("integer") || has("number")) return found;
    return [...found, this.#one("integer", { type: "number", [internal.fraction]: true })];
  }

  #notOne(children: readonly SchemaNode[]): Alternative[] {
    const none = children.map((child) => this.#document.not(child));
    return [none, ...children.flatMap((one, at) => children.slice(at + 1).map((other) => [one, other]))];
  }

  #conditional(): Alternative[] {
    const condition = this.#document.child(this.#node, "if");
    const branch = (keyword: string, holds: SchemaNode): Alternative[] =>
      this.#schema[keyword] === undefined
        ? []
        : [[holds, this.#document.not(this.#document.child(this.#node, keyword))]];
    return [...branch("then", condition), ...branch("else", this.#document.not(condition))];
  }

  #number(keyword: string, value: number): Alternative[] | undefined {
    const opposites: Readonly<Record<string, string>> = {
      minimum: "exclusiveMaximum",
      maximum: "exclusiveMinimum",
      exclusiveMinimum: "maximum",
      exclusiveMaximum: "minimum",
    };
    const opposite = opposites[keyword];
    if (opposite !== undefined) return [this.#one(keyword, { type: "number", [opposite]: value })];
    if (keyword !== "multipleOf") return undefined;
    return [this.#one(keyword, { type: "number", [internal.notMultipleOf]: [value] })];
  }

  #string(keyword: string, value: JsonValue): Alternative[] | undefined {
    const length = value as number;
    switch (keyword) {
      case "minLength":
        return length === 0 ? [] : [this.#one(keyword, { type: "string", maxLength: length - 1 })];
      case "maxLength":
        return [this.#one(keyword, { type: "string", minLength: length + 1 })];
      case "pattern":
        return [this.#one(keyword, { type: "string", [internal.notPattern]: [value] })];
      case "format":
        return formats.has(value as string) ? this.#refuse(keyword) : [];
      default:
        return undefined;
    }
  }

  #array(keyword: string): Alternative[] | undefined {
    const { minItems, maxItems, contains, minContains = 1, maxContains } = this.#schema as Record<string, number>;
    const type = "array";
    switch (keyword) {
      case "minItems":
        return minItems === 0 ? [] : [this.#one(keyword, { type, maxItems: minItems as number - 1 })];
      case "maxItems":
        return [this.#one(keyword, { type, minItems: maxItems as number + 1 })];
      case "contains": {
        const schema = contains as unknown as JsonValue;
        const none = { type, items: { not: schema } };
        const few = { type, contains: schema, minContains: 0, maxContains: minContains - 1 };
        const found = minContains === 0 ? [] : [this.#one(keyword, minContains === 1 ? none : few)];
        if (maxContains !== undefined) {
          found.push(this.#one("maxContains", { type, contains: schema, minContains: maxContains + 1 }));
        }
        return found;
      }
      default:
        return undefined;
    }
  }

  /** An item that isn't as it should be. */
  #items(): Alternative[] {
    const { first, rest } = itemKeywords(this.#schema);
    const list = this.#schema[first];
    const firsts = isArray(list) ? list : [];
    const found = firsts.flatMap((item, index) =>
      item === true ? [] : [this.#one(`item ${index}`, {
        type: "array",
        minItems: index + 1,
        prefixItems: [...new Array<JsonValue>(index).fill(true), { not: item }],
      })]
    );
    const others = this.#schema[rest];
    if (others === undefined || others === true) return found;
    const more = { type: "array", minItems: firsts.length + 1 };
    const schema = others === false
      ? more
      : { ...more, contains: { not: others }, [internal.containsFrom]: firsts.length };
    return [...found, this.#one("items", schema)];
  }

  #object(keyword: string, value: JsonValue): Alternative[] | undefined {
    const type = "object";
    const count = value as number;
    switch (keyword) {
      case "required":
        return (value as readonly string[]).map((name) => this.#one(`has ${name}`, { type, [internal.lacks]: [name] }));
      case "properties":
        return Object.entries(value as JsonObject).flatMap(([name, schema]) =>
          schema === true
            ? []
            : [this.#one(`property ${name}`, { type, required: [name], properties: { [name]: { not: schema } } })]
        );
      case "patternProperties":
        return Object.entries(value as JsonObject).flatMap(([match, schema]) =>
          schema === true ? [] : [this.#some({ names: [], patterns: [], match, schema: { not: schema } })]
        );
      case "additionalProperties": {
        if (value === true) return [];
        const { properties, patternProperties } = this.#schema;
        const keys = (map: JsonValue | undefined) => isObject(map) ? Object.keys(map) : [];
        return [
          this.#some({
            names: keys(properties),
            patterns: keys(patternProperties),
            match: null,
            schema: { not: value },
          }),
        ];
      }
      case "propertyNames":
        if (value === true) return [];
        return value === false ? [this.#one(keyword, { type, minProperties: 1 })] : this.#refuse(keyword);
      case "minProperties":
        return count === 0 ? [] : [this.#one(keyword, { type, maxProperties: count - 1 })];
      case "maxProperties":
        return [this.#one(keyword, { type, minProperties: count + 1 })];
      case "dependentRequired":
      case "dependentSchemas":
      case "dependencies":
        return this.#dependent(keyword, value as JsonObject);
      default:
        return undefined;
    }
  }

  #some(property: JsonObject): Alternative {
    return this.#one(`some ${JSON.stringify([property["names"], property["patterns"], property["match"]])}`, {
      type: "object",
      [internal.someProperty]: property,
    });
  }

  #dependent(keyword: string, map: JsonObject): Alternative[] {
    return Object.entries(map).flatMap(([name, one]): Alternative[] => {
      const has = { type: "object", required: [name] };
      if (isArray(one)) {
        return one.map((other) => this.#one(`${name} without ${other}`, { ...has, [internal.lacks]: [other] }));
      }
      const [present] = this.#one(`with ${name}`, has);
      return [[present as SchemaNode, this.#document.not(this.#document.child(this.#node, keyword, name))]];
    });
  }

  /** All values but some. */
  #others(values: readonly JsonValue[]): Alternative[] {
    const plain = values.filter((value) => typeof value !== "object" || value === null);
    const structured = values.filter((value) => typeof value === "object" && value !== null);
    if (structured.length === 0) return [this.#one("values", { [internal.except]: plain })];
    const [only] = structured;
    if (values.length === 1 && only !== undefined) return this.#otherStructure(only as JsonObject);
    const parts = structured.map((value, at) =>
      this.#document.make(this.#node, `not value ${at}`, () => ({ not: { const: value } }))
    );
    if (plain.length > 0) parts.push(...this.#one("values", { [internal.except]: plain }));
    return [parts];
  }

  #otherStructure(value: JsonObject | readonly JsonValue[]): Alternative[] {
    const others = (type: string) =>
      this.#one("type", { type: typeNames.filter((one) => one !== type && one !== "integer") });
    if (isArray(value)) {
      const type = "array";
      return [
        others(type),
        ...(value.length === 0 ? [] : [this.#one("shorter", { type, maxItems: value.length - 1 })]),
        this.#one("longer", { type, minItems: value.length + 1 }),
        ...value.map((item, index) =>
          this.#one(`item ${index}`, {
            type,
            minItems: index + 1,
            prefixItems: [...new Array<JsonValue>(index).fill(true), { not: { const: item } }],
          })
        ),
      ];
    }
    const type = "object";
    const names = Object.keys(value);
    return [
      others(type),
      ...names.map((name) => this.#one(`has ${name}`, { type, [internal.lacks]: [name] })),
      ...names.map((name) =>
        this.#one(`property ${name}`, {
          type,
          required: [name],
          properties: { [name]: { not: { const: value[name] as JsonValue } } },
        })
      ),
      this.#some({ names, patterns: [], match: null, schema: true }),
    ];
  }

  #refuse(keyword: string): never {
    throw new UnsupportedKeywordError(
      `the schema's ${this.#path} asks for values that break ${this.#node.path}/${keyword}, which no grammar can express; write it without, or use schemaMode "validate"`,
      { path: this.#path, value: this.#schema[keyword], expected: "keywords whose negation a grammar can express" },
    );
  }
}

/** Returns all values that are valid against a schema with `enum` or `const`; `undefined` for others. */
export function finiteValues(document: SchemaDocument, node: SchemaNode): readonly JsonValue[] | undefined {
  const { schema } = node;
  if (schema === undefined) return undefined;
  const list = schema["const"] !== undefined ? [schema["const"]] : schema["enum"];
  if (!isArray(list)) return undefined;
  return list.filter((value) => validate(document, node, value) === undefined);
}
