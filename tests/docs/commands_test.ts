import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { moduleCommand, ROOT, runProgram } from "../support/program.ts";
import { blocksOf, documents } from "./blocks.ts";

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> };

/** The beginnings of a command line that start this package's program. */
const PROGRAM =
  /(?:deno run -A (?:cli\/main\.ts|npm:@ggml-ffi\/ggml-ffi|jsr:@ggml-ffi\/ggml-ffi\/cli)|bun cli\/main\.ts|bunx --bun @ggml-ffi\/ggml-ffi)(?: ([a-z-]+))?(.*)/;
/** Programs of others, and of the shell. */
const OTHERS =
  /^(?:cd|mkdir|cp|export|npm (?:i|install)|bun (?:add|build|run|install|[\w/.]+\.ts)|deno (?:add|compile|run|install|doc)|pnpm add|npx|esbuild|node|git|docker|GGML_FFI_|\.\/|DENO_|curl) ?/;

/** Every command of the documents' shell blocks, without what comes before a pipe. */
function commands(): { at: string; command: string }[] {
  return documents().flatMap((document) =>
    blocksOf(document).filter(({ language }) => language === "sh").flatMap(({ code, line }) =>
      code.replaceAll(/\\\n\s*/g, " ").split("\n").map((text, index) => ({
        at: `${document}:${line + index}`,
        command: text.replace(/\s+# .*$/, "").replace(/^# .*$/, "").trim(),
      })).filter(({ command }) => command !== "")
    )
  );
}

const help = new Map<string, Promise<string>>();

/** The help of one of the program's commands. */
function helpOf(name: string): Promise<string> {
  let text = help.get(name);
  if (text === undefined) {
    text = runProgram(moduleCommand("cli/main.ts", name === "" ? ["--help"] : [name, "--help"])).then(({ stdout }) =>
      stdout
    );
    help.set(name, text);
  }
  return text;
}

test("every command in a document is one that is there, with flags that it has", async () => {
  const found = commands();
  assert.ok(found.length > 20);
  for (const { at, command } of found) {
    const [, name = "", rest = ""] = PROGRAM.exec(command) ?? [];
    if (PROGRAM.test(command)) {
      const text = await helpOf(name);
      assert.match(text, /^Usage:/m, `${at}: ${command}`);
      const flags = rest.replaceAll(/"[^"]*"|'[^']*'/g, "").matchAll(/(?<=\s)--?[a-zA-Z][\w-]*/g);
      for (const [flag] of flags) assert.match(text, new RegExp(`(?<![\\w-])${flag}(?![\\w-])`), `${at}: ${flag}`);
      continue;
    }
    const [, script] = /^npm (?:run )?([\w:]+)/.exec(command) ?? [];
    if (script !== undefined && !/^(i|install)$/.test(script)) {
      assert.ok(scripts[script] !== undefined, `${at}: ${command}`);
    } else assert.match(command, OTHERS, `${at}: ${command}`);
  }
});

test("every link between documents leads somewhere", () => {
  for (const document of documents()) {
    const text = readFileSync(join(ROOT, document), "utf8");
    for (const [, target = ""] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const path = new URL(target, `file:///${document}`).pathname.slice(1);
      assert.doesNotThrow(() => readFileSync(join(ROOT, path)), `${document}: ${target}`);
    }
  }
});

test("the index names every document", () => {
  const index = readFileSync(join(ROOT, "docs", "README.md"), "utf8");
  for (const document of documents()) {
    const path = document.replace(/^docs\//, "");
    if (document !== "README.md" && path !== "README.md") {
      assert.ok(index.includes(`(${path})`), `docs/README.md has no ${path}`);
    }
  }
});
