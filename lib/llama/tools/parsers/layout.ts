/**
 * The layout of calls, derived from the calls that a template writes.
 *
 * @module
 */

import { PROBE_ARGUMENTS, PROBE_KEYS, PROBE_TOOL, type WrittenCalls } from "./probe.ts";

/** The form of arguments: JSON within a JSON object that has the name too, JSON behind the name, or elements. */
export type LayoutKind = "object" | "named" | "markup";

/** The layout of calls: `open` name `middle` arguments, `between` further calls, `close`. */
export interface CallLayout {
  /** The form of the arguments. */
  readonly kind: LayoutKind;
  /** Before the name of the first call. */
  readonly open: string;
  /** Before the name of a call, as far as it is the same for all. */
  readonly callOpen: string;
  /** Between name and arguments. */
  readonly middle: string;
  /** Before the name of an argument, between it and its value, and behind the value. */
  readonly argument: readonly [before: string, between: string, behind: string] | undefined;
  /** Behind the arguments of a call, up to the `callOpen` of the next; `undefined` when there is only one call. */
  readonly between: string | undefined;
  /** Behind the arguments of the last call. */
  readonly close: string;
}

/** Returns the layout of written calls; `undefined` when it is none of the known kinds. */
export function layoutOf({ one, two }: WrittenCalls): CallLayout | undefined {
  const name = one.indexOf(PROBE_TOOL);
  if (name < 0 || one.indexOf(PROBE_TOOL, name + 1) >= 0 || one.includes("probe0001")) return undefined;
  const behind = name + PROBE_TOOL.length;
  const json = jsonArguments(one, behind, 0);
  if (json === undefined) return markupLayout(one, two, name);
  const open = one.slice(0, name);
  const middle = one.slice(behind, json.from);
  const second = two === undefined ? undefined : secondCall(two, json.to, open);
  return {
    kind: /["']$/.test(open) ? "object" : "named",
    open,
    middle,
    argument: undefined,
    close: one.slice(json.to),
    ...second ?? single(open),
  };
}

function single(open: string): { callOpen: string; between: undefined } {
  return { callOpen: open, between: undefined };
}

/** Finds the arguments as one JSON object. */
function jsonArguments(text: string, from: number, call: 0 | 1): { from: number; to: number } | undefined {
  const start = text.indexOf("{", from);
  const last = String(PROBE_ARGUMENTS[call].probe_count);
  const end = text.indexOf("}", text.indexOf(last, from)) + 1;
  if (start < 0 || end <= start) return undefined;
  try {
    const value = JSON.parse(text.slice(start, end)) as Record<string, unknown>;
    return PROBE_KEYS.every((key) => value[key] === PROBE_ARGUMENTS[call][key]) ? { from: start, to: end } : undefined;
  } catch {
    return undefined;
  }
}

/** The text from the end of the first call's arguments to the second call's name, cut where the second call begins. */
function secondCall(
  two: string,
  from: number,
  open: string,
): { callOpen: string; between: string } | undefined {
  const name = two.indexOf(PROBE_TOOL, from);
  if (name < 0) return undefined;
  const gap = two.slice(from, name);
  const callOpen = commonSuffix(gap, open);
  return callOpen.trim() === "" ? undefined : { callOpen, between: gap.slice(0, gap.length - callOpen.length) };
}

function markupLayout(one: string, two: string | undefined, name: number): CallLayout | undefined {
  const [textKey, countKey] = PROBE_KEYS;
  const { probe_text: text, probe_count: count } = PROBE_ARGUMENTS[0];
  const parts: string[] = [];
  let from = name + PROBE_TOOL.length;
  for (const part of [textKey, text, countKey, String(count)]) {
    const at = one.indexOf(part, from);
    if (at < 0) return undefined;
    parts.push(one.slice(from, at));
    from = at + part.length;
  }
  const [first = "", equals = "", next = "", secondEquals = ""] = parts;
  const before = commonSuffix(first, next);
  const behind = next.slice(0, next.length - before.length);
  const rest = one.slice(from);
  if (equals !== secondEquals || before.trim() === "" || behind.trim() === "" || !rest.startsWith(behind)) {
    return undefined;
  }
  const open = one.slice(0, name);
  const second = two === undefined ? undefined : secondCall(two, from + behind.length, open);
  return {
    kind: "markup",
    open,
    middle: first.slice(0, first.length - before.length),
    argument: [before, equals, behind],
    close: rest.slice(behind.length),
    ...second ?? single(open),
  };
}

function commonSuffix(a: string, b: string): string {
  let length = 0;
  while (length < Math.min(a.length, b.length) && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  const suffix = a.slice(a.length - length);
  // Not from within a mark: `>` alone begins nothing.
  const mark = /^[^<[{]*[>\]}]/.exec(suffix);
  return mark === null ? suffix : suffix.slice(mark[0].length);
}
