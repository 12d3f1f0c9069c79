import { JinjaError, typeError, valueError } from "../errors.ts";
import { floatFormat } from "../methods/number_format.ts";
import { percent } from "../methods/percent.ts";
import { flag, join, needStr, pad, repeat, replace, split, splitLines, strip } from "../methods/string_parts.ts";
import { capitalize } from "../methods/string_case.ts";
import type { Run } from "../run.ts";
import { defineAll } from "../values/args.ts";
import { Dict } from "../values/dict.ts";
import { index, toFloat } from "../values/numbers.ts";
import { each, listOf, size, tryIterate, typeName } from "../values/protocol.ts";
import { quoted, repr, str } from "../values/repr.ts";
import { concatText, derived, isStr, lengthOf, sliceText, SPACES, type Str, textOf, unitsAt } from "../values/text.ts";
import { type Callable, Iter, Tuple, Undefined, type Value } from "../values/types.ts";
import { attributeGetter } from "./attribute_path.ts";
import { wrapText } from "./wrap.ts";
import { escape, escapeHtml, like, Markup, markup } from "../values/markup.ts";
import { stripTags, urlQuote } from "./html.ts";

type Optional = Value | undefined;

function changing(change: (text: string) => string): readonly ["s", 1, (run: Run, value: Value) => Value] {
  return ["s", 1, (run, value) => {
    const text = str(value, run);
    const changed = change(textOf(text));
    run.text(changed.length);
    return like(value, derived(changed, text));
  }];
}

function titled(text: string): string {
  return text.split(new RegExp(`([-${SPACES}({\\[<]+)`)).map((word) => {
    const [first = ""] = word;
    return first.toUpperCase() + word.slice(first.length).toLowerCase();
  }).join("");
}

function indent(run: Run, value: Value, width: Value, first: boolean, blank: boolean): Value {
  if (!isStr(value)) return typeError(`unsupported operand type(s) for +=: '${typeName(value)}' and 'str'`);
  const given = isStr(width) ? width : repeat(run, " ", index(width));
  const indention = value instanceof Markup ? escape(given, run) : given;
  const lines = splitLines(run, concatText([value, "\n"]), false);
  const by = textOf(indention).length;
  run.text(textOf(value).length + by * lines.length);
  const parts: Str[] = [];
  for (const [at, line] of lines.entries()) {
    if (at > 0) parts.push("\n");
    if (at === 0 ? first : blank || textOf(line) !== "") parts.push(indention);
    parts.push(line);
  }
  return like(value, concatText(parts));
}

function truncate(run: Run, value: Value, length: Value, killWords: boolean, end: Value, leeway: Value): Value {
  const mark = needStr(end);
  const most = index(length);
  const tolerance = index(leeway);
  const kept = most - lengthOf(textOf(mark));
  if (kept < 0 || tolerance < 0) valueError("expected length >= the length of the end, and leeway >= 0");
  if (size(value, run) <= most + tolerance) return value;
  if (!isStr(value)) return typeError(`object of type '${typeName(value)}' can't be truncated`);
  const text = textOf(value);
  const cut = sliceText(value, 0, unitsAt(text, kept));
  const whole = killWords ? cut : split(run, cut, " ", 1n, true)[0] ?? "";
  return like(value, concatText([needStr(whole), value instanceof Markup ? escape(mark, run) : mark]));
}

function fileSize(value: Value, binary: boolean): string {
  const bytes = toFloat(value);
  const base = binary ? 1024 : 1000;
  if (bytes === 1) return "1 Byte";
  if (bytes < base) return `${BigInt(Math.trunc(bytes))} Bytes`;
  const prefixes = "kMGTPEZY";
  let at = 0;
  while (at < prefixes.length - 1 && bytes >= base ** (at + 2)) at++;
  const prefix = binary ? `${prefixes.charAt(at).toUpperCase()}iB` : `${prefixes.charAt(at)}B`;
  return `${floatFormat(base * bytes / base ** (at + 2), "f", 1, false)} ${prefix}`;
}

function xmlAttributes(run: Run, value: Value, autospace: boolean): Value {
  if (!(value instanceof Dict)) return typeError(`'${typeName(value)}' object has no attribute 'items'`);
  const parts = value.entries().filter(([, one]) => one !== null && !(one instanceof Undefined)).map(([key, one]) => {
    const name = textOf(needStr(key));
    if (/[\s/>=]/.test(name)) valueError(`Invalid character in attribute name: ${quoted(name)}`);
    return `${escapeHtml(name)}="${textOf(escape(one, run))}"`;
  });
  const text = parts.join(" ");
  run.text(text.length);
  return derived(autospace && text !== "" ? ` ${text}` : text, ...value.entries().flat());
}

function urlEncode(run: Run, value: Value): Value {
  if (isStr(value) || tryIterate(value, run) === undefined) {
    const text = str(value, run);
    return derived(urlQuote(textOf(text), false), text);
  }
  const pairs = value instanceof Dict ? value.entries().map((pair) => new Tuple(pair)) : each(value, run);
  const parts = Array.from(pairs, (pair) => {
    const [key, one, ...rest] = listOf(pair, run);
    if (key === undefined || one === undefined || rest.length > 0) valueError("a pair has two values to unpack");
    return `${urlQuote(textOf(str(key, run)), true)}=${urlQuote(textOf(str(one, run)), true)}`;
  });
  return derived(parts.join("&"), repr(value, run));
}

function format(run: Run, { positional: [pattern, ...values], named }: Parameters<Callable>[1]): Value {
  if (values.length > 0 && named.size > 0) {
    throw new JinjaError("TypeError", "can't handle positional and keyword arguments at the same time");
  }
  return percent(
    run,
    isStr(pattern) ? pattern : str(pattern ?? null, run),
    named.size > 0 ? new Dict(named) : new Tuple(values),
  );
}

/** Jinja's filters of texts. */
export const textFilters: ReadonlyMap<string, Callable> = new Map([
  ...defineAll({
    upper: changing((text) => text.toUpperCase()),
    lower: changing((text) => text.toLowerCase()),
    capitalize: changing(capitalize),
    title: ["s", 1, (run, value: Value) => {
      const text = str(value, run);
      return derived(titled(textOf(text)), text);
    }],
    escape: ["s", 1, (run, value: Value) => escape(value, run)],
    e: ["s", 1, (run, value: Value) => escape(value, run)],
    forceescape: ["value", 1, (run, value: Value) => escape(str(value, run), run)],
    striptags: ["value", 1, (run, value: Value) => {
      const text = str(value, run);
      return derived(stripTags(textOf(text)), text);
    }],
    string: ["object", 1, (run, value: Value) => isStr(value) ? value : str(value, run)],
    safe: ["value", 1, (run, value: Value) => markup(str(value, run))],
    trim: [
      "value chars",
      1,
      (run, value: Value, chars: Optional) => like(value, strip(run, str(value, run), chars, "both")),
    ],
    center: [
      "value width",
      1,
      (run, value: Value, width: Value = 80n) => like(value, pad(run, str(value, run), width, undefined, "c")),
    ],
    replace: [
      "s old new count",
      3,
      (run, value: Value, old: Value, by: Value, most: Value = null) =>
        replace(run, str(value, run), str(old, run), str(by, run), most === null ? -1 : index(most)),
    ],
    indent: [
      "s width first blank",
      1,
      (run, value: Value, width: Value = 4n, first: Optional, blank: Optional) =>
        indent(run, value, width, flag(run, first), flag(run, blank)),
    ],
    join: ["value d attribute", 1, (run, value: Value, separator: Value = "", attribute: Value = null) => {
      const get = attributeGetter(run, attribute);
      const texts = function* (): Generator<Value, void, undefined> {
        for (const one of each(value, run)) yield str(get(one), run);
      };
      return join(run, str(separator, run), new Iter(texts()));
    }],
    truncate: [
      "s length killwords end leeway",
      1,
      (run, value: Value, length: Value = 255n, killWords: Optional, end: Value = "...", leeway: Value = null) =>
        truncate(run, value, length, flag(run, killWords), end, leeway ?? 5n),
    ],
    wordcount: ["s", 1, (run, value: Value) => {
      const text = textOf(str(value, run));
      run.text(text.length);
      return BigInt(text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0);
    }],
    wordwrap: [
      "s width break_long_words wrapstring break_on_hyphens",
      1,
      (run, value: Value, width: Value = 79n, long: Value = true, by: Value = null, hyphens: Value = true) => {
        run.list(textOf(needStr(value)).length);
        const lines = splitLines(run, needStr(value), false).map((line) =>
          wrapText(textOf(line), index(width), flag(run, long), flag(run, hyphens))
        );
        const text = lines.map((one) => one.join(textOf(needStr(by ?? "\n")))).join(textOf(needStr(by ?? "\n")));
        run.text(text.length);
        return derived(text, value, by);
      },
    ],
    filesizeformat: ["value binary", 1, (run, value: Value, binary: Optional) => fileSize(value, flag(run, binary))],
    xmlattr: [
      "d autospace",
      1,
      (run, value: Value, autospace: Value = true) => xmlAttributes(run, value, flag(run, autospace)),
    ],
    urlencode: ["value", 1, urlEncode],
    pprint: ["value", 1, (run, value: Value) => repr(value, run, true)],
  }),
  ["format", format] as const,
]);
