import { build } from "esbuild";
import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test, { after, before } from "node:test";
import { ROOT } from "../support/program.ts";
import { EmptyFolder, IS_DENO, programFrom, wideTest } from "./empty_folder.ts";
import { packedTree } from "./packed.ts";
import { Registries } from "./registries.ts";

const PACKAGE = "@ggml-ffi/ggml-ffi";
const PROJECT = { "package.json": '{ "private": true, "type": "module" }\n', "main.ts": programFrom(PACKAGE) };
/** How a program is run in the runtime of this test. */
const RUN = IS_DENO ? ["deno", "run", "-A"] : ["bun"];

let registries: Registries;
/** A project with the package installed, for the tests that only read it. */
let project: EmptyFolder;
before(async () => {
  registries = await Registries.start(await packedTree());
  project = new EmptyFolder(registries, PROJECT);
  await project.ran(["npm", "install", PACKAGE]);
});
after(async () => {
  project[Symbol.dispose]();
  await registries[Symbol.asyncDispose]();
});

test("npm install: a program runs as it is, and fetches nothing", async () => {
  registries.requests.length = 0;
  assert.match(await project.ran([...RUN, "main.ts"]), /Paris/);
  assert.deepEqual(registries.requests, []);
});

test("a bundle by esbuild runs; away from its packages it finds the libraries by GGML_FFI_LIBRARY_PATH", async () => {
  await bundle();
  assert.match(await project.ran([...RUN, "bundle.mjs"]), /Paris/);
  using elsewhere = new EmptyFolder(registries);
  cpSync(project.file("bundle.mjs"), elsewhere.file("bundle.mjs"));
  const { code, stderr } = await elsewhere.run([...RUN, "bundle.mjs"]);
  assert.equal(code, 1);
  assert.match(stderr, /no libraries for .* were found[\s\S]*install-libraries[\s\S]*GGML_FFI_LIBRARY_PATH/);
  const found = await elsewhere.ran([...RUN, "bundle.mjs"], { GGML_FFI_LIBRARY_PATH: platformFolder() });
  assert.match(found, /Paris/);
});

wideTest("pnpm add", async () => {
  using folder = new EmptyFolder(registries, PROJECT);
  await folder.ran(["node", join(ROOT, "node_modules", "pnpm", "bin", "pnpm.cjs"), "add", PACKAGE]);
  assert.match(await folder.ran([...RUN, "main.ts"]), /Paris/);
});

if (IS_DENO) {
  test("the package has its types", async () => {
    await project.ran(["deno", "check", "main.ts"]);
  });

  test("examples in the types import the package, not files of the source tree", () => {
    const folder = project.file(`node_modules/${PACKAGE}`);
    const types = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".d.ts"));
    assert.ok(types.length > 50);
    for (const name of types) {
      assert.doesNotMatch(readFileSync(join(folder, name), "utf8"), /^ *\* import .* from "\.{1,2}\//m, name);
    }
  });

  test("deno run of an npm: import, with an empty cache", async () => {
    using folder = new EmptyFolder(registries, { "main.ts": programFrom(`npm:${PACKAGE}`) });
    assert.match(await folder.ran(["deno", "run", "-A", "main.ts"]), /Paris/);
  });

  wideTest("deno add npm:, a frozen lockfile, and the cache alone", async () => {
    using folder = new EmptyFolder(registries, PROJECT);
    await folder.ran(["deno", "add", `npm:${PACKAGE}`]);
    assert.match(await folder.ran(["deno", "run", "-A", "--frozen", "--cached-only", "main.ts"]), /Paris/);
  });

  wideTest("deno run of the package is the command line", async () => {
    using folder = new EmptyFolder(registries);
    const stdout = await folder.ran(["deno", "run", "-A", `npm:${PACKAGE}`, "chat", "What is the capital of France?"]);
    assert.match(stdout, /Paris/);
  });
} else {
  test("bun add", async () => {
    using folder = new EmptyFolder(registries, PROJECT);
    await folder.ran(["bun", "add", PACKAGE]);
    assert.match(await folder.ran(["bun", "main.ts"]), /Paris/);
  });

  wideTest("bun runs a program without an install, as it fetches packages by itself", async () => {
    using folder = new EmptyFolder(registries, { "main.ts": programFrom(PACKAGE) });
    assert.match(await folder.ran(["bun", "main.ts"]), /Paris/);
  });

  test("bunx --bun is the command line", async () => {
    using folder = new EmptyFolder(registries);
    const stdout = await folder.ran(["bun", "x", "--bun", PACKAGE, "chat", "What is the capital of France?"]);
    assert.match(stdout, /Paris/);
  });

  wideTest("a bundle by bun build runs", async () => {
    await project.ran(["bun", "build", "--target=bun", "main.ts", "--outfile", "bun_bundle.mjs"]);
    assert.match(await project.ran(["bun", "bun_bundle.mjs"]), /Paris/);
  });

  test("a program by bun build --compile runs, also elsewhere with the libraries beside it", async () => {
    await project.ran(["bun", "build", "--compile", "main.ts", "--outfile", "program"]);
    assert.match(await project.ran([project.file("program")]), /Paris/);
    using elsewhere = new EmptyFolder(registries);
    const target = `${process.arch === "x64" ? "x86_64" : "aarch64"}-linux-gnu`;
    cpSync(project.file("program"), elsewhere.file("program"));
    cpSync(platformFolder(), join(elsewhere.file("native"), target), { recursive: true });
    assert.match(await elsewhere.ran([elsewhere.file("program")]), /Paris/);
  });
}

/** Makes one file of the program and all that it imports. */
async function bundle(): Promise<void> {
  await build({
    absWorkingDir: project.path,
    entryPoints: ["main.ts"],
    bundle: true,
    outfile: "bundle.mjs",
    format: "esm",
    platform: "node",
    target: "node22",
  });
}

/** The folder of the platform's package. */
function platformFolder(): string {
  return realpathSync(project.file(`node_modules/@ggml-ffi/linux-${process.arch}-gnu`));
}
