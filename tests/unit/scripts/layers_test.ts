import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { readModules } from "../../../scripts/check_layers/imports.ts";
import { ROOTS, violations } from "../../../scripts/check_layers/rules.ts";

/** A sound tree, with each kind of import that is allowed. */
const SOUND: Readonly<Record<string, string>> = {
  "mod.ts": 'export * from "./lib/ggml/mod.ts";\n',
  "base/errors.ts": "export class GgmlError extends Error {}\n",
  "ffi/mod.ts": 'export * from "./native.ts";\nexport { GgmlError } from "../base/errors.ts";\n',
  "ffi/native.ts": 'import type { Lib } from "./mod.ts";\nexport const lib: Lib | undefined = Deno.args;\n',
  "lib/ggml/mod.ts": 'import { lib } from "../../ffi/mod.ts";\nexport default lib;\n',
  "lib/gguf/mod.ts":
    'import { GgmlError } from "../../base/errors.ts";\nexport const read = () => import("node:fs/promises").then(() => GgmlError);\n',
  "lib/json_schema/mod.ts": '/* import "../../ffi/mod.ts"; Deno.exit() */\nexport {} from "../gbnf/mod.ts";\n',
  "lib/gbnf/mod.ts": '// import "../llama/mod.ts";\nexport const text = "in Deno, or Bun\'s";\n',
  "lib/llama/mod.ts": 'import {\n  type A,\n} from "./a.ts";\nexport type B = A;\n',
  "lib/llama/a.ts": 'import { type B } from "./mod.ts";\nexport type A = B;\n',
  "lib/whisper/mod.ts": 'export const later = () => import("./lazy.ts");\n',
  "lib/whisper/lazy.ts": 'import { later } from "./mod.ts";\nexport default later;\n',
  "cli/main.ts": 'import "../mod.ts";\n',
};

/** What the check says of the sound tree with these files in place of its own, or beside them. */
function check(planted: Readonly<Record<string, string>>): string[] {
  const root = mkdtempSync(join(tmpdir(), "ggml-ffi-layers-"));
  try {
    for (const [path, text] of Object.entries({ ...SOUND, ...planted })) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return violations(readModules(root, ROOTS));
  } finally {
    rmSync(root, { recursive: true });
  }
}

test("a tree whose imports go one way is sound: comments, text, types in a circle and lazy imports don't count", () => {
  assert.deepEqual(check({}), []);
});

test("a planted circle of value imports is found, and its shortest chain printed", () => {
  const found = check({
    "lib/ggml/mod.ts": 'import "./a.ts";\n',
    "lib/ggml/a.ts": 'import { b } from "./b.ts";\nimport "./c.ts";\n',
    "lib/ggml/b.ts": 'export * from "./c.ts";\n',
    "lib/ggml/c.ts": 'import {\n  type T,\n  a,\n} from "./a.ts";\n',
  });
  assert.deepEqual(found, [
    "circle of value imports:\n  lib/ggml/a.ts\n  -> lib/ggml/c.ts\n  -> lib/ggml/a.ts",
    "circle of value imports:\n  lib/ggml/b.ts\n  -> lib/ggml/c.ts\n  -> lib/ggml/a.ts\n  -> lib/ggml/b.ts",
  ]);
  assert.equal(check({ "lib/ggml/mod.ts": 'import "./mod.ts";\n' }).length, 1);
});

test("each import that goes the wrong way is found, in each form", () => {
  const wrong: readonly [path: string, text: string, message: RegExp][] = [
    ["base/up.ts", 'import "../ffi/native.ts";\n', /base\/up\.ts:1\n {2}-> ffi\/native\.ts/],
    ["base/up.ts", 'import "node:fs";\n', /base\/up\.ts:1\n {2}-> node:fs/],
    [
      "ffi/up.ts",
      'import { x } from "../lib/ggml/mod.ts";\n',
      /forbidden value import .*\n {2}ffi\/up\.ts:1\n {2}-> lib\/ggml\/mod\.ts/,
    ],
    ["ffi/up.ts", '\nimport type { X } from "../lib/ggml/mod.ts";\n', /forbidden type import .*\n {2}ffi\/up\.ts:2/],
    ["ffi/up.ts", 'export const x = () => import("../lib/ggml/mod.ts");\n', /forbidden dynamic import/],
    ["ffi/up.ts", 'export type X = import("../lib/ggml/mod.ts").X;\n', /forbidden type import/],
    ["ffi/up.ts", "new Worker(new URL(`../lib/worker/entry.${e}`, import.meta.url));\n", /forbidden url import/],
    ["ffi/up.ts", 'import.meta.resolve("../lib/ggml/mod.ts");\n', /forbidden url import/],
    ["ffi/up.ts", 'import "../mod.ts";\n', /-> mod\.ts/],
    ["lib/ggml/up.ts", 'import "../../cli/main.ts";\n', /-> cli\/main\.ts/],
    ["lib/ggml/up.ts", 'import "../llama/mod.ts";\n', /-> lib\/llama\/mod\.ts/],
    [
      "lib/whisper/up.ts",
      'export { type B } from "../llama/mod.ts";\n',
      /forbidden type import .*\n.*\n {2}-> lib\/llama/,
    ],
    ["lib/llama/up.ts", 'export * as speech from "../whisper/mod.ts";\n', /-> lib\/whisper\/mod\.ts/],
    ["lib/llama/up.ts", 'import "../server/mod.ts";\n', /-> lib\/server\/mod\.ts/],
    ["lib/gguf/up.ts", 'import type { Native } from "../../ffi/mod.ts";\n', /-> ffi\/mod\.ts/],
    ["lib/llama/up.ts", 'import { dlopen } from "bun:ffi";\n', /only ffi\/ uses a runtime's FFI/],
  ];
  for (const [path, text, message] of wrong) {
    const found = check({ [path]: text, "lib/server/mod.ts": "export {};\n" });
    assert.equal(found.length, 1, `${path}: ${text}${found.join("\n")}`);
    assert.match(found[0] ?? "", message);
  }
});

test("a runtime's own names outside of ffi/ are found", () => {
  for (const text of ["Deno.exit(1);", "Bun.gc();", "globalThis.Deno;", "x as { Deno?: object };", "  Bun?.version;"]) {
    const found = check({ "lib/llama/own.ts": `export {};\n${text}\n` });
    assert.match(found.join(), /^only ffi\/ uses the runtimes' own names:\n {2}lib\/llama\/own\.ts:2 /, text);
  }
});

test("what an entry without native code reaches is found over any number of modules, also by a lazy import", () => {
  for (const text of ['import "../../ffi/mod.ts";\n', 'export const x = import("../../ffi/mod.ts");\n']) {
    const found = check({
      "lib/support/check.ts": text,
      "lib/gbnf/mod.ts": 'import "../support/check.ts";\n',
    });
    assert.deepEqual(found, [
      [
        "lib/json_schema/mod.ts must run anywhere, without native code:",
        "lib/json_schema/mod.ts",
        "-> lib/gbnf/mod.ts",
        "-> lib/support/check.ts",
        "-> ffi/mod.ts",
      ].join("\n  "),
    ]);
  }
  const node = check({ "lib/gguf/mod.ts": 'import { readFile } from "node:fs/promises";\n' });
  assert.match(node.join(), /lib\/gguf\/mod\.ts must run anywhere.*\n.*\n {2}-> node:fs\/promises/);
});

test("an import of a module that isn't there is found", () => {
  assert.match(
    check({ "cli/main.ts": 'import "../lib/none.ts";\n' }).join(),
    /there is no such module:\n {2}cli\/main\.ts:1/,
  );
});

test("the library's own tree is sound", () => {
  const modules = readModules(fileURLToPath(new URL("../../..", import.meta.url)), ROOTS);
  assert.ok(modules.size > 300, String(modules.size));
  assert.deepEqual(violations(modules), []);
});
