import assert from "node:assert/strict";
import test from "node:test";
import { checkAnnotations } from "../../../scripts/bindgen/annotation_check.ts";
import { readAst } from "../../../scripts/bindgen/ast.ts";
import { parseCType, printCType } from "../../../scripts/bindgen/ctype.ts";
import { compareLayouts, parseLayouts } from "../../../scripts/bindgen/layout.ts";
import { evaluate, parseMacros } from "../../../scripts/bindgen/macros.ts";
import { exportedSymbols } from "../../../scripts/binaries/mod.ts";

test("C types are read and written again", () => {
  const types = [
    "int",
    "unsigned char",
    "const char * text",
    "struct a ** list",
    "const float * const * rows",
    "float values[4]",
    "void (*callback)(enum level, const char *, void *)",
    "const char *(*get_name)(ggml_backend_t)",
  ];
  for (const text of types) {
    const name = /(\w+)(?=\[4\]$)|\(\*(\w+)\)|(?:\*|\bconst) (\w+)$/.exec(text)?.slice(1).find((one) =>
      one !== undefined
    ) ?? "";
    const withoutName = name === "" ? text : text.replace(new RegExp(`\\b${name}\\b`), "");
    assert.equal(printCType(parseCType(withoutName), name), text);
  }
  assert.deepEqual(parseCType("void *(*)(int, ...)"), {
    kind: "pointer",
    isConst: false,
    to: {
      kind: "function",
      variadic: true,
      params: [{ kind: "name", name: "int" }],
      result: { kind: "pointer", isConst: false, to: { kind: "name", name: "void" } },
    },
  });
  assert.throws(() => parseCType("int ("), /can't read the C type/);
});

test("macros become constants, or a reason", () => {
  const text =
    '# 1 "/usr/x/other.h"\n#define OTHER 1\n# 1 "/usr/x/own.h" 1\n#define A 0x10u\n#define B (A << 2)\n#define C (-1)\n' +
    '#define D "text"\n#define E(x) x\n#define F\n#define G extern\n#define H OTHER\n#define GONE 1\n#undef GONE\n';
  const { constants, skipped } = parseMacros(text, (header) => header === "own.h");
  assert.deepEqual(constants.map((one) => [one.name, one.value]), [["A", 16], ["B", 64], ["C", -1], ["D", "text"], [
    "H",
    1,
  ]]);
  assert.deepEqual(skipped.map((one) => [one.name, one.reason]), [
    ["E", "function-like"],
    ["F", "empty"],
    ["G", "no constant expression"],
  ]);
  const none = (): undefined => undefined;
  assert.equal(evaluate("0xffffffffffffffff", none), 0xffffffffffffffffn);
  assert.equal(evaluate("1 - 2 - 3", none), -4);
  assert.equal(evaluate("SELF", () => "SELF"), undefined);
});

const dump = (second: number): string => `
*** Dumping AST Record Layout
         0 | struct own
         0 |   int a
         ${second} |   struct inner b
         ${second} |     char c
           | [sizeof=16, align=8]
`;

test("layouts are read, and a difference between targets is told", () => {
  const layouts = parseLayouts(dump(8));
  assert.deepEqual(layouts.get("own"), { key: "own", size: 16, align: 8, offsets: [0, 8], bits: false });
  assert.deepEqual(compareLayouts(layouts, parseLayouts(dump(8)), ["own"]), []);
  assert.match(compareLayouts(layouts, parseLayouts(dump(4)), ["own"]).join(), /^own: .*\[0,8\].* and .*\[0,4\]/);
  assert.equal(compareLayouts(layouts, layouts, ["missing"]).length, 1);
});

test("declarations are read from the bound headers alone, though clang names a file only when it changes", () => {
  const fn = (name: string, loc: object): object => ({
    kind: "FunctionDecl",
    name,
    loc,
    type: { qualType: "int (float)" },
    inner: [{ kind: "ParmVarDecl", name: "value", type: { qualType: "float" } }],
  });
  const inner = [
    fn("other", { file: "/x/other.h", line: 1 }),
    fn("one", { file: "/x/own.h", line: 2 }),
    fn("two", { line: 3, includedFrom: { file: "all.c" } }),
    fn("three", { spellingLoc: { file: "/x/other.h" }, expansionLoc: { file: "/x/own.h", line: 4 } }),
  ];
  const api = readAst(
    JSON.stringify({ kind: "TranslationUnitDecl", inner }),
    new Map(),
    (header) => header === "own.h",
  );
  assert.deepEqual(api.functions.map((one) => one.name), ["one", "two", "three"]);
  const problems = checkAnnotations({ ...api, skippedMacros: [] });
  assert.ok(problems.includes("one (own.h) has no line in annotations.ts"));
  assert.ok(problems.some((problem) => problem.includes("is for no function")));
});

test("what is no ELF file is refused", () => {
  assert.throws(() => exportedSymbols(new Uint8Array(100)), /not an ELF file/);
  assert.throws(() => exportedSymbols(new Uint8Array(3)), /not an ELF file/);
  assert.throws(
    () => exportedSymbols(new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 1, 1, ...new Array(60).fill(0)])),
    /not a 64-bit/,
  );
});
