import { build } from "esbuild";
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { lineTable } from "../../scripts/pack/line_table.ts";
import { readableStack } from "../../base/stack.ts";
import { EmptyFolder, IS_DENO, wideTest } from "./empty_folder.ts";
import { packedTree } from "./packed.ts";
import { Registries } from "./registries.ts";

const PACKAGE = "@ggml-ffi/ggml-ffi";
const RUN = IS_DENO ? ["deno", "run", "-A"] : ["bun"];
/** An error of the native thread that nobody catches. */
const PROGRAM = `import { defaultModelPath, loadModel } from "${PACKAGE}";
await loadModel(await defaultModelPath(), { contextSize: 2_000_000_000 });
`;

let registries: Registries;
let project: EmptyFolder;
before(async () => {
  registries = await Registries.start(await packedTree());
  project = new EmptyFolder(registries, { "package.json": '{ "type": "module" }', "main.ts": PROGRAM });
  await project.ran(["npm", "install", PACKAGE]);
});
after(async () => {
  project[Symbol.dispose]();
  await registries[Symbol.asyncDispose]();
});

/** Runs a program that fails: its error fits on a screen, and names class, function, module and line. */
async function showsError(file: string, frame: RegExp): Promise<void> {
  const { code, stderr } = await project.run([...RUN, file]);
  assert.equal(code, 1);
  assert.match(stderr, /ContextError: a context of 2000000000 tokens/);
  assert.match(stderr, frame);
  assert.ok(stderr.length < 4000, `${stderr.length} characters`);
  assert.ok(stderr.split("\n").length < 30, stderr);
}

test("an error of the native thread can be read in an installed package", async () => {
  await showsError("main.ts", /at checkMemory \(.*ggml-ffi\/lib\/llama\/thread\/load\.js:\d+:\d+\)/);
});

for (const minify of [false, true]) {
  (minify ? test : wideTest)(
    `an error of the native thread can be read in a bundle, ${minify ? "" : "not "}minified`,
    async () => {
      const options = { bundle: true, minify, outfile: "bundle.mjs", format: "esm", platform: "node" } as const;
      await build({ absWorkingDir: project.path, entryPoints: ["main.ts"], ...options });
      await showsError("bundle.mjs", /at checkMemory \(lib\/llama\/thread\/load\.ts:\d+(:\d+)?\)/);
    },
  );
}

test("lines of one file are told as modules and lines of the source", async () => {
  const stdin = {
    contents: `import { one } from "./one.ts";\n\none();\n`,
    resolveDir: project.path,
    sourcefile: "main.ts",
  };
  project.write(
    "one.ts",
    "interface Gone {\n  a: string;\n}\nexport function one(): void {\n  throw new Error();\n}\n",
  );
  const { outputFiles } = await build({
    stdin,
    bundle: true,
    write: false,
    sourcemap: "external",
    outfile: "out.js",
    absWorkingDir: project.path,
  });
  const [map = "", text = ""] = ["out.js.map", "out.js"].map((name) =>
    outputFiles.find(({ path }) => path.endsWith(name))?.text
  );
  const place = globalThis as { ggmlFfiLines?: unknown };
  place.ggmlFfiLines = lineTable(map);
  try {
    const thrown = text.split("\n").findIndex((line) => line.includes("throw")) + 1;
    const called = text.split("\n").findIndex((line) => /^ {2}one\(\)/.test(line)) + 1;
    const url = "data:text/javascript;charset=utf-8,aaa%20:1:2";
    const stack =
      `Error: x\n    at one (${url}:${thrown}:9)\n    at ${url}:${called}:3\n    at other (file:///a.js:1:1)`;
    assert.equal(
      readableStack(stack),
      "Error: x\n    at one (one.ts:5)\n    at main.ts:3\n    at other (file:///a.js:1:1)",
    );
  } finally {
    delete place.ggmlFfiLines;
  }
});
