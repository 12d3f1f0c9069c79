/** Random templates over the language of Python's Jinja, the same for the same seed. */

import { randomBelow } from "../support/random.ts";

/** The variables that the templates use. */
export const variables: Readonly<Record<string, unknown>> = {
  n: 7,
  z: 0,
  neg: -3,
  f: 2.5,
  t: true,
  nil: null,
  s: "Hello World",
  u: "äß😀 É",
  e: "",
  l: [3, 1, 2],
  ls: ["b", "A", "c"],
  d: { a: 1, items: [1, 2], b: { c: "x" }, keys: null },
  ld: [{ name: "x", age: 3 }, { name: "Y", age: 1 }, { name: "x", age: 2 }],
  m: [[1, 2], [3, 4]],
  el: [],
  ed: {},
};

type Kind = "int" | "float" | "str" | "list" | "dict" | "bool" | "any";

const kinds: readonly Kind[] = ["int", "float", "str", "list", "dict", "bool"];
const strings = [
  "'a'",
  '"b c"',
  "'x,y,z'",
  "'  pad '",
  "'ÄÖ'",
  "'😀ab'",
  "''",
  "'a\\nb\\n'",
  "'%s-%d'",
  "'Abc Def'",
  "'1.5'",
  "'42'",
  "'{}'",
];
const names = ["n", "z", "neg", "f", "t", "nil", "s", "u", "e", "l", "ls", "d", "ld", "m", "el", "ed", "missing"];
const spaces = ["", "", "", " ", "\n", "\n  ", "x\n", " y "];

/** Makes templates. */
export class TemplateGenerator {
  readonly #below: (limit: number) => number;
  #names = 0;

  /** From a seed. */
  constructor(seed: number) {
    this.#below = randomBelow(seed);
  }

  /** The next template: an expression, or some statements. */
  next(): string {
    this.#names = 0;
    return this.#below(5) < 3 ? `{{ ${this.#expression(this.#kind(), 3)} }}` : this.#statements(2, []);
  }

  #one<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T;
  }

  #kind(): Kind {
    return this.#one(kinds);
  }

  #expression(wanted: Kind, depth: number): string {
    const kind = wanted === "any" || this.#below(40) === 0 ? this.#kind() : wanted;
    if (depth <= 0) return this.#atom(kind);
    const below = (inner: Kind): string => this.#expression(inner, depth - 1);
    if (this.#below(16) === 0) return `(${below(kind)} if ${below("bool")} else ${below(kind)})`;
    if (this.#below(20) === 0) return `(${below("any")} | default(${below(kind)}${this.#one(["", ", true"])}))`;
    switch (kind) {
      case "int":
        return this.#int(below);
      case "float":
        return this.#float(below);
      case "str":
        return this.#text(below);
      case "list":
        return this.#list(below);
      case "dict":
        return this.#dict(below);
      default:
        return this.#bool(below);
    }
  }

  #atom(kind: Kind): string {
    if (this.#below(60) === 0) return this.#one(names);
    const atoms: Readonly<Record<Kind, readonly string[]>> = {
      int: ["0", "1", "2", "-1", "3", "10", "n", "z", "neg", "1_000", "0x1f", "12345678901234567890"],
      float: ["0.5", "1.0", "f", "1e3", "2.675", "-0.0", "1e16", "1e-5", "3.14159"],
      str: [...strings, "s", "u", "e"],
      list: ["l", "ls", "m", "el", "[]", "[1, 'a']", "(1, 2)", "[4, 5.5]", "range(4)", "['p', 'q']"],
      dict: ["d", "ed", "{}", "{'a': 1, 'b': [2]}", "ld[0]", "dict(x=1)", "{1: 'one', 'k': none}"],
      bool: ["true", "false", "t", "True", "False", "none"],
      any: names,
    };
    return this.#one(atoms[kind]);
  }

  #int(below: (kind: Kind) => string): string {
    const forms = [
      () => `(${below("int")} ${this.#one(["+", "-", "*", "//", "%"])} ${below("int")})`,
      () => `(${below("int")} ** ${this.#one(["2", "3", "0"])})`,
      () => `${below("str")} | length`,
      () => `(${below("list")} | ${this.#one(["length", "count", "sum", "max", "min", "first", "last"])})`,
      () => `(${below("any")} | int${this.#one(["", "(7)", "(0, 16)"])})`,
      () => `${below("str")}.${this.#one(["find", "count", "rfind"])}(${below("str")})`,
      () => `(-${this.#atom("int")} | abs)`,
      () => `(${below("str")} | wordcount)`,
      () => `${below("list")}[${this.#one(["0", "-1", "1", "5"])}]`,
    ];
    return this.#one(forms)();
  }

  #float(below: (kind: Kind) => string): string {
    const forms = [
      () => `(${below("int")} / ${below("int")})`,
      () => `(${below("float")} ${this.#one(["+", "-", "*", "/", "//", "%"])} ${below(this.#one(["int", "float"]))})`,
      () => `(${below("any")} | float)`,
      () => `(${below("float")} | round${this.#one(["", "(1)", "(2)", "(0, 'ceil')", "(1, 'floor')"])})`,
    ];
    return this.#one(forms)();
  }

  #text(below: (kind: Kind) => string): string {
    const method = [
      "upper()",
      "lower()",
      "strip()",
      "lstrip('Hx ')",
      "rstrip('\\n')",
      "title()",
      "capitalize()",
      "swapcase()",
      "replace('a', 'bb')",
      "replace('l', '', 1)",
      "removeprefix('a')",
      "removesuffix('b')",
      "center(9, '*')",
      "ljust(6)",
      "zfill(5)",
      "expandtabs(4)",
      "partition(',')[0]",
      "casefold()",
    ];
    const filter = [
      "upper",
      "lower",
      "trim",
      "title",
      "capitalize",
      "string",
      "indent(2)",
      "indent(1, true, true)",
      "replace('l', 'L')",
      "center(11)",
      "truncate(6, true)",
      "truncate(8, false, '…', 0)",
      "reverse",
      "urlencode",
      "escape",
      "striptags",
      "tojson",
      "first",
      "last",
      "join('.')",
      "wordwrap(5)",
      "trim('a')",
    ];
    const forms = [
      () => `(${below("str")} + ${below("str")})`,
      () => `(${below("any")} ~ ${below("any")})`,
      () => `${below("str")}.${this.#one(method)}`,
      () => `${below("str")}.${this.#one(method)}`,
      () => `(${below("str")} | ${this.#one(filter)})`,
      () => `(${below("str")} | ${this.#one(filter)})`,
      () => `(${below("any")} | ${this.#one(["tojson", "string", "upper", "tojson(indent=2)", "pprint"])})`,
      () => `(${below("list")} | join(${this.#atom("str")}))`,
      () => `${this.#atom("str")}.join(${below("list")} | map('string'))`,
      () => `(${below("str")} * ${this.#one(["0", "2", "3", "-1"])})`,
      () => `${below("str")}[${this.#slice()}]`,
      () => `('${this.#one(["%s", "%5s|", "%-4d|", "%05.1f", "%x", "%r", "%+d", "%e", "%g"])}' % ${below("any")})`,
      () => `('%s %s' | format(${below("any")}, ${below("any")}))`,
      () =>
        `'${this.#one(["{}", "{:>6}", "{0!r:<8}|", "{:,}", "{:.2f}", "{:^7}", "{:05d}", "{:x}", "{:%}"])}'.format(${
          below("any")
        })`,
      () => `(${below("dict")} | xmlattr)`,
      () => `(${below("int")} | filesizeformat)`,
    ];
    return this.#one(forms)();
  }

  #slice(): string {
    return this.#one(["1:", ":2", "::-1", "-2:", "1:3", "::2", ":-1", "0", "-1", "5:1:-2", ":n"]);
  }

  #list(below: (kind: Kind) => string): string {
    const test = [
      "'odd'",
      "'string'",
      "'none'",
      "'gt', 1",
      "'in', [1, 2]",
      "'defined'",
      "'number'",
      "'eq', 'A'",
      "'mapping'",
    ];
    const filter = [
      "list",
      "sort",
      "sort(reverse=true)",
      "sort(case_sensitive=true)",
      "reverse | list",
      "unique | list",
      "batch(2) | list",
      "batch(2, 'x') | list",
      "slice(2) | list",
      "slice(2, 0) | list",
      "map('upper') | list",
      "map('string') | map('length') | list",
      "map('first') | list",
      "map('default', 'q') | list",
    ];
    const forms = [
      () => `[${below("any")}, ${below("any")}]`,
      () => `(${below("any")}, ${below("any")})`,
      () => `(${below("list")} + ${below("list")})`,
      () => `(${below("list")} * 2)`,
      () => `(${below("list")} | ${this.#one(filter)})`,
      () => `(${below("list")} | ${this.#one(filter)})`,
      () => `(${below("list")} | ${this.#one(["select", "reject"])}(${this.#one(test)}) | list)`,
      () => `(${below("list")} | ${this.#one(["select", "reject"])} | list)`,
      () =>
        `(ld | ${this.#one(["selectattr", "rejectattr"])}('${this.#one(["age", "name"])}', ${this.#one(test)}) | list)`,
      () =>
        `(ld | map(attribute='${this.#one(["name", "age", "none", "name.0"])}'${
          this.#one(["", ", default='-'"])
        }) | list)`,
      () => `(ld | groupby('${this.#one(["name", "age"])}'${this.#one(["", ", case_sensitive=true"])}) | list)`,
      () => `(ld | sort(attribute='${this.#one(["name", "age", "name,age"])}') | map(attribute='age') | list)`,
      () => `${below("list")}[${this.#slice()}]`,
      () =>
        `${below("str")}.${
          this.#one([
            "split()",
            "split(',')",
            "split('l', 1)",
            "rsplit(' ', 1)",
            "splitlines()",
            "splitlines(true)",
            "partition(' ')",
          ])
        }`,
      () => `(${below("dict")} | ${this.#one(["items | list", "dictsort", "dictsort(by='value')", "list", "length"])})`,
      () => `(${below("dict")}.${this.#one(["keys", "values", "items"])}() | list)`,
      () => `(${below("str")} | list)`,
      () => `range(${this.#one(["3", "1, 4", "5, 0, -2", "0"])}) | list`,
    ];
    return this.#one(forms)();
  }

  #dict(below: (kind: Kind) => string): string {
    const forms = [
      () => `{${this.#atom("str")}: ${below("any")}, 'k': ${below("any")}}`,
      () => `{${this.#atom("int")}: ${below("any")}, true: ${below("any")}}`,
      () => `dict(${below("dict")}.items(), q=${below("any")})`,
      () => `dict(${below("dict")})`,
      () => `{'n': ${below("dict")}}`,
    ];
    return this.#one(forms)();
  }

  #bool(below: (kind: Kind) => string): string {
    const kind = this.#kind();
    const sortable = this.#one(["int", "float"] as const);
    const tests = [
      "defined",
      "undefined",
      "none",
      "string",
      "number",
      "integer",
      "float",
      "boolean",
      "mapping",
      "sequence",
      "iterable",
      "true",
      "false",
      "odd",
      "even",
      "divisibleby(3)",
      "divisibleby 2",
      "eq(1)",
      "ne 'a'",
      "gt(2)",
      "le 3",
      "in [1, 'a', none]",
      "lower",
      "upper",
      "callable",
      "sameas true",
    ];
    const questions = [
      "isalpha()",
      "isdigit()",
      "isspace()",
      "isupper()",
      "istitle()",
      "startswith('H')",
      "endswith(('d', 'b'))",
      "isalnum()",
    ];
    const forms = [
      () => `(${below(kind)} ${this.#one(["==", "!="])} ${below(kind)})`,
      () => `(${below(sortable)} ${this.#one(["<", ">", "<=", ">="])} ${below(sortable)})`,
      () => `(${below("int")} < ${below("int")} <= ${below("int")})`,
      () => `(${below("any")} is ${this.#one(["", "not "])}${this.#one(tests)})`,
      () => `(${this.#atom("any")} ${this.#one(["in", "not in"])} ${below("list")})`,
      () => `(${below("str")} ${this.#one(["in", "not in"])} ${below("dict")})`,
      () => `(${below("str")} in ${below("str")})`,
      () => `(${below("any")} ${this.#one(["and", "or"])} ${below("any")})`,
      () => `(not ${below("any")})`,
      () => `${below("str")}.${this.#one(questions)}`,
      () => `(${below("dict")}.${this.#one(["a", "missing", "b.c", "get('a')", "get('q', 3)"])})`,
      () => `(d[${this.#one(["'a'", "'items'", "'keys'", "1", "missing", "nil"])}])`,
    ];
    return this.#one(forms)();
  }

  #tag(body: string): string {
    const open = this.#one(["{%", "{%", "{%", "{%-", "{%+"]);
    const close = this.#one(["%}", "%}", "%}", "-%}", "+%}"]);
    return `${open} ${body} ${close}`;
  }

  #output(scope: readonly string[]): string {
    const value = scope.length > 0 && this.#below(2) === 0 ? this.#one(scope) : this.#expression(this.#kind(), 1);
    return `${this.#one(["{{", "{{", "{{-"])} ${value} ${this.#one(["}}", "}}", "-}}"])}`;
  }

  #statements(depth: number, scope: readonly string[], inLoop = false): string {
    let text = "";
    const known = [...scope];
    for (let count = 1 + this.#below(3); count > 0; count--) {
      text += this.#one(spaces) + this.#statement(depth, known, inLoop);
    }
    return text + this.#one(spaces);
  }

  #statement(depth: number, scope: string[], inLoop: boolean): string {
    if (depth <= 0) return this.#output(scope);
    const body = (more: readonly string[] = [], loop = inLoop): string =>
      this.#statements(depth - 1, [...scope, ...more], loop);
    const name = `v${this.#names++}`;
    const value = (kind: Kind): string => this.#expression(kind, 2);
    const forms: (() => string)[] = [
      () => this.#output(scope),
      () => `{# ${this.#one(["note", "-", "{{ x }}"])} ${this.#one(["#}", "-#}"])}`,
      () => `${this.#tag(`if ${value("bool")}`)}${body()}${this.#tag("else")}${body()}${this.#tag("endif")}`,
      () =>
        `${this.#tag(`if ${value("bool")}`)}${body()}${this.#tag(`elif ${value("any")}`)}${body()}${
          this.#tag("endif")
        }`,
      () => this.#loop(name, value("list"), body),
      () => this.#loop(name, value(this.#one(["str", "dict", "list"])), body),
      () => {
        const other = `${name}b`;
        const pairs = this.#one([
          "d.items()",
          "d | items",
          "m",
          "ld | map('list')",
          "[(1, 2), (3, 4)]",
          "{'a': 1} | dictsort",
        ]);
        return `${this.#tag(`for ${name}, ${other} in ${pairs}`)}${body([name, other, "loop.index"], true)}${
          this.#tag("endfor")
        }`;
      },
      () => {
        const text = this.#tag(`set ${name} = ${value("any")}`);
        scope.push(name);
        return text;
      },
      () => {
        const text = `${this.#tag(`set ${name}${this.#one(["", " | upper", " | trim"])}`)}${body()}${
          this.#tag("endset")
        }`;
        scope.push(name);
        return text;
      },
      () => {
        const text = this.#tag(`set ns = namespace(x=${value("any")})`);
        scope.push("ns.x");
        return `${text}${this.#tag("for i in range(3)")}${this.#tag("set ns.x = ns.x ~ i")}${this.#tag("endfor")}`;
      },
      () => `${this.#tag(`with ${name} = ${value("any")}, w = 2`)}${body([name, "w"])}${this.#tag("endwith")}`,
      () =>
        `${this.#tag(`macro ${name}(a, b=${this.#atom("any")})`)}${this.#statements(depth - 1, ["a", "b"])}${
          this.#tag("endmacro")
        }{{ ${name}(${this.#one(["1", "'x', 2", "b=3", "1, b=2", ""])}) }}`,
      () =>
        `${this.#tag(`macro ${name}(a)`)}<{{ caller(${this.#one(["", "a"])}) }}>${this.#tag("endmacro")}${
          this.#tag(`call${this.#one(["", "(q)"])} ${name}(5)`)
        }${body()}${this.#tag("endcall")}`,
      () =>
        `${this.#tag(`filter ${this.#one(["upper", "trim", "replace('a', 'b') | upper", "indent(2)"])}`)}${body()}${
          this.#tag("endfilter")
        }`,
      () => `{% raw ${this.#one(["%}", "-%}"])}{{ x }} {% y %}\n${this.#tag("endraw")}`,
      () => `${this.#tag("generation")}${body([], false)}${this.#tag("endgeneration")}`,
    ];
    if (inLoop) {
      forms.push(() =>
        `${this.#tag(`if ${value("bool")}`)}${this.#one(spaces)}${this.#tag(this.#one(["break", "continue"]))}${
          this.#tag("endif")
        }`
      );
    }
    return this.#one(forms)();
  }

  #loop(name: string, values: string, body: (more: readonly string[], loop: boolean) => string): string {
    const attributes = [
      "index",
      "index0",
      "first",
      "last",
      "length",
      "revindex",
      "cycle('p', 'q')",
      "changed(1)",
      "previtem",
      "nextitem",
    ];
    const shown = [name, ...Array.from({ length: 3 }, () => `loop.${this.#one(attributes)}`)];
    const condition = this.#below(4) === 0
      ? ` if ${name} is ${this.#one(["string", "number", "defined", "not none"])}`
      : "";
    const rest = this.#below(3) === 0 ? `${this.#tag("else")}none` : "";
    return `${this.#tag(`for ${name} in ${values}${condition}`)}${body(shown, true)}${rest}${this.#tag("endfor")}`;
  }
}

/** As many templates as asked for. */
export function randomTemplates(seed: number, count: number): string[] {
  const generator = new TemplateGenerator(seed);
  return Array.from({ length: count }, () => generator.next());
}
