import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import test, { after, before } from "node:test";
import { EmptyFolder, IS_DENO, programFrom, wideTest } from "./empty_folder.ts";
import { packedTree } from "./packed.ts";
import { Registries } from "./registries.ts";

const JSR = "jsr:@ggml-ffi/ggml-ffi";
const PROGRAM = programFrom(JSR);
const PERMISSIONS = ["--no-prompt", "--allow-ffi", "--allow-read", "--allow-env"];

let registries: Registries;
before(async () => void (registries = await Registries.start(await packedTree())));
after(() => registries[Symbol.asyncDispose]());

/** A test that runs in Deno alone: what it starts is Deno. */
const denoTest = IS_DENO ? test : (): void => {};
const wideDenoTest = IS_DENO ? wideTest : (): void => {};

denoTest("from JSR: one file in an empty folder answers, and imports fetch nothing once they are cached", async () => {
  using folder = new EmptyFolder(registries, { "main.ts": PROGRAM });
  assert.match(await folder.ran(["deno", "run", ...PERMISSIONS, "main.ts"]), /Paris/);
  registries.requests.length = 0;
  assert.match(await folder.ran(["deno", "run", "--cached-only", ...PERMISSIONS, "main.ts"]), /Paris/);
  assert.deepEqual(registries.requests, []);
});

wideDenoTest("from JSR: deno serve, deno test and a Worker of the user", async () => {
  using folder = new EmptyFolder(registries, {
    "answer.ts": PROGRAM.replace("console.log(text)", "export default text"),
    "some_test.ts":
      `import text from "./answer.ts";\nDeno.test("it answers", () => { if (!text.includes("Paris")) throw new Error(text); });\n`,
    "worker.ts": `import text from "./answer.ts";\npostMessage(text);\n`,
    "main.ts":
      `const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });\nworker.onmessage = ({ data }) => { console.log(data); worker.terminate(); };\n`,
    "serve.ts": `import text from "./answer.ts";\nexport default {
  fetch: () => new Response(text),
  async onListen({ port }: Deno.NetAddr) {
    console.log(await (await fetch("http://127.0.0.1:" + port)).text());
    Deno.exit();
  },
} satisfies Deno.ServeDefaultExport;\n`,
  });
  assert.match(await folder.ran(["deno", "test", ...PERMISSIONS, "some_test.ts"]), /1 passed/);
  assert.match(await folder.ran(["deno", "run", ...PERMISSIONS, "main.ts"]), /Paris/);
  const serve = ["deno", "serve", "--port=0", "--host=127.0.0.1", ...PERMISSIONS, "--allow-net", "serve.ts"];
  assert.match(await folder.ran(serve), /Paris/);
});

denoTest("from JSR: a project with package.json, managed node_modules and a frozen lockfile", async () => {
  using folder = new EmptyFolder(registries, {
    "main.ts": PROGRAM,
    "package.json": '{ "private": true, "type": "module" }\n',
    "deno.json": '{ "nodeModulesDir": "auto", "lock": true }\n',
  });
  assert.match(await folder.ran(["deno", "run", ...PERMISSIONS, "main.ts"]), /Paris/);
  const frozen = ["deno", "run", "--frozen", "--cached-only", ...PERMISSIONS, "main.ts"];
  assert.match(await folder.ran(frozen), /Paris/);
});

wideDenoTest("from JSR: vendored modules", async () => {
  using folder = new EmptyFolder(registries, { "main.ts": PROGRAM, "deno.json": '{ "vendor": true }\n' });
  assert.match(await folder.ran(["deno", "run", ...PERMISSIONS, "main.ts"]), /Paris/);
  rmSync(folder.file(".deno/remote"), { recursive: true, force: true });
  assert.match(await folder.ran(["deno", "run", "--cached-only", ...PERMISSIONS, "main.ts"]), /Paris/);
});

wideDenoTest("from JSR: the command line", async () => {
  using folder = new EmptyFolder(registries);
  const stdout = await folder.ran([
    "deno",
    "run",
    "-A",
    `${JSR}/cli`,
    "chat",
    "What is the capital of France?",
    "--temp",
    "0",
  ]);
  assert.match(stdout, /Paris/);
});

if (!IS_DENO) {
  for (const linker of ["hoisted", "isolated"]) {
    (linker === "isolated" ? test : wideTest)(`from JSR by its npm form in Bun, ${linker}`, async () => {
      using folder = new EmptyFolder(registries, {
        "main.ts": programFrom("@ggml-ffi/ggml-ffi"),
        "package.json":
          '{ "private": true, "type": "module", "dependencies": { "@ggml-ffi/ggml-ffi": "npm:@jsr/ggml-ffi__ggml-ffi@0.1.0" } }\n',
        "bunfig.toml": `[install]\nlinker = "${linker}"\n`,
      });
      await folder.ran(["bun", "install"]);
      assert.match(await folder.ran(["bun", "main.ts"]), /Paris/);
    });
  }
}
