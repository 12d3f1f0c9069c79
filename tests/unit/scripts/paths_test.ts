import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { ROOT } from "../../support/program.ts";

const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: ROOT,
  encoding: "utf8",
}).trim().split("\n").filter((path) => existsSync(join(ROOT, path)));

/** Folders of the tree: a path that begins with one of them is meant as a path of the tree. */
const FOLDERS = readdirSync(ROOT, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  .map(({ name }) => name).filter((name) => !name.startsWith(".") && name !== "native" && name !== "node_modules");
const PATH = new RegExp(
  String.raw`(?<![\w./@:<>*-])(?:\./)?((?:${FOLDERS.join("|")})/[\w./*-]*[\w*/])(?![\w]*[<$…{(])`,
  "g",
);

/** The comments of a program's text, line by line; every line of a document. */
function prose(path: string, text: string): string[] {
  const lines = text.split("\n");
  return path.endsWith(".md") ? lines : lines.filter((line) => /^\s*(?:\/\/|\/?\*)/.test(line));
}

/** The paths in quotes in a program's own lines, imports aside, that aren't there. Tests of checks name files of planted trees. */
function missingQuoted(path: string, text: string): string[] {
  if (path.endsWith(".md") || path.startsWith("tests/unit/scripts/")) return [];
  const quoted = new RegExp(
    String.raw`["'\x60](?:\./)?((?:${FOLDERS.join("|")})/[\w./-]+\.(?:ts|mjs|c|h|json|md|zig))["'\x60]`,
    "g",
  );
  const code = text.split("\n").filter((line) => !/\bfrom "|\bimport\(|^import /.test(line));
  return code.flatMap((line) => [...line.matchAll(quoted)].map(([, named = ""]) => named))
    .filter((named) => !named.startsWith("csrc/upstream") && !existsSync(join(ROOT, named)));
}

/** The paths named in a text that aren't there. */
function missing(path: string, text: string): string[] {
  return prose(path, text).flatMap((line) => [...line.matchAll(PATH)].map(([, named = ""]) => named))
    // Upstream has folders of the same names; set-up makes some; NAME stands for any name; the layers keep a place for lib/server.
    .filter((named) => !/^csrc\/upstream|^include\/|^common\/|\/NAME\b|^lib\/server\b/.test(named))
    .filter((named) => !named.includes("*") && !existsSync(join(ROOT, named.replace(/\.$/, ""))));
}

const documents = tracked.filter((path) => /\.(md|ts|mjs|zig|c|h)$/.test(path));

test("every path that a document, a comment or a program names is there", () => {
  const wrong = documents.flatMap((path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    return [...missing(path, text), ...missingQuoted(path, text)].map((named) => `${path}: ${named}`);
  });
  assert.deepEqual(wrong, []);
});

test("a path that isn't there is found, in a document and in a comment", () => {
  assert.deepEqual(missing("docs/a.md", "see `lib/none.ts` and lib/ggml/mod.ts, ./scripts/none/ or `ffi/`."), [
    "lib/none.ts",
    "scripts/none/",
  ]);
  assert.deepEqual(missing("a.ts", 'import "lib/none.ts";\n/** As lib/none2.ts says. */\n  // tests/none3'), [
    "lib/none2.ts",
    "tests/none3",
  ]);
  assert.deepEqual(
    missingQuoted(
      "a.ts",
      'run("./tests/none4.ts", "lib/ggml/mod.ts"); import { a } from "./lib/none5.ts";\nf("lib/none6.c")',
    ),
    [
      "lib/none6.c",
    ],
  );
  assert.deepEqual(missingQuoted("a.ts", 'run("./tests/none4.ts", "lib/ggml/mod.ts");'), ["tests/none4.ts"]);
  assert.deepEqual(missing("a.ts", " * As lib/none2.ts says.\n * lib/*.ts"), ["lib/none2.ts"]);
});
