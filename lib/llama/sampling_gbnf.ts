import { GrammarError } from "../errors.ts";

/** A part of a rule, as far as it matters for whether the grammar can be used: whether it takes a character, and what may come first in it. */
type Item =
  | { readonly kind: "text"; readonly length: number }
  | { readonly kind: "rule"; readonly name: string }
  | { readonly kind: "group"; readonly alternates: readonly Item[][] }
  | { readonly kind: "repeat"; readonly of: Item; readonly min: number; readonly max: number };

/** What a grammar in GBNF consists of: rules by name, each a list of alternates. */
type Rules = ReadonlyMap<string, readonly Item[][]>;

/** llama.cpp refuses more repetitions, and those of what is repeated already count too. */
const mostRepetitions = 2000;
/** Groups inside groups: llama.cpp reads them by recursion. */
const deepestGroup = 200;
/** Elements of all rules with their repetitions written out, some 16 bytes each. */
const mostElements = 2_000_000;
/** Places where a text can be at once; llama.cpp compares each with each. */
const mostPaths = 20_000;
/** Rules that begin with one another. */
const deepestPath = 3000;

/**
 * Checks a grammar in GBNF as llama.cpp reads it, and refuses besides what would make llama.cpp hang or run out of its stack: rules that begin with
 * themselves, also in a roundabout way, groups nested too deep, and too many ways to begin.
 *
 * Throws {@linkcode GrammarError}, which names the line and column.
 */
export function checkGbnf(source: string, root = "root"): void {
  const rules = new Reader(source).rules();
  if (rules.size === 0) {
    throw new GrammarError("the grammar has no rules", { value: source, expected: `${root} ::= …` });
  }
  if (!rules.has(root)) {
    throw new GrammarError(
      `the grammar has no rule ${JSON.stringify(root)}, where it would begin; it has ${
        [...rules.keys()].slice(0, 5).join(", ")
      }`,
      {
        value: root,
        expected: `a rule ${root} ::= …`,
      },
    );
  }
  new Beginnings(rules).check();
}

class Reader {
  readonly #source: string;
  readonly #rules = new Map<string, readonly Item[][]>();
  readonly #used = new Map<string, number>();
  #at = 0;
  #depth = 0;
  #elements = 0;

  constructor(source: string) {
    this.#source = source;
  }

  rules(): Rules {
    const zero = this.#source.indexOf("\0");
    if (zero >= 0) this.#fail("a NUL character", "text without \\0", zero);
    this.#space(true);
    while (this.#at < this.#source.length) this.#rule();
    for (const [name, at] of this.#used) {
      if (!this.#rules.has(name)) {
        this.#fail(`no rule ${JSON.stringify(name)}, which is used here`, `${name} ::= …`, at);
      }
    }
    return this.#rules;
  }

  #rule(): void {
    const name = this.#word(/[a-zA-Z0-9-]+/y);
    if (name === undefined) return this.#fail("no name where a rule should begin", "a name of letters, digits and -");
    this.#space(false);
    if (!this.#skip("::=")) this.#fail(`no ::= behind the name ${name}`, "::=");
    this.#space(true);
    this.#rules.set(name, this.#alternates(false));
    if (this.#at < this.#source.length && !this.#skip("\r\n") && !this.#skip("\n") && !this.#skip("\r")) {
      this.#fail(
        `${JSON.stringify(this.#source[this.#at])} inside the rule ${name}`,
        "a part of a rule, or the end of the line",
      );
    }
    this.#space(true);
  }

  #alternates(nested: boolean): Item[][] {
    const alternates = [this.#sequence(nested)];
    while (this.#skip("|")) {
      this.#space(true);
      alternates.push(this.#sequence(nested));
    }
    return alternates;
  }

  #sequence(nested: boolean): Item[] {
    const items: Item[] = [];
    let repeated = 1;
    for (;;) {
      const item = this.#item();
      if (item !== undefined) {
        items.push(item);
        repeated = item.kind === "group" ? Math.max(1, groupsIn(item)) : 1;
      } else {
        const times = this.#times(nested);
        if (times === undefined) return items;
        const last = items.at(-1);
        if (last === undefined || sizeOf(last) === 0) {
          return this.#fail("a repetition of nothing", "something before it");
        }
        const total = times.max !== Infinity && times.max > 0 ? times.max : Math.max(1, times.min);
        if (repeated * total > mostRepetitions) {
          this.#fail("too many repetitions", `at most ${mostRepetitions} with those inside`);
        }
        repeated *= total;
        items[items.length - 1] = this.#counted({ kind: "repeat", of: last, ...times });
      }
      this.#space(nested);
    }
  }

  #item(): Item | undefined {
    if (this.#skip('"')) return this.#counted({ kind: "text", length: this.#literal() });
    if (this.#skip("[")) return this.#counted({ kind: "text", length: this.#characters() });
    if (this.#skip(".")) return this.#counted({ kind: "text", length: 1 });
    if (this.#skip("(")) return this.#group();
    if (/[<!]/.test(this.#source[this.#at] ?? "")) return this.#token();
    const at = this.#at;
    const name = this.#word(/[a-zA-Z0-9-]+/y);
    if (name === undefined) return undefined;
    if (!this.#used.has(name)) this.#used.set(name, at);
    return this.#counted({ kind: "rule", name });
  }

  #group(): Item {
    if (++this.#depth > deepestGroup) {
      this.#fail("groups nested too deep", `at most ${deepestGroup} inside one another`);
    }
    this.#space(true);
    const alternates = this.#alternates(true);
    if (!this.#skip(")")) this.#fail("a group that isn't closed", ")");
    this.#depth--;
    return { kind: "group", alternates };
  }

  #counted(item: Item): Item {
    this.#elements += sizeOf(item);
    if (this.#elements > mostElements) {
      this.#fail("too large a grammar", `at most ${mostElements} elements with repetitions`);
    }
    return item;
  }

  /** `"…"` behind the first quote: how many characters. */
  #literal(): number {
    let length = 0;
    while (!this.#skip('"')) {
      this.#character();
      length++;
    }
    return length;
  }

  /** `[…]` behind the bracket: 1, or 0 when it is empty. */
  #characters(): number {
    this.#skip("^");
    let any = 0;
    while (!this.#skip("]")) {
      this.#character();
      any = 1;
      if (this.#source[this.#at] === "-" && this.#source[this.#at + 1] !== "]") {
        this.#at++;
        this.#character();
      }
    }
    return any;
  }

  #character(): void {
    const point = this.#source.codePointAt(this.#at);
    if (point === undefined) return this.#fail("an end inside quotes or brackets", "the closing quote or bracket");
    if (point !== 0x5c) {
      this.#at += point > 0xffff ? 2 : 1;
      return;
    }
    const escape = this.#word(/\\(?:[trn\\"[\]-]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})/y);
    if (escape === undefined) {
      this.#fail("an unknown escape", String.raw`\t, \r, \n, \\, \", \[, \], \-, \xHH, \uHHHH or \UHHHHHHHH`);
    }
  }

  /** `<token>`, `<[id]>`, each also behind `!`. */
  #token(): Item {
    if (this.#word(/!?<(?:\[\d{1,9}\]|[^[>\0][^>\0]*)>/y) === undefined) {
      this.#fail("no whole token", "<name> or <[number]>");
    }
    return this.#counted({ kind: "text", length: 1 });
  }

  #times(nested: boolean): { min: number; max: number } | undefined {
    if (this.#skip("*")) return { min: 0, max: Infinity };
    if (this.#skip("+")) return { min: 1, max: Infinity };
    if (this.#skip("?")) return { min: 0, max: 1 };
    if (!this.#skip("{")) return undefined;
    this.#space(nested);
    const min = this.#integer();
    if (min === undefined) return this.#fail("no number behind {", "{3}, {3,} or {3,5}");
    this.#space(nested);
    let max: number | undefined = min;
    if (this.#skip(",")) {
      this.#space(nested);
      max = this.#integer() ?? Infinity;
      this.#space(nested);
    }
    if (!this.#skip("}")) return this.#fail("a { that isn't closed", "{3}, {3,} or {3,5}");
    if (min > mostRepetitions) return this.#fail("too many repetitions", `at most ${mostRepetitions}`);
    if (max < min) return this.#fail(`a repetition of ${min} to ${max}`, "the smaller number first");
    // So does llama.cpp.
    return { min, max: max > mostRepetitions ? Infinity : max };
  }

  #integer(): number | undefined {
    const digits = this.#word(/\d+/y);
    if (digits === undefined) return undefined;
    return digits.length <= 9 ? Number(digits) : this.#fail("too large a number", "at most 999999999");
  }

  #word(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #skip(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  /** White space and comments. */
  #space(lines: boolean): void {
    this.#word(lines ? /(?:[ \t\r\n]|#[^\r\n]*)*/y : /(?:[ \t]|#[^\r\n]*)*/y);
  }

  #fail(what: string, expected: string, at = this.#at): never {
    const before = this.#source.slice(0, at).split("\n");
    const line = before.length;
    const column = (before.at(-1)?.length ?? 0) + 1;
    const near = this.#source.slice(at, at + 30).split("\n")[0] ?? "";
    throw new GrammarError(
      `the grammar has ${what}, at line ${line}, column ${column}${
        near === "" ? "" : ` (${JSON.stringify(near)})`
      }; it needs ${expected}`,
      { value: near, expected },
    );
  }
}

function sizeOf(item: Item): number {
  if (item.kind === "text") return item.length;
  if (item.kind !== "repeat") return 1;
  const one = sizeOf(item.of);
  const optional = item.max === Infinity ? 1 : item.max - item.min;
  return one * item.min + optional * (one + 3);
}

/** How many rules llama.cpp makes of a group. */
function groupsIn(item: Item): number {
  if (item.kind === "group") return 1 + item.alternates.flat().reduce((sum, one) => sum + groupsIn(one), 0);
  if (item.kind === "repeat") return groupsIn(item.of) + (item.max === Infinity ? 1 : item.max - item.min);
  return 0;
}

/** How many ways there are to begin a rule, and how deep they go. */
interface Paths {
  readonly count: number;
  readonly depth: number;
}

/** What the rules can begin with. */
class Beginnings {
  readonly #rules: Rules;
  readonly #empty = new Set<string>();
  readonly #paths = new Map<string, Paths | undefined>();

  constructor(rules: Rules) {
    this.#rules = rules;
    for (let size = -1; size !== this.#empty.size;) {
      size = this.#empty.size;
      for (const [name, alternates] of rules) {
        if (alternates.some((one) => one.every((item) => this.#canBeEmpty(item)))) this.#empty.add(name);
      }
    }
  }

  check(): void {
    for (const name of this.#rules.keys()) this.#pathsOf(name, 0);
  }

  #canBeEmpty(item: Item): boolean {
    switch (item.kind) {
      case "text":
        return item.length === 0;
      case "rule":
        return this.#empty.has(item.name);
      case "group":
        return item.alternates.some((one) => one.every((inner) => this.#canBeEmpty(inner)));
      case "repeat":
        return item.min === 0 || this.#canBeEmpty(item.of);
    }
  }

  #pathsOf(name: string, depth: number): Paths {
    const known = this.#paths.get(name);
    if (known !== undefined) return known;
    if (this.#paths.has(name)) {
      throw new GrammarError(
        `the rule ${name} can begin with itself, which llama.cpp can't read (left recursion); put something before it`,
        {
          value: name,
          expected: "a rule that begins with something else",
        },
      );
    }
    if (depth > deepestPath) this.#refuse(name, `begins ${deepestPath} rules deep`);
    this.#paths.set(name, undefined);
    const paths = this.#alternates(name, this.#rules.get(name) ?? [], depth + 1);
    this.#paths.set(name, paths);
    return paths;
  }

  #alternates(name: string, alternates: readonly Item[][], depth: number): Paths {
    let count = 1;
    let deepest = 0;
    for (const items of alternates) {
      for (const item of items) {
        const paths = this.#item(name, item, depth);
        count += paths.count;
        deepest = Math.max(deepest, paths.depth);
        if (!this.#canBeEmpty(item)) break;
      }
    }
    if (count > mostPaths) this.#refuse(name, `can begin in more than ${mostPaths} ways`);
    return { count, depth: deepest + 1 };
  }

  #item(name: string, item: Item, depth: number): Paths {
    switch (item.kind) {
      case "text":
        return { count: 1, depth: 0 };
      case "rule":
        return this.#pathsOf(item.name, depth);
      case "group":
        return this.#alternates(name, item.alternates, depth + 1);
      case "repeat": {
        const one = this.#item(name, item.of, depth);
        if (!this.#canBeEmpty(item.of)) return { count: one.count + 1, depth: one.depth + 1 };
        if (item.max === Infinity) this.#refuse(name, "repeats without end what can be empty");
        return { count: (one.count + 1) * item.max, depth: one.depth + item.max };
      }
    }
  }

  #refuse(name: string, what: string): never {
    throw new GrammarError(`the grammar's rule ${name} ${what}; write it more simply`, {
      value: name,
      expected: "a simpler rule",
    });
  }
}
