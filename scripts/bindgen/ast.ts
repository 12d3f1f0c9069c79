import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { parseCType } from "./ctype.ts";
import { type Layout, recordKey } from "./layout.ts";
import type { Api, ConstantDecl, EnumDecl, Field, FunctionDecl, Param, RecordDecl, TypedefDecl } from "./model.ts";

/** A place in a source file as clang's JSON has it: the file only where it changed. */
interface Place {
  offset?: number;
  tokLen?: number;
  line?: number;
  col?: number;
  file?: string;
  spellingLoc?: Place;
  expansionLoc?: Place;
}

/** A node of clang's JSON; `file` and `line` are filled in by {@linkcode fillPlaces}. */
interface Node {
  kind: string;
  name?: string;
  loc?: Place;
  range?: { begin?: Place; end?: Place };
  type?: { qualType: string };
  argType?: { qualType: string };
  tagUsed?: string;
  completeDefinition?: boolean;
  variadic?: boolean;
  isImplicit?: boolean;
  value?: string;
  inner?: Node[];
  file?: string;
  line?: number;
}

/** Reads clang's JSON into declarations; layouts give sizes and offsets. */
export function readAst(
  json: string,
  layouts: ReadonlyMap<string, Layout>,
  isBound: (header: string) => boolean,
): Omit<Api, "skippedMacros"> {
  const root = JSON.parse(json) as Node;
  fillPlaces(root, { file: "", line: 0 });
  const reader = new AstReader(layouts);
  for (const node of root.inner ?? []) if (isBound(basename(node.file ?? ""))) reader.declaration(node);
  return reader.finish();
}

/** Clang prints a file or line only when it differs from the last one printed, so every place has to be walked in order. */
function fillPlaces(node: Node, current: { file: string; line: number }): void {
  const see = (place: Place | undefined): void => {
    if (place === undefined) return;
    if (place.spellingLoc !== undefined) {
      see(place.spellingLoc);
      see(place.expansionLoc);
      return;
    }
    if (place.file !== undefined) current.file = place.file;
    if (place.line !== undefined) current.line = place.line;
  };
  see(node.loc);
  node.file = current.file;
  node.line = current.line;
  see(node.range?.begin);
  see(node.range?.end);
  for (const child of node.inner ?? []) fillPlaces(child, current);
}

class AstReader {
  private readonly functions = new Map<string, FunctionDecl>();
  private readonly records = new Map<string, RecordDecl>();
  private readonly declared = new Set<string>();
  private readonly enums: EnumDecl[] = [];
  private readonly typedefs = new Map<string, TypedefDecl>();
  private readonly constants: ConstantDecl[] = [];
  private readonly sources = new Map<string, string>();
  /** The last record without a name, which a typedef may name. */
  private unnamed: Node | undefined;

  constructor(private readonly layouts: ReadonlyMap<string, Layout>) {}

  declaration(node: Node): void {
    if (node.isImplicit === true) return;
    switch (node.kind) {
      case "FunctionDecl":
        return this.functionDecl(node);
      case "RecordDecl":
        return this.recordDecl(node);
      case "EnumDecl":
        return this.enumDecl(node);
      case "TypedefDecl":
        return this.typedefDecl(node);
      case "VarDecl":
        return this.varDecl(node);
      default:
        throw new Error(`${node.file}:${node.line}: a declaration of kind ${node.kind} isn't known`);
    }
  }

  finish(): Omit<Api, "skippedMacros"> {
    return {
      functions: [...this.functions.values()],
      records: [...this.records.values()],
      opaque: [...this.declared].filter((name) => !this.records.has(name)).sort(),
      enums: this.enums,
      typedefs: this.typedefs,
      constants: this.constants,
    };
  }

  private functionDecl(node: Node): void {
    const name = node.name!;
    if (this.functions.has(name)) return;
    const params: Param[] = [];
    for (const child of node.inner ?? []) {
      if (child.kind === "ParmVarDecl") {
        params.push({ name: child.name ?? `arg${params.length}`, type: parseCType(child.type!.qualType) });
      }
    }
    const type = parseCType(node.type!.qualType);
    if (type.kind !== "function") throw new Error(`${name}: ${node.type!.qualType} is no function`);
    const deprecated = (node.inner ?? []).some((child) => child.kind === "DeprecatedAttr");
    const header = basename(node.file!);
    this.functions.set(name, {
      name,
      header,
      result: type.result,
      params,
      variadic: node.variadic === true,
      deprecated,
    });
  }

  private recordDecl(node: Node, givenName?: string): void {
    const name = node.name ?? givenName;
    if (name === undefined) {
      this.unnamed = node;
      return;
    }
    this.declared.add(name);
    if (node.completeDefinition !== true) return;
    const layout = this.layout(node, givenName);
    const fields: Field[] = [];
    let index = 0;
    let unnamed: Node | undefined;
    for (const child of node.inner ?? []) {
      if (child.kind === "RecordDecl" && child.name === undefined) unnamed = child;
      if (child.kind !== "FieldDecl") continue;
      const offset = layout.offsets[index++];
      if (offset === undefined) throw new Error(`${name}: the layout has too few fields`);
      fields.push(...this.field(child, name, offset, unnamed));
    }
    if (index !== layout.offsets.length || layout.bits) {
      throw new Error(`${name}: the layout has other fields, or bit fields`);
    }
    const tag = node.tagUsed === "union" ? "union" : "struct";
    this.records.set(name, { name, tag, header: basename(node.file!), size: layout.size, align: layout.align, fields });
  }

  private field(node: Node, owner: string, offset: number, unnamed: Node | undefined): Field[] {
    const qualType = node.type!.qualType;
    if (/\((?:unnamed|anonymous)/.test(qualType)) {
      if (unnamed === undefined) throw new Error(`${owner}: no record for the field ${node.name}`);
      const name = `${owner}_${node.name ?? "anonymous"}`;
      this.recordDecl(unnamed, name);
      const record = this.records.get(name)!;
      if (node.name !== undefined) {
        return [{ name: node.name, type: { kind: "tagged", tag: record.tag, name }, offset, paramNames: [] }];
      }
      this.records.delete(name);
      this.declared.delete(name);
      return record.fields.map((field) => ({ ...field, offset: field.offset + offset }));
    }
    const type = parseCType(qualType);
    const isFunction = type.kind === "pointer" && type.to.kind === "function";
    return [{
      name: node.name!,
      type,
      offset,
      paramNames: isFunction ? this.paramNames(node, type.to.params.length) : [],
    }];
  }

  private layout(node: Node, givenName: string | undefined): Layout {
    const places = [node.loc, node.range?.begin].map((place) => place?.expansionLoc ?? place);
    const keys = node.name !== undefined
      ? [node.name]
      : [givenName!, ...places.map((place) => `${basename(node.file!)}:${place?.line ?? node.line}:${place?.col}`)];
    for (const key of keys) {
      const layout = this.layouts.get(recordKey(key));
      if (layout !== undefined) return layout;
    }
    throw new Error(`no layout of ${keys[0]}`);
  }

  private enumDecl(node: Node): void {
    const values: [string, number][] = [];
    let next = 0;
    for (const child of node.inner ?? []) {
      if (child.kind !== "EnumConstantDecl") continue;
      const expression = (child.inner ?? []).find((inner) => inner.value !== undefined);
      const value = expression === undefined ? next : Number(expression.value);
      values.push([child.name!, value]);
      next = value + 1;
    }
    const header = basename(node.file!);
    if (values.length === 0) return;
    if (node.name !== undefined) this.enums.push({ name: node.name, header, values });
    else for (const [name, value] of values) this.constants.push({ name, header, value });
  }

  private typedefDecl(node: Node): void {
    const name = node.name!;
    if (this.typedefs.has(name)) return;
    const type = parseCType(node.type!.qualType);
    if (type.kind === "tagged" && type.name === name && this.unnamed !== undefined && !this.declared.has(name)) {
      this.recordDecl(this.unnamed, name);
    }
    const isFunction = type.kind === "pointer" && type.to.kind === "function";
    const paramNames = isFunction ? this.paramNames(node, type.to.params.length) : [];
    this.typedefs.set(name, { name, header: basename(node.file!), type, paramNames });
  }

  /** A `static const` whose value is the size of a type. */
  private varDecl(node: Node): void {
    const find = (at: Node): Node | undefined =>
      at.kind === "UnaryExprOrTypeTraitExpr" ? at : (at.inner ?? []).map(find).find((found) => found !== undefined);
    const size = this.layouts.get(recordKey(find(node)?.argType?.qualType ?? ""))?.size;
    if (size === undefined) {
      throw new Error(`${node.name}: only sizeof of a struct is understood as the value of a variable`);
    }
    this.constants.push({ name: node.name!, header: basename(node.file!), value: size });
  }

  /** Names of a function pointer's parameters: types in the AST have none, so they are read at the declaration's place. */
  private paramNames(node: Node, count: number): string[] {
    const end = node.range?.end;
    const begin = node.range?.begin;
    const place = (at: Place | undefined): Place | undefined => at?.expansionLoc ?? at;
    const [from, to] = [place(begin), place(end)];
    if (!this.sources.has(node.file!)) this.sources.set(node.file!, readFileSync(node.file!, "utf8"));
    const bytes = this.sources.get(node.file!)!;
    const text = bytes.slice(from?.offset ?? 0, (to?.offset ?? 0) + (to?.tokLen ?? 0)).replace(
      /\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
      " ",
    );
    const list = text.slice(text.indexOf("(", text.indexOf("(*") + 1) + 1, text.lastIndexOf(")"));
    const names = list.split(",").map((param, index) => {
      const words = param.trim().match(/\w+/g) ?? [];
      const last = words.at(-1);
      const isTypeOnly = words.length < 2 || /[*\]]\s*$/.test(param) ||
        (words.length === 2 && ["const", "struct", "enum", "unsigned"].includes(words[0]!));
      return last === undefined || isTypeOnly ? `arg${index}` : last;
    });
    return names.length === count ? names : Array.from({ length: count }, (_, index) => `arg${index}`);
  }
}
