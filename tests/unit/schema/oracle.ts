/** What the tests of schemas are held against. */

import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import type fc from "fast-check";
import type { GrammarMatcher } from "../../../lib/gbnf/mod.ts";
import { type CharSet, rangesOf } from "../../../lib/gbnf/char_set.ts";

const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default;

/** Whether a value is valid, by ajv. */
export function ajvValidator(schema: unknown, draft: "2020-12" | "07"): (value: unknown) => boolean {
  const ajv = draft === "07"
    ? new Ajv({ strict: false, logger: false, ownProperties: true })
    : new Ajv2020({ strict: false, logger: false, ownProperties: true });
  addFormats(ajv);
  const validate = ajv.compile(schema as boolean | Record<string, unknown>);
  return (value) => validate(value) as boolean;
}

/** A text that a grammar allows, by going on at random; nothing when that takes too long. */
export function walk(start: GrammarMatcher, next: (below: number) => number, most = 600): string | undefined {
  let text = "";
  for (let length = 0; length < most; length++) {
    const sets = start.next;
    if (start.canEnd && (sets.length === 0 || next(3) === 0)) return text;
    if (sets.length === 0) return undefined;
    const point = pick(sets, next);
    if (!start.acceptPoint(point)) throw new Error("a character that may come next was refused");
    text += String.fromCodePoint(point);
  }
  return undefined;
}

/** Closing characters are taken often, or texts would rarely end. */
function pick(sets: readonly CharSet[], next: (below: number) => number): number {
  const ranges = sets.flatMap(rangesOf);
  const closing = ['"', "]", "}"].map((char) => char.charCodeAt(0)).filter((point) =>
    ranges.some(([first, last]) => point >= first && point <= last)
  );
  if (closing.length > 0 && next(2) === 0) return closing[next(closing.length)] as number;
  const [first, last] = rangesOf(sets[next(sets.length)] as CharSet).sort(() => next(3) - 1)[0] as [number, number];
  return first + next(Math.min(last - first + 1, 200));
}

/** A value or text, changed a little. */
export function mutateValue(value: unknown, next: (below: number) => number): unknown {
  if (next(4) === 0) return [null, true, 0, -1, 1.5, "", "x", [], {}, 1e9][next(10)];
  if (typeof value === "number") return value + [1, -1, 0.5, 1e6, -1e6, 10000][next(6)]!;
  if (typeof value === "string") {
    const chars = [...value];
    const at = next(chars.length + 1);
    if (next(2) === 0) chars.splice(at, 1);
    else chars.splice(at, 0, ["a", "9", "-", '"', "漢", "\n"][next(6)]!);
    return chars.join("");
  }
  if (Array.isArray(value)) {
    const copy = [...value];
    const at = next(copy.length + 1);
    const kind = next(3);
    if (kind === 0) copy.splice(at, 1);
    else if (kind === 1) copy.splice(at, 0, copy[0] ?? null);
    else if (at < copy.length) copy[at] = mutateValue(copy[at], next);
    return copy;
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    const at = next(entries.length + 1);
    const kind = next(4);
    if (kind === 0) entries.splice(at, 1);
    else if (kind === 1) entries.push([["new", "name2", "z"][next(3)]!, null]);
    else if (at < entries.length) entries[at] = [entries[at]![0], mutateValue(entries[at]![1], next)];
    return Object.fromEntries(entries);
  }
  return [null, true, "true", 0][next(4)];
}

/** A text with a character more, less or other. */
export function mutateText(text: string, next: (below: number) => number): string {
  const chars = [...text];
  const at = next(chars.length + 1);
  const some = [...'0123456789.eE+-",:[]{}\\ ntu\u0000\uffff'];
  const char = some[next(some.length)]!;
  const kind = next(3);
  if (kind === 0) chars.splice(at, 1);
  else if (kind === 1) chars.splice(at, 0, char);
  else chars.splice(at, 1, char);
  return chars.join("");
}

/** Whether a text is JSON that a schema allows. */
export function isValidText(text: string, valid: (value: unknown) => boolean): boolean {
  try {
    return valid(JSON.parse(text));
  } catch {
    return false;
  }
}

/** fast-check's settings: always the same cases. */
export function settings(numRuns: number, seed = 20_240_607): fc.Parameters<unknown> {
  return { numRuns, seed, endOnFailure: true };
}
