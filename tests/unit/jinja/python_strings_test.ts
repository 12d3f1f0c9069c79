import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import * as changes from "../../../lib/jinja/methods/string_case.ts";
import { renderLocally } from "../../oracle/jinja_render.ts";

type Answers = Readonly<Record<string, string>>;

/** Made by tests/oracle/python_strings.py, with Python 3.13.0 and its Unicode 15.1. */
const python = JSON.parse(readFileSync(new URL("python_strings.json", import.meta.url), "utf8")) as Answers;
/** Letters of which later versions of Unicode say something else. */
const changedLater: ReadonlySet<number> = new Set([0x19b, 0x264, 0x295, 0xa7d3, 0xa7d5]);
const END = 0x110000;

/** Which code points the ranges hold: 1 for each that is in one. */
function inRanges(text = ""): Uint8Array {
  const found = new Uint8Array(END);
  let at = 0;
  text.split(" ").forEach((length, index) => {
    const from = at;
    at += Number.parseInt(length, 36);
    if (index % 2 === 1) found.fill(1, from, at);
  });
  return found;
}

/** What characters become. */
function changesOf(text = ""): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const part of text.split(" ")) {
    const [from = "", to] = part.split("=");
    if (to !== undefined) {
      const points = to.split("+").map((one) => Number.parseInt(one, 36));
      found.set(Number.parseInt(from, 36), String.fromCodePoint(...points));
      continue;
    }
    const [first = 0, count = 0, step = 0, offset = 0] = part.split(",").map((one) => Number.parseInt(one, 36));
    for (let time = 0; time < count; time++) {
      found.set(first + time * step, String.fromCodePoint(first + time * step + offset));
    }
  }
  return found;
}

const assigned = inRanges(python["assigned"]);

/** The code points of which a method says something else than Python, in hexadecimal. */
function differing(differs: (character: string, point: number) => boolean): string[] {
  const found: string[] = [];
  for (let point = 0; point < END; point++) {
    if (assigned[point] === 0 || changedLater.has(point)) continue;
    if (differs(String.fromCodePoint(point), point)) found.push(point.toString(16));
  }
  return found;
}

test("questions about a text are answered as Python does, for every character", () => {
  const { isascii, ...questions } = changes.questions;
  assert.deepEqual(differing((character, point) => isascii?.(character) !== point < 0x80), []);
  for (const [name, ask] of Object.entries(questions)) {
    const expected = inRanges(python[name]);
    assert.ok(expected.includes(1), name);
    assert.deepEqual(differing((character, point) => ask(character) !== (expected[point] === 1)), [], name);
  }
});

test("changes of a text give what Python gives, for every character", () => {
  const { capitalize, casefold, swapcase, title } = changes;
  const lower = (text: string) => text.toLowerCase();
  const upper = (text: string) => text.toUpperCase();
  for (const [name, change] of Object.entries({ capitalize, casefold, lower, swapcase, title, upper })) {
    const expected = changesOf(python[name]);
    assert.ok(expected.size > 1000, name);
    const wrong = differing((character, point) => change(character) !== (expected.get(point) ?? character));
    assert.deepEqual(wrong, [], name);
  }
});

test("lines end, and words part, at the characters where Python's do", () => {
  const points = Array.from({ length: END }, (_, point) => `a${String.fromCodePoint(point)}`).join("");
  const ends = [0xa, 0xb, 0xc, 0xd, 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029];
  const spaces = [...inRanges(python["isspace"]).entries()].flatMap(([point, is]) => is === 1 ? [point] : []);
  for (const [method, parts] of [["splitlines", ends], ["split", spaces]] as const) {
    const template = `{% for part in text.${method}() %}{{ part | length }} {% endfor %}`;
    const borders = [-1, ...parts, END];
    const lengths = borders.slice(1).map((border, at) => {
      const before = borders[at] ?? 0;
      return border === END ? 2 * (END - before - 1) : 2 * (border - before) - 1;
    });
    assert.equal(
      renderLocally(template, { text: points }).text,
      lengths.map((length) => `${length} `).join(""),
      method,
    );
  }
});

test("a letter's place in its word counts as in Python", () => {
  const cases: readonly (readonly [template: string, text: string])[] = [
    ["{{ 'ΟΔΟΣ ΟΣΑ'.title() }}", "Οδος Οσα"],
    ["{{ 'ΟΔΟΣ'.swapcase() }}{{ 'ΣΣ.'.lower() }}{{ 'Σ'.swapcase() }}", "οδοςσς.σ"],
    ["{{ 'ǅa'.swapcase() }}{{ 'ǆa'.title() }}{{ 'ᾼ'.swapcase() }}", "ǅAǅaᾼ"],
    ["{{ 'aİI'.title() }}{{ 'ŉ ß ﬁ'.title() }}", "Ai̇iʼN Ss Fi"],
    ["{{ 'ΟΔΟΣ'.casefold() }}{{ 'ẞ'.casefold() }}", "οδοσss"],
    ["{{ '፩²'.isdigit() }}{{ '仨廿'.isnumeric() }}{{ '仨'.isdigit() }}", "TrueTrueFalse"],
    ["{{ ''.isalpha() }}{{ ''.isascii() }}{{ ''.isprintable() }}{{ ''.isidentifier() }}", "FalseTrueTrueFalse"],
    ["{{ 'a\\x1cb\\x85c\\u2028d\\r\\ne\\x0bf'.splitlines() }}", "['a', 'b', 'c', 'd', 'e', 'f']"],
  ];
  for (const [template, text] of cases) assert.equal(renderLocally(template, {}).text, text, template);
});
