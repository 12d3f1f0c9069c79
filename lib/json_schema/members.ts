import { SchemaTooComplexError, UnsupportedKeywordError } from "../errors.ts";
import { choice, empty, type Expr, isNever, never, optional, sequence, text } from "./gbnf.ts";
import type { Leaf } from "./leaves.ts";
import { placeOf } from "./merge.ts";
import type { Rules } from "./rules.ts";

/** What is between the braces of an object. */
export interface Members {
  /** The named properties in order, each with its name. */
  readonly members: readonly { readonly expr: Expr; readonly required: boolean }[];
  /** Another property with its name; nothing when there are none. */
  readonly other: Expr | undefined;
  /** White space. */
  readonly space: Expr;
  /** For the names of rules. */
  readonly hint: string;
  /** How many properties at least. */
  readonly min: number;
  /** How many properties at most. */
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
  return counts ? counted(rules, given, required) : plain(rules, given);
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

/** With a least or greatest number of properties: each place knows how many are written. */
function counted(rules: Rules, { members, other, space, hint, min, max, leaf }: Members, required: number): Expr {
  const path = placeOf(leaf, min > required ? "minProperties" : "maxProperties");
  if (other !== undefined && !isNever(other)) {
    throw new UnsupportedKeywordError(
      `the schema's ${path} can't be kept to where other properties than the named ones are allowed: one may be written twice; set additionalProperties to false`,
      { path, expected: "additionalProperties: false beside it" },
    );
  }
  if (members.length * Math.min(max, members.length) > MAX_COUNTED) {
    throw new SchemaTooComplexError(`the schema's ${path} counts too many properties; leave it out`, {
      path,
      expected: "fewer properties",
    });
  }
  const comma = sequence(text(","), space);
  const known = new Map<string, Expr>();
  const from = (at: number, written: number): Expr => {
    const member = members[at];
    if (member === undefined) return written >= min ? empty : never;
    const key = `${at},${written}`;
    let expr = known.get(key);
    if (expr === undefined) {
      const taken = written < max
        ? sequence(written > 0 ? comma : empty, member.expr, from(at + 1, written + 1))
        : never;
      const options = member.required ? [taken] : [taken, from(at + 1, written)];
      expr = rules.add(`${hint}-from`, choice(...options.filter((option) => !isNever(option))));
      known.set(key, expr);
    }
    return expr;
  };
  const all = from(0, 0);
  return isNever(all) ? never : sequence(all, space);
}
