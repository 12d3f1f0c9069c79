/** The public interface of an entry point as data, read from `deno doc --json`: what the random driver draws its calls from. */

/** A type of TypeScript, as far as arguments are made by it. */
export type ApiType =
  | { readonly kind: "number" | "bigint" | "string" | "boolean" | "null" | "undefined" | "unknown" }
  | { readonly kind: "literal"; readonly value: string | number | boolean }
  | { readonly kind: "array"; readonly of: ApiType }
  | { readonly kind: "tuple" | "union"; readonly of: readonly ApiType[] }
  | { readonly kind: "object"; readonly fields: readonly ApiField[]; readonly bases: readonly ApiType[] }
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
  /** What it gives. */
  readonly result: ApiType;
}

/** An entry point. */
export interface Api {
  readonly calls: readonly ApiCall[];
  /** Interfaces and type aliases by name. */
  readonly types: Readonly<Record<string, ApiType>>;
  /** The names of the classes, and of the interfaces whose objects the library makes. */
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
  readonly returnType?: DocType;
  readonly functionDef?: DocFunction;
}

interface DocFunction {
  readonly params: readonly DocParameter[];
  readonly returnType?: DocType;
}

interface DocSymbol {
  readonly name: string;
  readonly declarations: readonly {
    readonly kind: string;
    readonly def: {
      readonly params?: readonly DocParameter[];
      readonly returnType?: DocType;
      readonly constructors?: readonly DocMember[];
      readonly methods?: readonly DocMember[];
      readonly properties?: readonly DocMember[];
      readonly extends?: readonly DocType[];
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

function objectOf(
  properties: readonly DocMember[],
  methods: readonly DocMember[],
  bases: readonly DocType[] = [],
): ApiType {
  const fields = properties.map(({ name, optional = false, tsType }) => ({ name, optional, type: typeOf(tsType) }));
  const functions = methods.filter(({ name }) => !name.startsWith("[")).map(({ name, optional = false }) => ({
    name,
    optional,
    type: { kind: "function", result: { kind: "unknown" } } as const,
  }));
  return { kind: "object", fields: [...fields, ...functions], bases: bases.map(typeOf) };
}

function parametersOf(parameters: readonly DocParameter[]): ApiField[] {
  return parameters.map((parameter) => {
    const inner = parameter.left ?? parameter.arg ?? parameter;
    const optional = parameter.optional === true || parameter.left !== undefined || parameter.arg !== undefined;
    return { name: inner.name ?? "", optional, type: typeOf(inner.tsType ?? parameter.tsType) };
  });
}

function callsOf(
  name: string,
  symbol: DocSymbol["declarations"][number],
  functions: ReadonlyMap<string, DocType>,
): ApiCall[] {
  const { def } = symbol;
  if (symbol.kind === "function") {
    const parameters = parametersOf(def.params ?? []);
    return [{ title: name, kind: "function", owner: "", name, parameters, result: typeOf(def.returnType) }];
  }
  if (symbol.kind === "variable") return constantCalls(name, def.tsType, functions);
  if (symbol.kind === "interface") return interfaceCalls(name, def.methods ?? [], def.properties ?? []);
  if (symbol.kind !== "class") return [];
  const shown = (members: readonly DocMember[] | undefined): readonly DocMember[] =>
    (members ?? []).filter((member) => member.accessibility === undefined);
  const constructors = shown(def.constructors).map(({ params = [] }) => ({
    title: name,
    kind: "constructor" as const,
    owner: name,
    name,
    parameters: parametersOf(params),
    result: { kind: "named" as const, name, of: [] },
  }));
  const methods = shown(def.methods).map(({ name: method, kind, isStatic = false, functionDef }): ApiCall => ({
    title: `${name}.${method}`,
    kind: isStatic ? "static" : kind === "getter" || kind === "setter" ? kind : "method",
    owner: name,
    name: method,
    parameters: parametersOf(functionDef?.params ?? []),
    result: typeOf(functionDef?.returnType),
  }));
  return [...constructors, ...methods];
}

/** A constant that is a function. */
function constantCalls(name: string, given: DocType | undefined, functions: ReadonlyMap<string, DocType>): ApiCall[] {
  const type = functions.get(given?.repr ?? "") ?? given;
  if (type?.kind !== "fnOrConstructor") return [];
  const { params = [], tsType } = type.value as { params?: readonly DocParameter[]; tsType?: DocType };
  return [{ title: name, kind: "function", owner: "", name, parameters: parametersOf(params), result: typeOf(tsType) }];
}

function interfaceCalls(owner: string, methods: readonly DocMember[], properties: readonly DocMember[]): ApiCall[] {
  const calls = methods.map(({ name, params = [], returnType }): ApiCall => ({
    title: `${owner}.${name}`,
    kind: "method",
    owner,
    name,
    parameters: parametersOf(params),
    result: typeOf(returnType),
  }));
  const reads = properties.map(({ name, tsType }): ApiCall => ({
    title: `${owner}.${name}`,
    kind: "getter",
    owner,
    name,
    parameters: [],
    result: typeOf(tsType),
  }));
  return [...calls, ...reads];
}

/**
 * Reads one or several outputs of `deno doc --json`, one for each module.
 *
 * @param objects the interfaces whose objects the library makes: their methods are called as those of classes are.
 */
export function readApi(documents: readonly string[], objects: readonly string[] = []): Api {
  const calls: ApiCall[] = [];
  const types: Record<string, ApiType> = {};
  const classes: string[] = [...objects];
  const declared = documents.flatMap((text) => {
    const { nodes } = JSON.parse(text) as { nodes: Record<string, { symbols: DocSymbol[] }> };
    return Object.values(nodes).flatMap(({ symbols }) => symbols)
      .flatMap(({ name, declarations }) => declarations.map((declaration) => ({ name, declaration })));
  });
  const functions = new Map<string, DocType>();
  for (const { name, declaration: { kind, def } } of declared) {
    if (kind === "typeAlias" && def.tsType?.kind === "fnOrConstructor") functions.set(name, def.tsType);
  }
  for (const { name, declaration } of declared) {
    const { kind, def } = declaration;
    if (kind !== "interface" || objects.includes(name)) calls.push(...callsOf(name, declaration, functions));
    if (kind === "class") classes.push(name);
    if (kind === "typeAlias") types[name] = typeOf(def.tsType);
    if (kind === "interface") types[name] = objectOf(def.properties ?? [], def.methods ?? [], def.extends);
  }
  return { calls, types, classes };
}
