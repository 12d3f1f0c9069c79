/** The public interface of an entry point as data, read from `deno doc --json`: what the random driver draws its calls from. */

/** A type of TypeScript, as far as arguments are made by it. */
export type ApiType =
  | { readonly kind: "number" | "bigint" | "string" | "boolean" | "null" | "undefined" | "unknown" }
  | { readonly kind: "literal"; readonly value: string | number | boolean }
  | { readonly kind: "array"; readonly of: ApiType }
  | { readonly kind: "tuple" | "union"; readonly of: readonly ApiType[] }
  | { readonly kind: "object"; readonly fields: readonly ApiField[] }
  | { readonly kind: "function"; readonly result: ApiType }
  | { readonly kind: "named"; readonly name: string; readonly of: readonly ApiType[] };

/** A property of an object type. */
export interface ApiField {
  readonly name: string;
  readonly optional: boolean;
  readonly type: ApiType;
}

/** Something that can be called, read or set. */
export interface ApiCall {
  /** `Class.method`, `Class` for a constructor, or a function's name. */
  readonly title: string;
  readonly kind: "function" | "constructor" | "static" | "method" | "getter" | "setter";
  /** The class that it belongs to; `""` for a function. */
  readonly owner: string;
  readonly name: string;
  readonly parameters: readonly ApiField[];
}

/** An entry point. */
export interface Api {
  readonly calls: readonly ApiCall[];
  /** Interfaces and type aliases by name. */
  readonly types: Readonly<Record<string, ApiType>>;
  /** The names of the classes. */
  readonly classes: readonly string[];
}

interface DocType {
  readonly kind: string;
  readonly repr?: string;
  readonly value?: unknown;
}

interface DocParameter {
  readonly kind: string;
  readonly name?: string;
  readonly optional?: boolean;
  readonly tsType?: DocType;
  readonly left?: DocParameter;
  readonly arg?: DocParameter;
}

interface DocMember {
  readonly name: string;
  readonly kind?: string;
  readonly isStatic?: boolean;
  readonly optional?: boolean;
  readonly readonly?: boolean;
  readonly accessibility?: string;
  readonly tsType?: DocType;
  readonly params?: readonly DocParameter[];
  readonly functionDef?: { readonly params: readonly DocParameter[] };
}

interface DocSymbol {
  readonly name: string;
  readonly declarations: readonly {
    readonly kind: string;
    readonly def: {
      readonly params?: readonly DocParameter[];
      readonly constructors?: readonly DocMember[];
      readonly methods?: readonly DocMember[];
      readonly properties?: readonly DocMember[];
      readonly tsType?: DocType;
    };
  }[];
}

const primitives: Readonly<Record<string, ApiType>> = {
  number: { kind: "number" },
  bigint: { kind: "bigint" },
  string: { kind: "string" },
  boolean: { kind: "boolean" },
  null: { kind: "null" },
  undefined: { kind: "undefined" },
  void: { kind: "undefined" },
};

function typeOf(type: DocType | undefined): ApiType {
  if (type === undefined) return { kind: "unknown" };
  const value = type.value as never;
  const list = (types: readonly DocType[]): ApiType[] => types.map(typeOf);
  switch (type.kind) {
    case "keyword":
      return primitives[value as string] ?? { kind: "unknown" };
    case "literal": {
      const literal = value as { kind: string; string?: string; number?: number; boolean?: boolean };
      return { kind: "literal", value: literal.string ?? literal.number ?? literal.boolean ?? "" };
    }
    case "typeOperator":
      return typeOf((value as { tsType: DocType }).tsType);
    case "parenthesized":
    case "optional":
    case "rest":
      return typeOf(value);
    case "array":
      return { kind: "array", of: typeOf(value) };
    case "tuple":
      return { kind: "tuple", of: list(value) };
    case "union":
      return { kind: "union", of: list(value) };
    case "fnOrConstructor":
      return { kind: "function", result: typeOf((value as { tsType: DocType }).tsType) };
    case "typeLiteral": {
      const { properties = [], methods = [] } = value as { properties?: DocMember[]; methods?: DocMember[] };
      return objectOf(properties, methods);
    }
    case "typeRef": {
      const { typeName, typeParams = [] } = value as { typeName: string; typeParams?: DocType[] };
      return { kind: "named", name: typeName, of: list(typeParams) };
    }
    default:
      return { kind: "unknown" };
  }
}

function objectOf(properties: readonly DocMember[], methods: readonly DocMember[]): ApiType {
  const fields = properties.map(({ name, optional = false, tsType }) => ({ name, optional, type: typeOf(tsType) }));
  const functions = methods.filter(({ name }) => !name.startsWith("[")).map(({ name, optional = false }) => ({
    name,
    optional,
    type: { kind: "function", result: { kind: "unknown" } } as const,
  }));
  return { kind: "object", fields: [...fields, ...functions] };
}

function parametersOf(parameters: readonly DocParameter[]): ApiField[] {
  return parameters.map((parameter) => {
    const inner = parameter.left ?? parameter.arg ?? parameter;
    const optional = parameter.optional === true || parameter.left !== undefined || parameter.arg !== undefined;
    return { name: inner.name ?? "", optional, type: typeOf(inner.tsType ?? parameter.tsType) };
  });
}

function callsOf(name: string, symbol: DocSymbol["declarations"][number]): ApiCall[] {
  const { def } = symbol;
  if (symbol.kind === "function") {
    return [{ title: name, kind: "function", owner: "", name, parameters: parametersOf(def.params ?? []) }];
  }
  if (symbol.kind !== "class") return [];
  const shown = (members: readonly DocMember[] | undefined): readonly DocMember[] =>
    (members ?? []).filter((member) => member.accessibility === undefined && !member.name.startsWith("["));
  const constructors = shown(def.constructors).map(({ params = [] }) => ({
    title: name,
    kind: "constructor" as const,
    owner: name,
    name,
    parameters: parametersOf(params),
  }));
  const methods = shown(def.methods).map(({ name: method, kind, isStatic = false, functionDef }): ApiCall => ({
    title: `${name}.${method}`,
    kind: isStatic ? "static" : kind === "getter" || kind === "setter" ? kind : "method",
    owner: name,
    name: method,
    parameters: parametersOf(functionDef?.params ?? []),
  }));
  return [...constructors, ...methods];
}

/** Reads one or several outputs of `deno doc --json`, one for each module. */
export function readApi(documents: readonly string[]): Api {
  const calls: ApiCall[] = [];
  const types: Record<string, ApiType> = {};
  const classes: string[] = [];
  for (const text of documents) {
    const { nodes } = JSON.parse(text) as { nodes: Record<string, { symbols: DocSymbol[] }> };
    for (const { name, declarations } of Object.values(nodes).flatMap(({ symbols }) => symbols)) {
      for (const declaration of declarations) {
        const { kind, def } = declaration;
        calls.push(...callsOf(name, declaration));
        if (kind === "class") classes.push(name);
        if (kind === "typeAlias") types[name] = typeOf(def.tsType);
        if (kind === "interface") types[name] = objectOf(def.properties ?? [], def.methods ?? []);
      }
    }
  }
  return { calls, types, classes };
}
