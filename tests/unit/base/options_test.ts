import assert from "node:assert/strict";
import test from "node:test";
import { createContext, runInContext } from "node:vm";
import { checkArray, checkOptions, isPlainObject } from "../../../base/check.ts";
import { InvalidArgumentError } from "../../../base/errors.ts";
import {
  arrayOf,
  boolean,
  callback,
  custom,
  defaultOf,
  integer,
  nested,
  number,
  oneOf,
  options,
  type RulesOf,
  type Settings,
  signal,
  text,
} from "../../../base/options.ts";
import { checkText } from "../../../base/check.ts";

interface Given {
  size?: number;
  ratio?: number;
  fast?: boolean;
  kind?: "a" | "b";
  name?: string;
  signal?: AbortSignal;
  onEnd?: (code: number) => void;
  stop?: readonly string[];
  part?: { role: string };
  date?: string;
}

const part = options("part", { role: text({ required: true }) });
let computed = 0;
const rules = {
  size: integer({ min: 1, max: 8, default: () => ++computed }),
  ratio: number({ min: 0, max: Infinity, default: 0.5 }),
  fast: boolean(),
  kind: oneOf(["a", "b"], { default: "a" }),
  name: text({ default: "" }),
  signal: signal(),
  onEnd: callback<(code: number) => void>(),
  stop: arrayOf(checkText, { max: 3, default: [] }),
  part: nested(part),
  date: custom("a date", (_, value) => new Date(String(value))),
} as const satisfies RulesOf<Given>;
const spec = options("model.load", rules);

/** Holds for two types that are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
const inferred: Same<Settings<typeof spec>, {
  size: number;
  ratio: number;
  fast: boolean | undefined;
  kind: "a" | "b";
  name: string;
  signal: AbortSignal | undefined;
  onEnd: ((code: number) => void) | undefined;
  stop: readonly string[];
  part: { role: string } | undefined;
  date: Date | undefined;
}> = true;

function refused(given: unknown, message: string, value?: unknown): void {
  assert.throws(() => spec.check(given), (error) => {
    assert.ok(error instanceof InvalidArgumentError, String(error));
    assert.equal(error.message, message);
    assert.ok(error.expected !== undefined && error.expected !== "");
    if (value !== undefined) assert.deepEqual(error.value, value);
    return true;
  });
}

test("a specification fills in defaults, those that are computed each time anew, and keeps what was given", () => {
  assert.ok(inferred);
  const first = spec.check(undefined);
  assert.deepEqual({ ...first, size: 0 }, {
    size: 0,
    ratio: 0.5,
    fast: undefined,
    kind: "a",
    name: "",
    signal: undefined,
    onEnd: undefined,
    stop: [],
    part: undefined,
    date: undefined,
  });
  assert.equal(spec.check({}).size, first.size + 1);
  const onEnd = (): void => {};
  const given = { size: 2, fast: false, kind: "b", onEnd, stop: ["x"], part: { role: "r" }, date: "2026-01-01" };
  const { signal } = new AbortController();
  const checked = spec.check({ ...given, signal, ratio: undefined });
  assert.deepEqual(checked, { ...given, signal, ratio: 0.5, name: "", date: new Date("2026-01-01") });
});

test("each wrong value is refused by its name, with what was given and what is expected", () => {
  refused({ size: 9 }, "size is 9; expected an integer from 1 to 8", 9);
  refused({ size: 1.5 }, "size is 1.5; expected an integer from 1 to 8", 1.5);
  refused({ size: "2" }, 'size is "2"; expected an integer from 1 to 8', "2");
  refused({ ratio: -1 }, "ratio is -1; expected a number of at least 0", -1);
  refused({ ratio: NaN }, "ratio is NaN; expected a number of at least 0");
  refused({ ratio: Infinity }, "ratio is Infinity; expected a number of at least 0");
  refused({ fast: 1 }, "fast is 1; expected true or false", 1);
  refused({ fast: null }, "fast is null; expected true or false");
  refused({ kind: "c" }, 'kind is "c"; expected "a" or "b"', "c");
  refused({ name: 5n }, "name is 5n; expected a string", 5n);
  refused({ signal: {} }, "signal is an object (Object); expected an AbortSignal, such as that of an AbortController");
  refused({ onEnd: "f" }, 'onEnd is "f"; expected a function', "f");
  refused({ stop: "x" }, 'stop is "x"; expected an array of at most 3', "x");
  refused({ stop: ["a", "b", "c", "d"] }, "stop has 4 elements; expected an array of at most 3");
  refused({ stop: ["a", 5] }, "stop[1] is 5; expected a string", 5);
  refused({ part: {} }, "part.role is undefined; expected a string");
  refused({ part: { role: 3 } }, "part.role is 3; expected a string", 3);
  refused({ part: { rule: "x" } }, 'part has no option "rule"; did you mean role?', "rule");
  refused({ Size: 2 }, 'model.load has no option "Size"; did you mean size?', "Size");
  refused(
    { temperature: 1 },
    'model.load has no option "temperature"; it knows size, ratio, fast, kind, name, signal, onEnd, stop, part, date',
  );
});

test("options that aren't a plain object are refused, whatever they are", () => {
  class Options {
    size = 2;
  }
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const revokedArray = Proxy.revocable([], {});
  revokedArray.revoke();
  const throwing = new Proxy({}, {
    ownKeys: () => {
      throw new Error("no keys");
    },
  });
  const wrong: unknown[] = [
    null,
    5,
    "size",
    true,
    1n,
    Symbol.iterator,
    () => {},
    [],
    ["size"],
    new Map(),
    new Set(),
    new Date(0),
    new Options(),
    new AbortController().signal,
    Promise.resolve(),
    new Uint8Array(1),
    /size/,
    Object.create({ size: 2 }),
    revoked.proxy,
    revokedArray.proxy,
    throwing,
  ];
  for (const given of wrong) {
    for (const check of [spec.check, (value: unknown) => checkOptions("model.load", value as object, [])]) {
      assert.throws(() => check(given), (error) => {
        assert.ok(error instanceof InvalidArgumentError, String(error));
        assert.match(error.message, /^the options of model\.load is .*; expected a plain object$/);
        return true;
      });
    }
  }
  assert.equal(spec.check(Object.assign(Object.create(null), { size: 3 })).size, 3);
  assert.ok(isPlainObject(runInContext("({})", createContext())));
  assert.ok(!isPlainObject(runInContext("new (class {})", createContext())));
});

test("a getter that throws, an array with a hole and a Proxy that was revoked are refused where they are", () => {
  const getter = {
    get size(): number {
      throw new Error("no size");
    },
  };
  refused(getter, "size is an object (Error); expected a value that can be read");
  // deno-lint-ignore no-sparse-arrays
  refused({ stop: ["a", , "b"] }, "stop has a hole at index 1; expected an array with all its elements");
  const revoked = Proxy.revocable([], {});
  revoked.revoke();
  refused({ stop: revoked.proxy }, "stop is an object; expected an array of at most 3");
  assert.throws(() => checkArray("list", new Array(2), checkText), /list has a hole at index 0/);
});

test("each option is read once", () => {
  let reads = 0;
  const given = {
    get size(): number {
      return ++reads;
    },
  };
  assert.equal(spec.check(given).size, 1);
  assert.equal(reads, 1);
});

test("specifications extend each other, and say what they take", () => {
  const wider = options("wider", { ...spec.rules, more: boolean({ default: true }) });
  assert.deepEqual(wider.names, [...spec.names, "more"]);
  assert.equal(wider.check({ kind: "b" }).kind, "b");
  assert.throws(
    () => wider.check({ mor: 1 }, "another.place"),
    /^InvalidArgumentError: another\.place has no option "mor"/,
  );
  const { size, kind } = wider.rules;
  assert.deepEqual([size.min, size.max, size.expected, size.required], [1, 8, "an integer from 1 to 8", false]);
  assert.deepEqual([kind.choices, defaultOf(kind)], [["a", "b"], "a"]);
  assert.throws(() => part.check({}), /role is undefined; expected a string/);
  assert.throws(() => part.checkAt("list[2]", undefined), /list\[2\] is undefined; expected an object/);
  assert.throws(() => part.checkAt("list[2]", { role: 0 }), /list\[2\]\.role is 0/);
});
