/** A C type, as far as the headers use them. */
export type CType =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "tagged"; readonly tag: "struct" | "union" | "enum"; readonly name: string }
  | { readonly kind: "pointer"; readonly to: CType; readonly isConst: boolean }
  | { readonly kind: "array"; readonly of: CType; readonly length: number }
  | {
    readonly kind: "function";
    readonly result: CType;
    readonly params: readonly CType[];
    readonly variadic: boolean;
  };

const tokenPattern =
  /\s*(\((?:unnamed|anonymous)[^)]*\)|[A-Za-z_]\w*(?:::\((?:unnamed|anonymous)[^)]*\))?|\d+|\.\.\.|[()[\],*])/y;

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  tokenPattern.lastIndex = 0;
  while (tokenPattern.lastIndex < text.trimEnd().length) {
    const at = tokenPattern.lastIndex;
    const match = tokenPattern.exec(text);
    if (match === null) throw new Error(`can't read the C type "${text}" at ${at}`);
    tokens.push(match[1]!);
  }
  return tokens;
}

/** Reads a type as clang prints it, for instance `const char *(*)(struct ggml_backend *)`. */
export function parseCType(text: string): CType {
  const parser = new Parser(tokenize(text), text);
  const type = parser.type();
  parser.end();
  return type;
}

class Parser {
  private at = 0;
  constructor(private readonly tokens: readonly string[], private readonly text: string) {}

  type(): CType {
    return this.declarator(this.specifiers())((type) => type);
  }

  end(): void {
    if (this.at !== this.tokens.length) throw this.wrong();
  }

  private specifiers(): { base: CType; isConst: boolean } {
    const words: string[] = [];
    let isConst = false;
    let tag: "struct" | "union" | "enum" | undefined;
    for (;;) {
      const token = this.tokens[this.at];
      if (token === "const") isConst = true;
      else if (token === "volatile") { /* no difference here */ }
      else if (token === "struct" || token === "union" || token === "enum") tag = token;
      else if (token !== undefined && /^[A-Za-z_(]/.test(token) && token !== "(") words.push(token);
      else break;
      this.at++;
    }
    if (words.length === 0) throw this.wrong();
    const name = words.join(" ");
    return { base: tag === undefined ? { kind: "name", name } : { kind: "tagged", tag, name }, isConst };
  }

  /** Reads what follows a base type. Inner declarators wrap outer ones, so the result takes what the inner one makes of a type. */
  private declarator(start: { base: CType; isConst: boolean }): (wrap: (type: CType) => CType) => CType {
    let type = start.base;
    let isConst = start.isConst;
    while (this.tokens[this.at] === "*") {
      this.at++;
      type = { kind: "pointer", to: type, isConst };
      isConst = false;
      while (["const", "restrict", "volatile", "_Nonnull", "_Nullable"].includes(this.tokens[this.at] ?? "")) {
        if (this.tokens[this.at] === "const") isConst = true;
        this.at++;
      }
    }
    let inner: ((wrap: (type: CType) => CType) => (type: CType) => CType) | undefined;
    if (this.tokens[this.at] === "(" && this.tokens[this.at + 1] === "*") {
      this.at++;
      let stars = 0;
      while (this.tokens[this.at] === "*") {
        stars++;
        this.at++;
      }
      const suffix = this.suffixes();
      this.expect(")");
      inner = (wrap) => (outer) => {
        let made = outer;
        for (let i = 0; i < stars; i++) made = { kind: "pointer", to: made, isConst: false };
        return wrap(suffix(made));
      };
    }
    const suffix = this.suffixes();
    return (wrap) => (inner === undefined ? wrap : inner(wrap))(suffix(type));
  }

  private suffixes(): (type: CType) => CType {
    const token = this.tokens[this.at];
    if (token === "[") {
      const length = Number(this.tokens[this.at + 1]);
      this.at += 2;
      this.expect("]");
      const rest = this.suffixes();
      return (type) => ({ kind: "array", of: rest(type), length });
    }
    if (token === "(") {
      this.at++;
      const { params, variadic } = this.parameters();
      return (result) => ({ kind: "function", result, params, variadic });
    }
    return (type) => type;
  }

  private parameters(): { params: CType[]; variadic: boolean } {
    const params: CType[] = [];
    let variadic = false;
    while (this.tokens[this.at] !== ")") {
      if (this.tokens[this.at] === "...") {
        variadic = true;
        this.at++;
      } else params.push(this.type());
      if (this.tokens[this.at] === ",") this.at++;
    }
    this.at++;
    const first = params[0];
    const isVoid = params.length === 1 && first?.kind === "name" && first.name === "void";
    return { params: isVoid ? [] : params, variadic };
  }

  private expect(token: string): void {
    if (this.tokens[this.at] !== token) throw this.wrong();
    this.at++;
  }

  private wrong(): Error {
    return new Error(`can't read the C type "${this.text}" at token ${this.at}`);
  }
}

/** Writes a type as C, around a name where one is given. */
export function printCType(type: CType, name = ""): string {
  switch (type.kind) {
    case "name":
      return name === "" ? type.name : `${type.name} ${name}`;
    case "tagged":
      return `${type.tag} ${type.name}${name === "" ? "" : ` ${name}`}`;
    case "pointer": {
      const text = name === "" || name.startsWith("*") || name.startsWith("(") ? `*${name}` : `* ${name}`;
      if (type.to.kind === "function" || type.to.kind === "array") return printCType(type.to, `(*${name})`);
      if (type.isConst && type.to.kind === "pointer") return printCType(type.to, `const ${text}`);
      return `${type.isConst ? "const " : ""}${printCType(type.to, text)}`;
    }
    case "array":
      return printCType(type.of, `${name}[${type.length}]`);
    case "function": {
      const params = type.params.map((param) => printCType(param));
      if (type.variadic) params.push("...");
      return printCType(type.result, `${name}(${params.length === 0 ? "void" : params.join(", ")})`);
    }
  }
}
