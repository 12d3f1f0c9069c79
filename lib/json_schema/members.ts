import { SchemaTooComplexError } from "../errors.ts";
import { choice, empty, type Expr, isNever, never, optional, sequence, text } from "./gbnf.ts";
import type { Leaf } from "./leaves.ts";
import { placeOf } from "./merge.ts";
import type { Rules } from "./rules.ts";

/** Parts of the grammar between the braces of an object. */
export interface Members {
  /** The named properties in order, each with its name. */
  readonly members: readonly { readonly expr: Expr; readonly required: boolean }[];
  /** Another property with its name; `undefined` when there are none. */
  readonly other: Expr | undefined;
  /** Another property whose name begins with a character of a group, by the number of the group. */
  readonly grouped: (group: number) => Expr;
  /** Another property that must be there, as the last one; `undefined` when none must. */
  readonly last: Expr | undefined;
  /** White space. */
  readonly space: Expr;
  /** For the names of rules. */
  readonly hint: string;
  /** Minimum number of properties. */
  readonly min: number;
  /** Maximum number of properties. */
  readonly max: number;
  /** Where the schema is, for errors. */
  readonly leaf: Leaf;
}

/** Counting properties takes a rule for each of them and each count. */
const MAX_COUNTED = 5000;

/** The grammar of an object's properties, in order, with commas between them. */
export function membersExpr(rules: Rules, given: Members): Expr {
  const { members, other, min, max } = given;
  const required = members.filter((member) => member.required).length;
  const counts = min > required || max < (other === undefined ? members.length : Infinity);
  return counts || given.last !== undefined ? counted(rules, given, required) : plain(rules, given);
}

function plain(rules: Rules, { members, other, space, hint }: Members): Expr {
  const comma = sequence(text(","), space);
  const others = other === undefined || isNever(other)
    ? empty
    : rules.repeated(`${hint}-more`, sequence(comma, other), 0, Infinity, "");
  const firstRequired = members.findIndex((member) => member.required);
  const optionalFirst = firstRequired < 0 ? members.length : firstRequired;
  // What follows from each place on, last part first, when something is written already. Only up to the first required one is it needed more than once.
  let rest: Expr[] = [others];
  const rests: Expr[] = [];
  for (let at = members.length - 1; at > 0; at--) {
    const { expr, required } = members[at] as Members["members"][number];
    if (at <= optionalFirst) rests[at + 1] = sequence(...rest.toReversed());
    const more = sequence(comma, expr);
    rest.push(required ? more : optional(more));
    if (at <= optionalFirst) rest = [rules.add(`${hint}-rest`, sequence(...rest.toReversed()))];
  }
  rests[1] = sequence(...rest.toReversed());
  const starts = members.slice(0, optionalFirst + 1).map(({ expr }, at) => sequence(expr, rests[at + 1] ?? others));
  if (firstRequired < 0 && other !== undefined && !isNever(other)) starts.push(sequence(other, others));
  if (starts.length === 0) return empty;
  const some = sequence(choice(...starts), space);
  return firstRequired < 0 ? optional(some) : some;
}

/** With a least or greatest number of properties, or one that must be the last: each place knows how many are written. */
function counted(rules: Rules, given: Members, required: number): Expr {
  const { members, space, hint, min, max, leaf } = given;
  const other = given.other === undefined || isNever(given.other) ? undefined : given.other;
  const finite = max === Infinity ? Math.max(min, 1) : max;
  if ((members.length + 1) * Math.min(finite, members.length + finite) > MAX_COUNTED) {
    const path = placeOf(leaf, min > required ? "minProperties" : "maxProperties");
    throw new SchemaTooComplexError(`the schema's ${path} counts too many properties; leave it out`, {
      path,
      expected: "fewer properties",
    });
  }
  const comma = sequence(text(","), space);
  const known = new Map<string, Expr>();
  // Beyond what counts, it makes no difference how many are written.
  const enough = max === Infinity ? Math.max(min, 1) : Infinity;
  const from = (at: number, written: number): Expr => {
    const key = `${at},${written}`;
    let expr = known.get(key);
    if (expr !== undefined) return expr;
    const member = members[at];
    if (member === undefined) expr = rules.add(`${hint}-end`, others(rules, given, other, comma, written));
    else {
      const taken = written < max
        ? sequence(written > 0 ? comma : empty, member.expr, from(at + 1, Math.min(enough, written + 1)))
        : never;
      const options = member.required ? [taken] : [taken, from(at + 1, written)];
      expr = rules.add(`${hint}-from`, choice(...options.filter((option) => !isNever(option))));
    }
    known.set(key, expr);
    return expr;
  };
  const all = from(0, 0);
  return isNever(all) ? never : sequence(all, space);
}

/** The other properties, when so many are written. Those that are needed begin with different characters, in order, so that none is written twice. */
function others(rules: Rules, given: Members, other: Expr | undefined, comma: Expr, written: number): Expr {
  const { hint, min, max, last } = given;
  const lastOne = last === undefined ? 0 : 1;
  const needed = Math.max(0, min - written);
  const path = placeOf(given.leaf, "minProperties");
  if (needed > 0 && other === undefined && (last === undefined || needed > 1)) return never;
  if (written + needed + lastOne > max) return never;
  const some = (expr: Expr, first: boolean) => sequence(first ? empty : comma, expr);
  const free = (done: number): Expr => {
    if (other === undefined) return end(done);
    const more = max === Infinity ? Infinity : max - done - lastOne;
    if (more <= 0) return end(done);
    if (done > 0) {
      return sequence(rules.repeated(`${hint}-more`, sequence(comma, other), 0, more, path), end(done));
    }
    const rest = rules.repeated(`${hint}-more`, sequence(comma, other), 0, more - 1, path);
    return choice(sequence(other, rest, end(1)), end(0));
  };
  const end = (done: number): Expr => last === undefined ? empty : some(last, done === 0);
  if (needed === 0) return free(written);
  if (needed === 1 && written === 0 && last === undefined) {
    const more = max === Infinity ? Infinity : max - 1;
    return sequence(other as Expr, rules.repeated(`${hint}-more`, sequence(comma, other as Expr), 0, more, path));
  }
  return distinct(rules, given, comma, written, needed, free(written + needed));
}

/** Properties that begin with different characters. */
function distinct(rules: Rules, given: Members, comma: Expr, written: number, needed: number, rest: Expr): Expr {
  const known = new Map<string, Expr>();
  const from = (group: number, left: number): Expr => {
    if (left === 0) return rest;
    if (group + left > NAME_GROUPS) return never;
    const key = `${group},${left}`;
    let expr = known.get(key);
    if (expr === undefined) {
      const first = written === 0 && left === needed;
      const one = given.grouped(group);
      const here = isNever(one) ? never : sequence(first ? empty : comma, one, from(group + 1, left - 1));
      const options = [here, from(group + 1, left)].filter((option) => !isNever(option));
      known.set(key, expr = rules.add(`${given.hint}-others`, choice(...options)));
    }
    return expr;
  };
  return from(0, needed);
}

const letters = [..."abcdefghijklmnopqrstuvwxyz"];
/** Patterns of names that begin with a character of a group; no two match the same name. */
export const nameGroups: readonly string[] = [
  "^[0-9]",
  "^[A-Z]",
  ...letters.map((letter) => `^${letter}`),
  "^[^0-9A-Za-z]",
];
const NAME_GROUPS = nameGroups.length;
