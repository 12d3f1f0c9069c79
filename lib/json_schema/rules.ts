import { SchemaTooComplexError } from "../errors.ts";
import { countWork } from "./work.ts";
import { choice, empty, type Expr, isNever, never, optional, repeat, rule, sequence, write } from "./gbnf.ts";

/** More rules than this are no schema that a model could follow. */
const MAX_RULES = 50_000;
/** llama.cpp keeps to repetitions up to 2,000; shorter ones are joined. */
const LONGEST_REPEAT = 1000;
const LONGEST_COUNT = 1_000_000;

/** The rules of a grammar that is being made. */
export class Rules {
  readonly #prefix: string;
  readonly #bodies = new Map<string, Expr>();
  readonly #byBody = new Map<string, string>();
  readonly #next = new Map<string, number>();
  readonly #written = new Map<Expr, string>();

  /** The names of all rules begin with the prefix. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** A name that is not yet taken, like the one given. */
  name(hint: string): string {
    const clean = /^[a-zA-Z0-9][a-zA-Z0-9-]{0,39}$/.test(hint)
      ? hint
      : hint.replaceAll(/[^a-zA-Z0-9]+/g, "-").replaceAll(/^-+|-+$/g, "").slice(0, 40) || "x";
    const number = this.#next.get(clean);
    this.#next.set(clean, (number ?? 1) + 1);
    // A digit behind a hyphen at the end is ours alone: names that end so themselves get another.
    const unique = number === undefined && !/-\d+$/.test(clean) ? clean : `${clean}-${number ?? 1}`;
    return `${this.#prefix}${unique}`;
  }

  /** Sets what a name that was taken before stands for. */
  set(name: string, body: Expr): void {
    countWork(5);
    this.#bodies.set(name, body);
    if (this.#bodies.size > MAX_RULES) {
      throw new SchemaTooComplexError(
        `the schema's grammar has more than ${MAX_RULES} rules; make the schema smaller`,
        {
          value: this.#bodies.size,
          expected: `at most ${MAX_RULES} rules`,
        },
      );
    }
  }

  /** A rule for an expression: the same one for the same expression. */
  add(hint: string, body: Expr): Expr {
    if (isNever(body) || body.kind === "rule" || (body.kind === "text" && body.text.length < 12)) return body;
    const key = write(body);
    const known = this.#byBody.get(key);
    if (known !== undefined) return rule(known);
    const name = this.name(hint);
    this.#byBody.set(key, name);
    this.#written.set(body, key);
    this.set(name, body);
    return rule(name);
  }

  /** From `min` to `max` times a short expression, however many that is, with few rules and few ways to read a text. */
  repeated(hint: string, item: Expr, min: number, max: number, path: string): Expr {
    if (isNever(item)) return min === 0 ? empty : never;
    for (const count of [min, max]) {
      if (count !== Infinity && count > LONGEST_COUNT) {
        throw new SchemaTooComplexError(
          `the schema counts to ${count} at ${path || "its root"}; at most ${LONGEST_COUNT} is possible`,
          {
            path,
            value: count,
            expected: `at most ${LONGEST_COUNT}`,
          },
        );
      }
    }
    const one = item.kind === "chars" ? item : this.add(hint, item);
    if (min <= LONGEST_REPEAT && (max === Infinity || max <= LONGEST_REPEAT)) return repeat(one, min, max);
    const first = this.#exactly(hint, one, min);
    return sequence(first, max === Infinity ? repeat(one, 0, Infinity) : this.#atMost(hint, one, max - min));
  }

  #exactly(hint: string, one: Expr, count: number): Expr {
    if (count <= LONGEST_REPEAT) return repeat(one, count, count);
    const block = this.add(hint, repeat(one, LONGEST_REPEAT, LONGEST_REPEAT));
    const rest = count % LONGEST_REPEAT;
    return sequence(
      repeat(block, Math.floor(count / LONGEST_REPEAT), Math.floor(count / LONGEST_REPEAT)),
      repeat(one, rest, rest),
    );
  }

  /** Blocks of a fixed size, then a last one that may be cut: at any point there are two ways to read a text, not one for each length. */
  #atMost(hint: string, one: Expr, count: number): Expr {
    if (count <= LONGEST_REPEAT) return repeat(one, 0, count);
    const block = this.add(hint, repeat(one, LONGEST_REPEAT, LONGEST_REPEAT));
    const part = this.add(hint, repeat(one, 0, LONGEST_REPEAT - 1));
    let rest = repeat(one, 0, count % LONGEST_REPEAT);
    for (let blocks = Math.floor(count / LONGEST_REPEAT); blocks > 0; blocks--) {
      rest = this.add(hint, choice(sequence(block, rest), part));
    }
    return rest;
  }

  /** Takes out what no text can come of: rules that only ever lead to more of themselves. Whether a rule is left. */
  prune(root: string): boolean {
    const ends = new Set<string>();
    for (let size = -1; size !== ends.size;) {
      size = ends.size;
      for (const [name, body] of this.#bodies) if (!ends.has(name) && canEnd(body, ends)) ends.add(name);
    }
    const bodies = [...this.#bodies];
    this.#bodies.clear();
    if (!ends.has(root)) return false;
    for (const [name, body] of bodies) {
      if (ends.has(name)) this.#bodies.set(name, ends.size === bodies.length ? body : without(body, ends));
    }
    return true;
  }

  /** The rules that can be reached from one, in GBNF. */
  write(root: string): string {
    const reached = new Set<string>([root]);
    for (const name of reached) {
      const body = this.#bodies.get(name);
      if (body !== undefined) visit(body, (found) => reached.add(found));
    }
    return [...reached].map((name) => `${name} ::= ${this.#write(this.#bodies.get(name) ?? never)}\n`).join("");
  }

  #write(body: Expr): string {
    return this.#written.get(body) ?? write(body);
  }
}

function visit(expr: Expr, found: (name: string) => void): void {
  if (expr.kind === "rule") found(expr.name);
  else if (expr.kind === "sequence") expr.items.forEach((item) => visit(item, found));
  else if (expr.kind === "choice") expr.options.forEach((option) => visit(option, found));
  else if (expr.kind === "repeat") visit(expr.item, found);
}

function canEnd(expr: Expr, ends: ReadonlySet<string>): boolean {
  switch (expr.kind) {
    case "rule":
      return ends.has(expr.name);
    case "sequence":
      return expr.items.every((item) => canEnd(item, ends));
    case "choice":
      return expr.options.some((option) => canEnd(option, ends));
    case "repeat":
      return expr.min === 0 || canEnd(expr.item, ends);
    default:
      return true;
  }
}

function without(expr: Expr, ends: ReadonlySet<string>): Expr {
  switch (expr.kind) {
    case "rule":
      return ends.has(expr.name) ? expr : never;
    case "sequence":
      return sequence(...expr.items.map((item) => without(item, ends)));
    case "choice":
      return choice(...expr.options.map((option) => without(option, ends)).filter((option) => !isNever(option)));
    case "repeat": {
      const item = without(expr.item, ends);
      return expr.max === 1 && expr.min === 0 ? optional(item) : repeat(item, expr.min, expr.max);
    }
    default:
      return expr;
  }
}
