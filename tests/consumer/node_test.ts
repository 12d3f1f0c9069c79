import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import test, { after, before } from "node:test";
import { runtimeProgram } from "../support/program.ts";
import { EmptyFolder, IS_DENO } from "./empty_folder.ts";
import { packedTree } from "./packed.ts";
import { Registries } from "./registries.ts";

const PACKAGE = "@ggml-ffi/ggml-ffi";
const PROGRAM = `import { loadModel } from "${PACKAGE}";\nconsole.log(typeof loadModel);\n`;

let registries: Registries;
let project: EmptyFolder;
before(async () => {
  registries = await Registries.start(await packedTree());
  project = new EmptyFolder(registries, {
    "package.json": '{ "private": true, "type": "module" }\n',
    "main.mjs": PROGRAM,
  });
  await project.ran(["npm", "install", PACKAGE]);
});
after(async () => {
  project[Symbol.dispose]();
  await registries[Symbol.asyncDispose]();
});

/** The folders of the path that Node is in, with nothing of this project's. */
async function pathOfNode(): Promise<string> {
  const node = (await project.ran(["sh", "-c", "command -v node"])).trim();
  symlinkSync(node, project.file("node"));
  return `${project.path}:/usr/bin:/bin`;
}

if (IS_DENO) {
  test("Node says in one sentence what is needed", async () => {
    const { code, stderr } = await project.run(["node", "main.mjs"]);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /Error: @ggml-ffi\/ggml-ffi needs Deno 2\.9 or Bun 1\.4, or newer: run your program by `bun` or `deno run -A` instead of `node`/,
    );
    assert.ok(stderr.trimEnd().split("\n").length < 15, stderr);
  });

  test("npx starts Bun or Deno where one is installed, and else says what to install", async () => {
    const PATH = await pathOfNode();
    const bin = project.file("node_modules/.bin/ggml-ffi");
    const nothing = await project.run(["node", bin, "--version"], { PATH });
    assert.equal(nothing.code, 1);
    assert.match(nothing.stderr, /^ggml-ffi runs in Bun or Deno: install one of them .*\n$/);
    for (const runtime of ["deno", "bun"] as const) {
      using programs = new EmptyFolder(registries);
      symlinkSync(runtimeProgram(runtime), programs.file(runtime));
      const command = ["node", bin, "chat", "What is the capital of France?", "--temp", "0"];
      assert.match(await project.ran(command, { PATH: `${programs.path}:${PATH}` }), /Paris/);
      const wrong = await project.run(["node", bin, "chatt"], { PATH: `${programs.path}:${PATH}` });
      assert.equal(wrong.code, 2);
    }
  });
}
