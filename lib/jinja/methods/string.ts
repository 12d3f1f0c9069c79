import { typeError, valueError } from "../errors.ts";
import type { Run } from "../run.ts";
import { define, defineAll } from "../values/args.ts";
import { index, indexOr } from "../values/numbers.ts";
import { derived, sliceText, type Str, textOf } from "../values/text.ts";
import type { Callable, Value } from "../values/types.ts";
import { formatMap, formatText } from "./format.ts";
import { capitalize, casefold, questions, swapcase, title } from "./string_case.ts";
import {
  count,
  expandTabs,
  find,
  flag,
  hasEnd,
  join,
  needStr,
  pad,
  partition,
  replace,
  split,
  splitLines,
  strip,
  zfill,
} from "./string_parts.ts";

/** A method that changes all characters. */
function changing(change: (text: string) => string): readonly ["self", 1, (run: Run, self: Str) => Value] {
  return ["self", 1, (run, self) => {
    const text = change(textOf(self));
    run.text(text.length);
    return derived(text, self);
  }];
}

function found(at: number): bigint {
  return at < 0 ? valueError("substring not found") : BigInt(at);
}

type Optional = Value | undefined;

/** The methods of Python's `str`, each with the text as its first argument. */
export const stringMethods: ReadonlyMap<string, Callable> = new Map([
  ...defineAll({
    upper: changing((text) => text.toUpperCase()),
    lower: changing((text) => text.toLowerCase()),
    capitalize: changing(capitalize),
    title: changing(title),
    swapcase: changing(swapcase),
    casefold: changing(casefold),
    strip: ["self chars", 1, (run, self: Str, chars: Optional) => strip(run, self, chars, "both")],
    lstrip: ["self chars", 1, (run, self: Str, chars: Optional) => strip(run, self, chars, "left")],
    rstrip: ["self chars", 1, (run, self: Str, chars: Optional) => strip(run, self, chars, "right")],
    split: [
      "self sep maxsplit",
      1,
      (run, self: Str, sep: Optional, most: Optional) => split(run, self, sep, most, false),
    ],
    rsplit: [
      "self sep maxsplit",
      1,
      (run, self: Str, sep: Optional, most: Optional) => split(run, self, sep, most, true),
    ],
    splitlines: ["self keepends", 1, (run, self: Str, keep: Optional) => splitLines(run, self, flag(run, keep))],
    replace: [
      "self old new count",
      3,
      (run, self: Str, old: Value, by: Value, most: Optional) =>
        replace(run, self, needStr(old), needStr(by), most === undefined ? -1 : index(most)),
    ],
    join: ["self iterable", 2, (run, self: Str, values: Value) => join(run, self, values)],
    find: [
      "self sub start end",
      2,
      (run, self: Str, sub: Value, start: Optional, end: Optional) => BigInt(find(run, self, sub, start, end, false)),
    ],
    rfind: [
      "self sub start end",
      2,
      (run, self: Str, sub: Value, start: Optional, end: Optional) => BigInt(find(run, self, sub, start, end, true)),
    ],
    index: [
      "self sub start end",
      2,
      (run, self: Str, sub: Value, start: Optional, end: Optional) => found(find(run, self, sub, start, end, false)),
    ],
    rindex: [
      "self sub start end",
      2,
      (run, self: Str, sub: Value, start: Optional, end: Optional) => found(find(run, self, sub, start, end, true)),
    ],
    count: [
      "self sub start end",
      2,
      (run, self: Str, sub: Value, start: Optional, end: Optional) => BigInt(count(run, self, sub, start, end)),
    ],
    startswith: [
      "self prefix start end",
      2,
      (run, self: Str, ends: Value, start: Optional, end: Optional) =>
        hasEnd(run, self, ends, start, end, "startsWith"),
    ],
    endswith: [
      "self suffix start end",
      2,
      (run, self: Str, ends: Value, start: Optional, end: Optional) => hasEnd(run, self, ends, start, end, "endsWith"),
    ],
    removeprefix: ["self prefix", 2, (_run, self: Str, prefix: Value) => {
      const [text, start] = [textOf(self), textOf(needStr(prefix))];
      return text.startsWith(start) ? sliceText(self, start.length, text.length) : self;
    }],
    removesuffix: ["self suffix", 2, (_run, self: Str, suffix: Value) => {
      const [text, end] = [textOf(self), textOf(needStr(suffix))];
      return end !== "" && text.endsWith(end) ? sliceText(self, 0, text.length - end.length) : self;
    }],
    partition: ["self sep", 2, (run, self: Str, sep: Value) => partition(run, self, sep, false)],
    rpartition: ["self sep", 2, (run, self: Str, sep: Value) => partition(run, self, sep, true)],
    ljust: [
      "self width fillchar",
      2,
      (run, self: Str, width: Value, fill: Optional) => pad(run, self, width, fill, "l"),
    ],
    rjust: [
      "self width fillchar",
      2,
      (run, self: Str, width: Value, fill: Optional) => pad(run, self, width, fill, "r"),
    ],
    center: [
      "self width fillchar",
      2,
      (run, self: Str, width: Value, fill: Optional) => pad(run, self, width, fill, "c"),
    ],
    zfill: ["self width", 2, (run, self: Str, width: Value) => zfill(run, self, width)],
    expandtabs: ["self tabsize", 1, (run, self: Str, size: Optional) => expandTabs(run, self, size)],
    format_map: ["self mapping", 2, (run, self: Str, mapping: Value) => formatMap(run, self, mapping)],
    encode: ["self encoding errors", 1, () => typeError("bytes aren't supported in chat templates")],
    ...Object.fromEntries(
      Object.entries(questions).map(([name, ask]) =>
        [name, ["self", 1, (run: Run, self: Str): Value => {
          run.text(textOf(self).length);
          return ask(textOf(self));
        }]] as const
      ),
    ),
  }),
  [
    "format",
    (run, { positional: [self, ...positional], named }) => formatText(run, needStr(self), { positional, named }),
  ] as const,
]);

/** The methods of Python's `int`. */
export const intMethods: ReadonlyMap<string, Callable> = new Map([
  [
    "bit_length",
    define(
      "bit_length",
      "self",
      1,
      (_run, self: bigint) => BigInt((self < 0n ? -self : self).toString(2).length - (self === 0n ? 1 : 0)),
    ),
  ],
]);

/** The methods of Python's `float`. */
export const floatMethods: ReadonlyMap<string, Callable> = new Map([
  ["is_integer", define("is_integer", "self", 1, (_run, self: number) => Number.isInteger(self))],
]);

/** The methods of lists and tuples that don't change them. */
export function positionOf(at: number, name: string): bigint {
  return at < 0 ? valueError(`${name}(x): x not in it`) : BigInt(indexOr(BigInt(at), 0));
}
